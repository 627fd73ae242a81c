"""The keys of the Explore screen.

A binding with `priority` is handled before the next key is read, because that key is for the input that it opens.
"""

from textual.binding import BindingType

from tui.app.bindings import bind
from tui.model.filter import CASE_FILTER

_FILTER = f"Filter cases ({CASE_FILTER.keys_in_words} word !word)"

EXPLORE_KEYS: list[BindingType] = [
    bind("r", "run_case", "run.case", "Run the selected case or category", label="run"),
    bind("R", "run_suite", "run.suite", "Run the whole suite", label="run all"),
    bind("x", "cancel", "run.cancel", "Cancel the selected case", label="cancel"),
    bind("P", "toggle_pause", "run.pause", "Pause or continue the run", label="pause"),
    bind("F", "follow_run", "run.follow", "Follow the running case until you select one", label="follow"),
    bind("f", "run_failed", "run.failed", "Rerun failed trials", label="rerun failed"),
    bind("slash", "filter", "look.filter", _FILTER, label="filter", shown="/", priority=True),
    bind("g", "app.jump", "look.jump", "Go to a case or suite by a part of its name", priority=True),
    bind("ctrl+f", "app.search", "look.search", "Search all saved answers", priority=True),
    bind("m", "matrix", "look.matrix", "Matrix: all cases × all models", label="matrix"),
    bind("C", "compare", "look.compare", "Compare two answers word by word", label="compare"),
    bind("v", "review", "look.review", "Review: score the risk of answers", label="review"),
    bind("H", "runs", "look.runs", "Runs: all saved runs", label="runs"),
    bind("O", "app.export", "look.export", "Export a report of the run"),
    bind("M", "choose_models", "look.models", "Choose the models to show side by side", label="models"),
    bind("d", "go_to_diff", "look.diff", "Show the diff of the answer", label="diff"),
    bind("z", "zoom", "pane.zoom", "Zoom the pane or the tabs, or restore the layout", label="zoom"),
    bind("n", "match(1)", "answer.next-match", "Next match", label="next match"),
    bind("e", "edit('file')", "look.edit", "Open the suite in $EDITOR at this case", label="edit"),
    bind("E", "edit('check')", "look.edit-check", "Edit the selected check, and see which verdicts it would change"),
    bind("a", "edit('new case')", "look.new-case", "Add a new case to the suite's file, after this one"),
    bind("A", "edit('copy')", "look.copy-case", "Duplicate this case in the suite's file"),
    bind("y", "copy", "answer.copy", "Copy the answer, a code block, the prompt, or a command that repeats it"),
    bind("b", "toggle_panes('rendered')", "answer.render", "Switch the answers between text and rendered Markdown"),
    bind("L", "run_local", "run.local", "Run on local/smollm2-135m, which needs no key"),
    bind("X", "cancel_all", "run.cancel-all", "Cancel the run and all queued runs"),
    bind(
        "greater_than_sign",
        "change_concurrency(1)",
        "run.more",
        "Raise concurrency of the pane's model, or of all models",
        shown=">",
    ),
    bind("less_than_sign", "change_concurrency(-1)", "run.fewer", "Lower concurrency", shown="<"),
    bind("s", "toggle_streaming", "run.streaming", "Toggle streaming for the next run"),
    bind("N", "match(-1)", "answer.previous-match", "Previous match"),
    bind("left_square_bracket", "case_beside(-1)", "look.case-before", "Previous case", shown="["),
    bind("right_square_bracket", "case_beside(1)", "look.next-case", "Next case", shown="]"),
    bind("S", "toggle_tree", "look.suites", "Show or hide the suites"),
    bind("comma", "tab_beside(-1)", "tabs.before", "Previous tab", shown=","),
    bind("full_stop", "tab_beside(1)", "tabs.next", "Next tab", shown="."),
    bind("1", "pane(0)", "pane.1", "Go to pane 1"),
    bind("2", "pane(1)", "pane.2", "Go to pane 2"),
    bind("3", "pane(2)", "pane.3", "Go to pane 3"),
    bind("4", "pane(3)", "pane.4", "Go to pane 4"),
    bind("ctrl+right", "pane_beside(1)", "pane.next", "Next pane"),
    bind("ctrl+left", "pane_beside(-1)", "pane.before", "Previous pane"),
    bind("equals_sign", "toggle_panes('in_step')", "pane.in-step", "Scroll panes together or separately", shown="="),
    bind("f1", "app.tour", "look.tour", "Tour of this screen in six steps", shown="F1"),
    bind("escape", "back", "look.back", "Leave zoom or filter, or go back to the suites"),
]
