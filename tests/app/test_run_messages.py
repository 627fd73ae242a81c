"""The buffers between the runner and the panes: nothing lost, nothing out of order, nothing in too large portions."""

from hypothesis import given
from hypothesis import strategies as st

from tui.app.run_messages import StreamBuffers


def test_only_what_can_be_seen_is_handed_over() -> None:
    buffers: StreamBuffers[str] = StreamBuffers()
    assert not buffers
    for key, text in (("a", "one "), ("b", "two"), ("a", "three")):
        buffers.put(key, text)
    assert list(buffers.pop(["c", "a"])) == [("a", "one three")]
    assert list(buffers.pop(["a"])) == []
    assert buffers
    assert buffers.pop_all("b") == "two"
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
