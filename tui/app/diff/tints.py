"""The grounds of a diff, mixed from a theme: no theme has to name them."""

from collections.abc import Mapping

from tui.app.diff.ink import Ground

_LINE, _WORD = 0.12, 0.30


def grounds(colours: Mapping[str, str]) -> dict[Ground, str]:
    """`#rrggbb` for each ground; `colours` are the theme's."""
    back = colours["background"]
    return {
        "plain": back,
        "added": mix(back, colours["passed"], _LINE),
        "removed": mix(back, colours["failed"], _LINE),
        "added-word": mix(back, colours["passed"], _WORD),
        "removed-word": mix(back, colours["failed"], _WORD),
        "head": colours["raised"],
        "absent": colours["raised"],
        "match": colours["match-expected-background"],
        "current": colours["match-current-background"],
    }


def mix(ground: str, colour: str, share: float) -> str:
    """So much of the colour over the ground."""
    pairs = ((int(ground[at : at + 2], 16), int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(below + (above - below) * share):02x}" for below, above in pairs)
