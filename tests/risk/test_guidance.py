"""The guidance and its version."""

import hashlib

import pytest

from tui.model.risk import EXTENTS
from tui.risk.queue import DEFAULT_GUIDANCE, DEFAULT_LEVELS, guidance_of

OURS = ["none", "a bit", "half", "most", "all"]


def test_the_default_has_a_short_line_for_each_extent() -> None:
    assert len(DEFAULT_GUIDANCE.levels) == len(EXTENTS) == len(set(DEFAULT_GUIDANCE.levels))
    assert all(0 < len(level) <= 60 for level in DEFAULT_GUIDANCE.levels)
    assert guidance_of(DEFAULT_LEVELS) == DEFAULT_GUIDANCE


def test_the_version_is_the_texts() -> None:
    text = "none\na bit\nhalf\nmost\nall"
    assert guidance_of(OURS).version == hashlib.sha256(text.encode()).hexdigest()[:8]
    assert guidance_of([f"  {line}\t" for line in OURS]) == guidance_of(OURS)
    assert guidance_of([*OURS[:4], "everything"]).version != guidance_of(OURS).version


def test_the_default_keeps_its_version() -> None:
    # Kept scores name it: whoever changes the text changes what they were given under.
    assert DEFAULT_GUIDANCE.version == "d12b165d"


@pytest.mark.parametrize("levels", [[], OURS[:4], [*OURS, "more"]])
def test_there_are_five_lines(levels: list[str]) -> None:
    with pytest.raises(ValueError, match=f"5 lines, got {len(levels)}"):
        guidance_of(levels)


def test_any_text_has_a_version() -> None:
    assert len(guidance_of([*OURS[:4], "\ud800"]).version) == 8
