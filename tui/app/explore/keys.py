"""The keys of the Explore screen.

A binding with `priority` is handled before the next key is read, because that key is for the input that it opens.
"""

from textual.binding import BindingType

from tui.app.bindings import bind
from tui.app.keymap import shared
from tui.model.filter import CASE_FILTER

_FILTER = f"Filter cases ({CASE_FILTER.keys_in_words} word !word)"

EXPLORE_KEYS: list[BindingType] = [
    bind("r", "run_case", "run.case", "Run the selected case or category", label="run"),
    shared("run.suite", "run_suite"),
    bind("x", "cancel", "run.cancel", "Cancel the selected case", label="cancel"),
    shared("run.pause", "toggle_pause"),
    bind("F", "follow_run", "run.follow", "Follow the running case until you select one", label="follow"),
    shared("run.failed", "run_failed"),
    shared("look.jump", "app.jump", "Go to a case or suite by a part of its name", priority=True),
    shared("look.search", "app.search", priority=True),
    shared("look.matrix", "matrix"),
    shared("look.compare", "compare"),
    shared("look.review", "review"),
    shared("look.runs", "runs"),
    shared("pane.zoom", "zoom", "Zoom the pane or the tabs, or restore the layout", label="zoom"),
    shared("look.filter", "filter", _FILTER, priority=True),
    shared("look.export", "app.export", label=""),
    bind("M", "choose_models", "look.models", "Choose the models to show side by side", label="models"),
    bind("d", "go_to_diff", "look.diff", "Show the diff of the answer", label="diff"),
    shared("answer.next-match", "match(1)", label="next match"),
    bind("e", "edit('file')", "look.edit", "Open the suite in $EDITOR at this case", label="edit"),
    bind("E", "edit('check')", "look.edit-check", "Edit the selected check, and see which verdicts it would change"),
    bind("ctrl+e", "edit('case')", "look.edit-case", "Edit this case in a form"),
    bind("a", "edit('new case')", "look.new-case", "Write a new case in a form, and add it after this one"),
    bind("A", "edit('copy')", "look.copy-case", "Duplicate this case: a form with a copy, which is added after it"),
    bind("y", "copy", "answer.copy", "Copy the answer, a code block, the prompt, or a command that repeats it"),
    bind("b", "toggle_panes('rendered')", "answer.render", "Switch the answers between text and rendered Markdown"),
    bind("L", "run_local", "run.local", "Run on local/smollm2-135m, which needs no key"),
    shared("run.cancel-all", "cancel_all"),
    shared("run.more", "change_concurrency(1)", "Raise concurrency of the pane's model, or of all models"),
    shared("run.fewer", "change_concurrency(-1)"),
    bind("U", "toggle_streaming", "run.streaming", "Stream the answers of the next run, or wait for whole ones"),
    shared("answer.previous-match", "match(-1)"),
    shared("look.case-before", "case_beside(-1)"),
    shared("look.next-case", "case_beside(1)"),
    shared("look.suites", "toggle_tree", "Show or hide the suites"),
    shared("tabs.before", "tab_beside(-1)"),
    shared("tabs.next", "tab_beside(1)"),
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
