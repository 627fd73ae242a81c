"""Names that look the same are found, and names of different people are left alone."""

import pytest

from tui.risk.reviewer_names import look_alikes, looks_like


@pytest.mark.parametrize(
    "other",
    [
        "ada bo",
        "Ada  Bo",
        "AdaBo",
        "Ada\u00a0Bo",
        "Ａｄａ Bo",
        "Аda Bo",
        "Αda Bo",
        "Ada\u200b Bo",
        "Ada B0",
        "\u202eAda Bo",
        "Ada\u2800 Bo",
        "Ada Bo\u3164",
        "\u13aada Bo",
        "\ua4eeda Bo",
        "\u1d00da Bo",
    ],
    ids=[
        "case", "spaces", "no space", "no-break space", "full width", "Cyrillic", "Greek", "zero width", "0", "bidi",
        "Braille blank", "Hangul filler", "Cherokee", "Lisu", "small capital",
    ],
)  # fmt: skip
def test_what_looks_the_same_is_paired_with_the_first_name(other: str) -> None:
    assert look_alikes(["Bo", "Ada Bo", other, "Ada Bo"]) == (("Ada Bo", other),)
    assert looks_like(other, "Ada Bo")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Bill", "BiII"), ("Ivan", "lvan"), ("Ivan", "1van"), ("Ivan", "|van"), ("lvan", "\u0406van"), ("Otto", "0tto"),
     ("Ann Lee", "A\u057c\u057c Lee"), ("Ann Lee", "\u15c5nn Lee"), ("Ann Lee", "Ann Le\u212e"),
     ("Ann Lee", "Ann L\u04bde"),
     ("Carl", "\u03f9arl"), ("Carl", "\u03f2arl"), ("Bo", "B\u0ed0"), ("Max", "\u15f0a\u1541"),
     ("Arnold", "Amold"), ("Eva", "E\u03bda"), ("Ann-Marie", "Ann\u2013Marie"), ("KAI", "Kal")],
)  # fmt: skip
def test_letters_that_are_drawn_alike_look_the_same(one: str, other: str) -> None:
    assert look_alikes([one, other]) == ((one, other),)
    assert looks_like(other, one)


def test_different_names_are_left_alone() -> None:
    assert look_alikes(["Ada", "Bo", "Адам", "Eva", "Ewa", "Zoe", "漢字", "漢", "Kai", "Kal", "Eli", "Ell"]) == ()
