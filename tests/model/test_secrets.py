"""Known keys never leave, however a stream cuts them."""

from hypothesis import given
from hypothesis import strategies as st

from tui.model.secrets import Secrets

KEY = "sk-abcabcabd"


def test_every_value_is_removed_and_the_longer_one_first() -> None:
    secrets = Secrets(["sk-12345", "sk-12345678"])
    assert secrets.hide("a sk-12345678 b sk-12345 c") == "a [removed key] b [removed key] c"


def test_short_values_are_too_common_to_be_removed() -> None:
    assert Secrets(["none", ""]).hide("none of it") == "none of it"


@given(st.text("abcdsk-", max_size=12), st.text("abcdsk-", max_size=12), st.data())
def test_a_stream_hides_what_the_whole_would_hide(before: str, after: str, data: st.DataObject) -> None:
    text = before + KEY + after
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    stream = Secrets([KEY]).stream()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    out = "".join([*(stream.feed(piece) for piece in pieces), stream.flush()])
    assert KEY not in out
    assert out.replace("[removed key]", "").replace(KEY, "") == text.replace(KEY, "")


def test_what_cannot_become_a_key_is_not_held_back() -> None:
    stream = Secrets([KEY]).stream()
    assert stream.feed("hello s") == "hello "
    assert stream.feed("ea") == "sea"
    assert stream.flush() == ""
