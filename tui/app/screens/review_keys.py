"""The keys of the Review screen; each has an id by which the config can give it another key."""

from textual.binding import Binding, BindingType

from tui.model.risk import EXTENTS


def _key(
    key: str, action: str, name: str, tooltip: str, says: str = "", shown_as: str | None = None, *, first: bool = True
) -> Binding:
    """`says` is the word in the footer; without it the key is in the help and the palette only. A key that is `first`
    is done before the next one is read."""
    return Binding(
        key,
        action,
        says or tooltip,
        id=f"review.{name}",
        tooltip=tooltip,
        show=bool(says),
        key_display=shown_as,
        priority=first,
    )


REVIEW_KEYS: list[BindingType] = [
    _key("asterisk", "look_at_extents", "extents", "Go to the extents, to read them", "extent", "0–4"),
    *(
        _key(str(extent), f"give('{extent}')", f"extent-{extent}", f"The extent is {extent}: {word}")
        for extent, word in enumerate(EXTENTS)
    ),
    _key("minus", "give('n/a')", "not-applicable", "The criterion does not apply", "n/a", "-"),
    _key("c", "note", "note", "Write a note", "note"),
    _key("enter", "go_on", "next", "Go to the next open item", "next", "Enter"),
    _key("u", "undo", "undo", "Take back what was given last", "undo"),
    _key("g", "guidance", "guidance", "Guidance: what the extents mean", "guidance"),
    _key("t", "rule", "rule", "The rule of severity and extent", "rule"),
    _key("d", "turn_diff", "diff", "Read what the answer changed, or the answer", "diff"),
    _key("exclamation_mark", "reveal", "reveal", "Reveal the names, for good", "reveal", "!"),
    _key("a", "adjudicate", "adjudicate", "Decide where reviewers differ, or score again", "decide"),
    _key("f", "figures", "figures", "Figures: bands, means, agreement", "figures"),
    _key("S", "turn_queue", "queue", "Show or hide the queue", "queue"),
    _key("slash", "filter", "filter", "Filter the queue", "filter", "/"),
    _key("escape", "leave", "leave", "Leave; all is kept", "leave"),
    _key("p", "turn_prompt", "prompt", "Go to where the answer begins, or back to the prompt", "prompt"),
    _key("right_square_bracket", "step(1)", "forward", "Go to the next item, open or not", shown_as="]"),
    _key("left_square_bracket,backspace", "step(-1)", "back", "Go to the item before", shown_as="["),
    _key("s", "sort", "sort", "Another order of the queue"),
    _key("m", "masks", "masks", "Where names are masked in this answer"),
    _key("T", "trail", "trail", "Everything that happened to this item"),
    _key("x", "withdraw", "withdraw", "Take your score of this item back"),
    _key("o", "export", "report", "Write a report of the run to a file"),
    _key("z", "zoom", "zoom", "Zoom the answer, or show everything again"),
    _key("n", "match(1)", "next-match", "Go to the next match of a check", first=False),
    _key("N", "match(-1)", "match-before", "Go to the match before", first=False),
]
TELLING = frozenset({"adjudicate", "figures", "export", "match"})
"""What tells names, or how checks and other people judged."""
