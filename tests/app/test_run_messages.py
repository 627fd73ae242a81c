"""The buffers between the runner and the panes: nothing lost, nothing out of order, nothing in too large portions."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from textual.message import Message

from tui.app.run_messages import RunMessages, StreamBuffers, TrialChanged
from tui.model.events import TextArrived, ToolsCalled
from tui.model.results import TrialKey


def test_only_what_can_be_seen_is_handed_over() -> None:
    buffers: StreamBuffers[str] = StreamBuffers()
    assert not buffers
    for key, text in (("a", "one "), ("b", "two"), ("a", "three")):
        buffers.put(key, text)
    assert list(buffers.pop(["c", "a"])) == [("a", "one three")]
    assert list(buffers.pop(["a"])) == []
    assert buffers
    assert list(buffers.pop(["b"])) == [("b", "two")]
    assert not buffers


def test_a_burst_comes_in_portions() -> None:
    buffers: StreamBuffers[int] = StreamBuffers(largest=4)
    buffers.put(1, "abcdefghij")
    assert [list(buffers.pop([1])) for _ in range(4)] == [[(1, "abcd")], [(1, "efgh")], [(1, "ij")], []]


def test_what_is_dropped_does_not_come() -> None:
    buffers: StreamBuffers[int] = StreamBuffers()
    buffers.put(1, "old")
    buffers.drop(1)
    buffers.put(1, "new")
    assert list(buffers.pop([1])) == [(1, "new")]


@given(
    st.lists(st.one_of(st.tuples(st.sampled_from("xy"), st.text(max_size=9)), st.sampled_from(["see x", "see y"]))),
    st.integers(1, 7),
)
def test_each_pane_gets_its_text_whole_and_in_order(acts: list[str | tuple[str, str]], largest: int) -> None:
    buffers: StreamBuffers[str] = StreamBuffers(largest)
    put, got = {"x": "", "y": ""}, {"x": "", "y": ""}
    for act in [*acts, *["see x", "see y"] * 9 * len(acts)]:
        if isinstance(act, tuple):
            buffers.put(*act)
            put[act[0]] += act[1]
        else:
            for key, text in buffers.pop([act[-1]]):
                assert len(text) <= largest
                got[key] += text
    assert got == put
    assert not buffers


def test_the_text_of_a_turn_that_has_ended_does_not_come() -> None:
    posted: list[Message] = []
    messages, key, path = RunMessages(posted.append), TrialKey("one", "a"), Path("suite.yaml")
    for event in (TextArrived(key, 1, 0, "old"), ToolsCalled(key, 1, 0, ()), TextArrived(key, 1, 0, "new")):
        messages.post_event(path, event)
    assert list(messages.text.pop([key])) == [(key, "new")]
    assert [type(message) for message in posted] == [TrialChanged]
