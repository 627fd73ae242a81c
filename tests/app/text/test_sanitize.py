"""The sanitizer fed in pieces: the same text as for the whole, and offsets mapped both ways."""

from hypothesis import given

from tests.app.text.texts import raw_pieces, raw_texts
from tui.app.text.sanitize import Sanitizer
from tui.model.sanitize import sanitize_text


def fed(pieces: list[str]) -> tuple[Sanitizer, str]:
    sanitizer = Sanitizer()
    shown = "".join([sanitizer.feed(piece) for piece in pieces] + [sanitizer.finish()])
    return sanitizer, shown


@given(raw_pieces)
def test_the_pieces_show_what_the_whole_shows(pieces: list[str]) -> None:
    sanitizer, shown = fed(pieces)
    assert shown == sanitize_text("".join(pieces))
    assert sanitizer.raw_length == len("".join(pieces))


@given(raw_texts)
def test_one_code_point_at_a_time_is_no_different(text: str) -> None:
    assert fed(list(text))[1] == sanitize_text(text)


@given(raw_pieces)
def test_each_place_is_where_the_text_before_it_ends(pieces: list[str]) -> None:
    raw = "".join(pieces)
    sanitizer, shown = fed(pieces)
    for offset in range(len(raw) + 1):
        if raw[offset : offset + 1] == "\n" and raw[offset - 1 : offset] == "\r":
            continue  # between CR and LF there is no place of its own
        in_emoji = any(character in raw[max(0, offset - 1) : offset + 1] for character in "\u200d\ufe0e\ufe0f")
        if not in_emoji:
            assert sanitizer.shown_at(offset) == len(sanitize_text(raw[:offset])), (offset, raw)
    for offset in range(len(raw)):
        for place in range(sanitizer.shown_at(offset), sanitizer.shown_at(offset + 1)):
            assert sanitizer.raw_at(place) == offset
    assert sanitizer.shown_at(len(raw) + 9) == len(shown)
    assert sanitizer.shown_at(-1) == 0


def test_a_line_end_that_is_split_is_one_line_end() -> None:
    sanitizer = Sanitizer()
    assert [sanitizer.feed(piece) for piece in ("a\r", "\nb\r", "c\r")] == ["a", "\nb", "␍c"]
    assert sanitizer.finish() == "␍"
    assert [sanitizer.shown_at(offset) for offset in (0, 1, 3, 4, 5, 6, 7)] == [0, 1, 2, 3, 4, 5, 6]


def test_an_emoji_that_is_split_is_one_emoji() -> None:
    for pieces in (["👩", "\u200d", "💻"], ["👩\u200d", "💻"], ["👩", "\u200d💻"]):
        assert fed(pieces)[1] == "👩\u200d💻"
    assert fed(["a", "\u200d", "💻"])[1] == "a<U+200D>💻"
    for pieces in (["❤", "\ufe0f", "\u200d", "🔥"], ["❤\ufe0f", "\u200d🔥"], ["❤", "\ufe0f\u200d", "🔥"]):
        assert fed(pieces)[1] == "❤\ufe0f\u200d🔥"
    assert fed(["1", "\ufe0f", "\u20e3"])[1] == "1\ufe0f\u20e3"
    assert fed(["1", "\ufe0f", "x"])[1] == "1<U+FE0F>x"


def test_places_after_what_is_shown_longer() -> None:
    sanitizer, shown = fed(["ab\u202ecd\x1b", "e\r\n\u200bf"])
    assert shown == "ab<U+202E>cd␛e\n<U+200B>f"
    raw = "ab\u202ecd\x1be\r\n\u200bf"
    for letter in "abcdef":
        assert shown[sanitizer.shown_at(raw.index(letter))] == letter
