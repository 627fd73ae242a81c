"""The keys of the Explore screen; each has an id by which the config can give it another key."""

from textual.binding import Binding, BindingType

from tui.model.filter import KEYS_IN_WORDS


def _key(
    key: str, action: str, name: str, tooltip: str, *, says: str = "", shown_as: str | None = None, first: bool = False
) -> Binding:
    """`says` is the word in the footer; without it the key is in the help and the palette only. What a key with `first`
    does is done before the next key is read: that one is meant for what the first has opened."""
    shown = bool(says)
    return Binding(
        key, action, says or tooltip, id=name, tooltip=tooltip, show=shown, key_display=shown_as, priority=first
    )


_FILTER = f"Filter the cases ({KEYS_IN_WORDS} word !word)"

EXPLORE_KEYS: list[BindingType] = [
    _key("r", "run_case", "run.case", "Run the case, or the category, under the cursor", says="run"),
    _key("R", "run_suite", "run.suite", "Run the whole suite", says="run all"),
    _key("F", "follow_run", "run.follow", "Go with what runs, until you choose a case", says="follow"),
    _key("P", "toggle_pause", "run.pause", "Pause the run, or let it go on", says="pause"),
    _key("x", "cancel", "run.cancel", "Cancel the case that is shown", says="cancel"),
    _key("f", "run_failed", "run.failed", "Run again what did not pass", says="failed again"),
    _key("n", "match(1)", "answer.next-match", "Go to the next match of a check", says="next match"),
    _key("d", "go_to_diff", "look.diff", "Read what the answer changed", says="diff"),
    _key("z", "zoom", "pane.zoom", "Zoom the pane or the tabs, or show everything again", says="zoom"),
    _key("slash", "filter", "look.filter", _FILTER, says="filter", shown_as="/", first=True),
    _key("m", "matrix", "look.matrix", "Matrix: every case on every model", says="matrix"),
    _key("M", "choose_models", "look.models", "Choose the models that stand side by side", says="models"),
    _key("C", "compare", "look.compare", "Compare: two answers, word by word", says="compare"),
    _key("v", "review", "look.review", "Review: score the risk of answers by hand", says="review"),
    _key("H", "runs", "look.runs", "Runs: every run that is kept", says="runs"),
    _key("e", "edit", "look.edit", "Open the suite in $EDITOR at this case", says="edit"),
    _key("X", "cancel_all", "run.cancel-all", "Cancel the whole run, and what is queued"),
    _key(
        "greater_than_sign",
        "change_concurrency(1)",
        "run.more",
        "Ask one case more at once, of the pane's model or of each",
        shown_as=">",
    ),
    _key("less_than_sign", "change_concurrency(-1)", "run.fewer", "Ask one case fewer at once", shown_as="<"),
    _key("s", "toggle_streaming", "run.streaming", "Streaming on or off for the next run"),
    _key("N", "match(-1)", "answer.previous-match", "Go to the match before"),
    _key("left_square_bracket", "case_beside(-1)", "look.case-before", "Show the case before", shown_as="["),
    _key("right_square_bracket", "case_beside(1)", "look.next-case", "Show the next case", shown_as="]"),
    _key("S", "toggle_tree", "look.suites", "Show or hide the suites"),
    _key("comma", "tab_beside(-1)", "tabs.before", "Show the tab before", shown_as=","),
    _key("full_stop", "tab_beside(1)", "tabs.next", "Show the next tab", shown_as="."),
    _key("1", "pane(0)", "pane.1", "Go to the first pane"),
    _key("2", "pane(1)", "pane.2", "Go to the second pane"),
    _key("3", "pane(2)", "pane.3", "Go to the third pane"),
    _key("4", "pane(3)", "pane.4", "Go to the fourth pane"),
    _key("ctrl+right", "pane_beside(1)", "pane.next", "Go to the next pane"),
    _key("ctrl+left", "pane_beside(-1)", "pane.before", "Go to the pane before"),
    _key("equals_sign", "toggle_in_step", "pane.in-step", "Scroll the panes in step, or each alone", shown_as="="),
    _key("escape", "back", "look.back", "Out of the zoom or the filter, back to the suites"),
]
