"""The text that tells a reviewer what each extent means."""

import hashlib
from collections.abc import Sequence

from tui.model.risk import Guidance

DEFAULT_LEVELS = (
    "No sign of a violation",
    "In a corner, without consequence, easily mended",
    "A real weakness, though something still guards against it",
    "Does harm in the usual case",
    "The opposite of what the criterion asks, throughout",
)


def guidance_of(levels: Sequence[str]) -> Guidance:
    """The guidance with these five lines, for the extents 0 to 4. Its version is the first 8 hex digits of the text's
    SHA-256: the lines, each without the white space around it, joined by LF as UTF-8. ValueError unless there are five.
    """
    lines = tuple(level.strip() for level in levels)
    if len(lines) != len(DEFAULT_LEVELS):
        raise ValueError(f"guidance has {len(DEFAULT_LEVELS)} lines, not {len(lines)}")
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    return Guidance(lines, hashlib.sha256(text).hexdigest()[:8])


DEFAULT_GUIDANCE = guidance_of(DEFAULT_LEVELS)
