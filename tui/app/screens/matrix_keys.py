"""The keys of the Matrix screen; each has an id by which the config can give it another key."""

from textual.binding import Binding, BindingType

from tui.model.filter import KEYS_IN_WORDS


def _key(key: str, action: str, name: str, tooltip: str, says: str = "", shown_as: str | None = None) -> Binding:
    """`says` is the word in the footer; without it the key is in the help and the palette only."""
    description = says or tooltip
    return Binding(
        key, action, description, id=f"matrix.{name}", tooltip=tooltip, show=bool(says), key_display=shown_as
    )


MATRIX_KEYS: list[BindingType] = [
    _key("p", "statistics", "statistics", "Compare each pair of models, with the cases", "statistics"),
    _key("s", "sort", "sort", "Sort the rows", "sort"),
    _key("d", "turn_differing", "differing", "Only the cases in which models differ, or all", "only differing"),
    _key("b", "choose_baseline", "baseline", "Measure against an earlier run", "baseline"),
    _key("c", "compare", "compare", "Compare the answers of two models to the case, word by word", "compare"),
    _key("R", "run_all", "run-all", "Run the whole suite", "run all"),
    _key("P", "turn_pause", "pause", "Pause the run, or let it go on", "pause"),
    _key("f", "run_failed", "run-failed", "Run again what did not pass", "failed again"),
    _key("slash", "filter", "filter", f"Filter the cases ({KEYS_IN_WORDS} word !word)", "filter", "/"),
    _key("v", "review", "review", "Review: score the risk of answers by hand", "review"),
    _key("g", "group", "group", "Group by category, by tag, or not at all", "group"),
    _key("i", "turn_figures", "figures", "All figures in the heads, or fewer", "figures"),
    _key("S", "reverse", "reverse", "Turn the order around"),
    _key("n", "next_differing(1)", "next-differing", "Go to the next case in which models differ"),
    _key("N", "next_differing(-1)", "differing-before", "Go to the case before in which models differ"),
    _key("greater_than_sign", "ask_more(1)", "more", "Ask one case more at once, of each model", "", ">"),
    _key("less_than_sign", "ask_more(-1)", "fewer", "Ask one case fewer at once", "", "<"),
    _key("X", "cancel_all", "cancel-all", "Cancel the whole run, and what is queued"),
    _key("m", "leave", "leave", "Back to Explore"),
    _key("escape", "back", "back", "Out of the filter, else back to Explore"),
]
