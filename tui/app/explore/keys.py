"""The keys of the Explore screen. One with `priority` is handled before the next key is read, because that one is meant
for what it has opened."""

from textual.binding import BindingType

from tui.app.bindings import bind
from tui.model.filter import KEYS_IN_WORDS

_FILTER = f"Filter the cases ({KEYS_IN_WORDS} word !word)"

EXPLORE_KEYS: list[BindingType] = [
    bind("r", "run_case", "run.case", "Run the case, or the category, under the cursor", label="run"),
    bind("R", "run_suite", "run.suite", "Run the whole suite", label="run all"),
    bind("F", "follow_run", "run.follow", "Go with what runs, until you choose a case", label="follow"),
    bind("P", "toggle_pause", "run.pause", "Pause the run, or let it go on", label="pause"),
    bind("x", "cancel", "run.cancel", "Cancel the case that is shown", label="cancel"),
    bind("f", "run_failed", "run.failed", "Run again what did not pass", label="failed again"),
    bind("n", "match(1)", "answer.next-match", "Go to the next match of a check", label="next match"),
    bind("d", "go_to_diff", "look.diff", "Read what the answer changed", label="diff"),
    bind("z", "zoom", "pane.zoom", "Zoom the pane or the tabs, or show everything again", label="zoom"),
    bind("slash", "filter", "look.filter", _FILTER, label="filter", shown="/", priority=True),
    bind("m", "matrix", "look.matrix", "Matrix: every case on every model", label="matrix"),
    bind("M", "choose_models", "look.models", "Choose the models that stand side by side", label="models"),
    bind("C", "compare", "look.compare", "Compare: two answers, word by word", label="compare"),
    bind("v", "review", "look.review", "Review: score the risk of answers by hand", label="review"),
    bind("H", "runs", "look.runs", "Runs: every run that is kept", label="runs"),
    bind("e", "edit", "look.edit", "Open the suite in $EDITOR at this case", label="edit"),
    bind("X", "cancel_all", "run.cancel-all", "Cancel the whole run, and what is queued"),
    bind(
        "greater_than_sign",
        "change_concurrency(1)",
        "run.more",
        "Ask one case more at once, of the pane's model or of each",
        shown=">",
    ),
    bind("less_than_sign", "change_concurrency(-1)", "run.fewer", "Ask one case fewer at once", shown="<"),
    bind("s", "toggle_streaming", "run.streaming", "Streaming on or off for the next run"),
    bind("N", "match(-1)", "answer.previous-match", "Go to the match before"),
    bind("left_square_bracket", "case_beside(-1)", "look.case-before", "Show the case before", shown="["),
    bind("right_square_bracket", "case_beside(1)", "look.next-case", "Show the next case", shown="]"),
    bind("S", "toggle_tree", "look.suites", "Show or hide the suites"),
    bind("comma", "tab_beside(-1)", "tabs.before", "Show the tab before", shown=","),
    bind("full_stop", "tab_beside(1)", "tabs.next", "Show the next tab", shown="."),
    bind("1", "pane(0)", "pane.1", "Go to the first pane"),
    bind("2", "pane(1)", "pane.2", "Go to the second pane"),
    bind("3", "pane(2)", "pane.3", "Go to the third pane"),
    bind("4", "pane(3)", "pane.4", "Go to the fourth pane"),
    bind("ctrl+right", "pane_beside(1)", "pane.next", "Go to the next pane"),
    bind("ctrl+left", "pane_beside(-1)", "pane.before", "Go to the pane before"),
    bind("equals_sign", "toggle_in_step", "pane.in-step", "Scroll the panes in step, or each alone", shown="="),
    bind("escape", "back", "look.back", "Out of the zoom or the filter, back to the suites"),
]
