"""The scenes: what is on the stage, and what is pressed until the picture is taken.

A step is a key, a screen that has to be on top, or a call that waits for something. Texts of the app are never waited
for, only texts of the cases and answers, so that wording can change with `--snapshot-update` alone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.screen import Screen

from tests.app.snapshots.stage import (
    A,
    B,
    Stage,
    changes_session,
    empty_session,
    many_session,
    new_session,
    rows_session,
    run_session,
    scored_session,
    settings_session,
    tools_session,
    two_changes_session,
)
from tests.support.scripted_session import ScriptedSession, prompt_of, result_of, step_of
from tui.app.case_editor.screen import CaseEditorScreen
from tui.app.check_editor.screen import CheckEditorScreen
from tui.app.compare.screen import CompareScreen
from tui.app.dialogs import ChoiceScreen, ConfirmScreen, HelpScreen, TextScreen
from tui.app.explore.model_dialog import ModelChooser
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.tour import TourScreen
from tui.app.export_dialog import ExportScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.find.jump_dialog import JumpDialog
from tui.app.find.search_dialog import SearchDialog
from tui.app.find.search_panel import SearchPanel
from tui.app.jump_mode import JumpModeScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.screen import ReviewScreen
from tui.app.runs.screen import RunsScreen
from tui.app.settings.dialogs import SettingsDialog, ThemeDialog
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.app.widgets.form import FormDialog
from tui.app.widgets.saved_filters_dialog import SavedFiltersDialog
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    RequestSent,
    StepStarted,
    TextArrived,
    TrialFinished,
    TrialStarted,
)
from tui.model.results import TrialKey

Step = str | type[Screen[Any]] | Callable[[Stage], Awaitable[None]]
LIGHT = "assay-light"


@dataclass(frozen=True)
class Scene:
    """`steps` lead from the app's first screen to the picture; without a session the app keeps waiting for one."""

    name: str
    session: Callable[[Path], ScriptedSession] | None
    steps: tuple[Step, ...] = ()
    theme: str = DEFAULT_PALETTE.name


async def play(scene: Scene, stage: Stage) -> None:
    """Do the steps of a scene."""
    for step in scene.steps:
        if isinstance(step, str):
            await stage.press(step)
        elif isinstance(step, type):
            await stage.opens(step)
        else:
            await step(stage)


def shows(text: str) -> Step:
    """Wait until a text of a case or an answer is on the screen."""
    return lambda stage: stage.shows(text)


async def stream(stage: Stage) -> None:
    """Run the suite as far as one result, one answer that streams, and the rest waiting."""
    await stage.until(lambda: stage.session.plans, "a plan")
    first, second = TrialKey("query", A), TrialKey("query", B)
    for key in (first, second):
        stage.session.say(
            TrialStarted(key), AttemptStarted(key, 1, 1), StepStarted(key, 1, 0, prompt_of()), RequestSent(key, 1, 0)
        )
    stage.session.say(
        TrialFinished(result_of(first, "passed", step_of("Use a parameter."))),
        TextArrived(second, 1, 0, "Here is a function with a parameter:\n\n```python\ndef find(conn, email):\n"),
        CheckMoved(second, 1, 0, 0, "found", ((26, 35),)),
        TextArrived(second, 1, 0, "    return conn.exe"),
    )


async def searched(stage: Stage) -> None:
    """Wait until the displayed text of a search is searched."""
    panel = stage.app.screen.query_one(SearchPanel)
    await stage.until(lambda: panel.shown_text == panel.text, "the text is searched")


async def read_settings(stage: Stage) -> None:
    """Wait until a list of settings or themes shows what was searched."""
    panel = stage.app.screen.query_one(SearchPanel)
    await stage.until(lambda: panel.result.entries and panel.shown_text == panel.text, "the settings are read")


async def refused(stage: Stage) -> None:
    """Wait until a form shows why a value is invalid."""
    faults = stage.app.screen.query(".fault")
    await stage.until(lambda: any(str(each.render()) for each in faults), "a fault")


async def indexed(stage: Stage) -> None:
    """Wait until every answer is indexed and the last search has seen them."""
    dialog = stage.app.screen
    assert isinstance(dialog, SearchDialog)
    await stage.until(lambda: dialog.is_settled, "every answer is searched")


async def provider_refused(stage: Stage) -> None:
    """Wait until the form has errors beside its fields."""
    await stage.until(lambda: "is missing" in stage.text, "the errors are displayed")


async def chosen_models_found(stage: Stage) -> None:
    """Wait until the search for a model is done."""
    await stage.until(lambda: "as it is typed" in stage.text, "the text is searched")


EXPLORE = (ExploreScreen, shows("reverse a text"))
ANSWERED = (*EXPLORE, shows("the driver"))
CHANGED = (ExploreScreen, shows("Mend it"), "d", shows("import secrets"))
MATRIX = (*ANSWERED, "m", MatrixScreen, shows("hash a password"))
START = (*ANSWERED, "v", ReviewStartScreen)
REVIEW = (*START, "end", "enter", ReviewScreen, shows("Please write this"))
MODELS = (*ANSWERED, "M", ModelChooser, shows("anthropic"))
RUNS = (*ANSWERED, "H", RunsScreen, shows("quickstart"))
CASE_FORM = (*ANSWERED, "ctrl+e", CaseEditorScreen, shows("word-count"))
SCENES = (
    Scene("splash", None),
    Scene("start", empty_session, (ExploreScreen,)),
    Scene("explore-suite", new_session, (*EXPLORE, "home", shows("suites/quickstart.yaml"))),
    Scene("explore-not-run", new_session, EXPLORE),
    Scene("explore-answers", run_session, ANSWERED),
    Scene("explore-answers-light", run_session, ANSWERED, LIGHT),
    Scene("explore-error", run_session, (*ANSWERED, ".", ".", shows("safe way to reverse"), "2", shows("LOCAL_KEY"))),
    Scene("explore-streaming", new_session, (*EXPLORE, "R", stream, "2", shows("conn.exe"))),
    Scene("explore-pages", many_session, (ExploreScreen, shows("1–4 of 10"), "1", "ctrl+left", shows("9–10 of 10"))),
    Scene("explore-rendered", run_session, (*ANSWERED, "b", shows("▏"))),
    Scene("explore-data-set", rows_session, (ExploreScreen, shows("Words"))),
    Scene("tour", new_session, (*EXPLORE, "f1", TourScreen, "enter")),
    Scene("explore-zoomed", run_session, (*ANSWERED, "z")),
    Scene("explore-filter", run_session, (*ANSWERED, "/", *"hash")),
    Scene("explore-filter-keys", run_session, (*ANSWERED, "/", *"cat:")),
    Scene("saved-filters", run_session, (*ANSWERED, "/", *"sev:high", "ctrl+s", SavedFiltersDialog, *"worst")),
    Scene("explore-prompt", run_session, (*ANSWERED, "]", "]")),
    Scene("explore-risk", scored_session, (*ANSWERED, "]", "]", "]")),
    Scene("explore-attempts", run_session, (*ANSWERED, ".", shows("safe way to hash"), "]", "]", "]")),
    Scene("explore-tools", tools_session, (ExploreScreen, shows("until 18:00"), "[", shows("turn 1"))),
    Scene("explore-diff", changes_session, CHANGED),
    Scene("explore-diff-zoomed", changes_session, (*CHANGED, "z", "V")),
    Scene("explore-diff-both-models", two_changes_session, (*CHANGED, "z", "|", shows("both models"))),
    Scene("block-chooser", changes_session, (*CHANGED, "B", ChoiceScreen)),
    Scene("check-editor", run_session, (*ANSWERED, "E", CheckEditorScreen, shows("the driver"), *"s?z")),
    Scene("case-editor", run_session, CASE_FORM),
    Scene("case-faults", run_session, (*CASE_FORM, "tab", "ctrl+u", "ctrl+s", refused)),
    Scene("case-check", run_session, (*CASE_FORM, *["tab"] * 9, "a", FormDialog, "tab", *"(", "enter", refused)),
    Scene("matrix", run_session, MATRIX),
    Scene("matrix-pairs", run_session, (*MATRIX, "I", FiguresScreen)),
    Scene("matrix-sort", run_session, (*MATRIX, "s", ChoiceScreen)),
    Scene("compare", run_session, (*ANSWERED, "C", CompareScreen, shows("the driver"))),
    Scene("review-start", run_session, START),
    Scene("review", run_session, REVIEW),
    Scene("review-light", run_session, REVIEW, LIGHT),
    Scene("review-several", scored_session, REVIEW),
    Scene("review-figures", scored_session, (*REVIEW, "I", FiguresScreen, shows("by band"))),
    Scene("review-answers", scored_session, (*REVIEW, "I", FiguresScreen, shows("by band"), "]")),
    Scene("review-guidance", run_session, (*REVIEW, "G", TextScreen)),
    Scene("runs", run_session, RUNS),
    Scene("export", run_session, (*RUNS, "O", ExportScreen)),
    Scene("model-chooser", run_session, MODELS),
    Scene("model-chooser-unfolded", run_session, (*MODELS, "end", "up", "space", "up", "space", shows("mock-medium"))),
    Scene("model-chooser-search", run_session, (*MODELS, "a", *"med", chosen_models_found)),
    Scene("model-settings", run_session, (*MODELS, "e", FormDialog, *"3", "enter")),
    Scene("add-provider", run_session, (*MODELS, "n", FormDialog, "enter", provider_refused)),
    Scene("jump", run_session, (*ANSWERED, "g", JumpDialog, shows("race in the cache"), *"fix pa", searched)),
    Scene("search", run_session, (*ANSWERED, "ctrl+f", SearchDialog, *"parameter", indexed)),
    Scene("settings", settings_session, (*EXPLORE, "f2", SettingsDialog, read_settings)),
    Scene(
        "setting",
        settings_session,
        (*EXPLORE, "f2", SettingsDialog, *"limits.high", read_settings, "enter", FormDialog, "x", "enter", refused),
    ),
    Scene(
        "theme",
        settings_session,
        (*EXPLORE, "f2", SettingsDialog, *"theme", read_settings, "enter", ThemeDialog, read_settings),
    ),
    Scene("jump-mode", run_session, (*ANSWERED, "ctrl+o", JumpModeScreen)),
    Scene("help", run_session, (*ANSWERED, "?", HelpScreen)),
    Scene("confirm", new_session, (*EXPLORE, "R", stream, "2", shows("conn.exe"), "q", ConfirmScreen)),
)
_WORK = (
    *("explore-suite", "explore-answers", "explore-diff", "check-editor", "case-editor", "matrix"),
    *("compare", "review", "runs"),
)
WORK_SCENES = tuple(scene for scene in SCENES if scene.name in _WORK)
"""The screens on which people work, each once; they have pictures in more sizes and themes."""
