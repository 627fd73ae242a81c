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
    changes_desk,
    empty_desk,
    new_desk,
    run_desk,
    scored_desk,
)
from tests.support.scripted_session import ScriptedSession, prompt_of, result_of, step_of
from tui.app.compare.screen import CompareScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.matrix.pairs_dialog import PairsScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.screen import ReviewScreen
from tui.app.runs.export_dialog import ExportScreen
from tui.app.runs.screen import RunsScreen
from tui.app.screens.choice import ChoiceScreen
from tui.app.screens.confirm import ConfirmScreen
from tui.app.screens.help import HelpScreen
from tui.app.screens.model_chooser import ModelChooser
from tui.app.screens.text_screen import TextScreen
from tui.app.theme.palette import DEFAULT_PALETTE
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
    """`steps` lead from the app's first screen to the picture; without a desk the app keeps waiting for one."""

    name: str
    session: Callable[[Path], ScriptedSession] | None
    steps: tuple[Step, ...] = ()
    theme: str = DEFAULT_PALETTE.name


def shows(text: str) -> Step:
    """Wait until a text of a case or an answer stands on the screen."""
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


EXPLORE = (ExploreScreen, shows("reverse a text"))
ANSWERED = (*EXPLORE, shows("the driver"))
CHANGED = (ExploreScreen, shows("Mend it"), "d", shows("import secrets"))
MATRIX = (*ANSWERED, "m", MatrixScreen, shows("hash a password"))
START = (*ANSWERED, "v", ReviewStartScreen)
REVIEW = (*START, "end", "enter", ReviewScreen, shows("Please write this"))
RUNS = (*ANSWERED, "H", RunsScreen, shows("quickstart"))
SCENES = (
    Scene("splash", None),
    Scene("start", empty_desk, (ExploreScreen,)),
    Scene("explore-suite", new_desk, (*EXPLORE, "home", shows("suites/quickstart.yaml"))),
    Scene("explore-not-run", new_desk, EXPLORE),
    Scene("explore-answers", run_desk, ANSWERED),
    Scene("explore-answers-light", run_desk, ANSWERED, LIGHT),
    Scene("explore-error", run_desk, (*ANSWERED, "]", "]", shows("safe way to reverse"), "2", shows("LOCAL_KEY"))),
    Scene("explore-streaming", new_desk, (*EXPLORE, "R", stream, "2", shows("conn.exe"))),
    Scene("explore-zoomed", run_desk, (*ANSWERED, "z")),
    Scene("explore-filter", run_desk, (*ANSWERED, "/", *"hash")),
    Scene("explore-prompt", run_desk, (*ANSWERED, ".", ".")),
    Scene("explore-risk", scored_desk, (*ANSWERED, ".", ".", ".")),
    Scene("explore-attempts", run_desk, (*ANSWERED, "]", shows("safe way to hash"), ".", ".", ".")),
    Scene("explore-diff", changes_desk, CHANGED),
    Scene("explore-diff-zoomed", changes_desk, (*CHANGED, "z", "v")),
    Scene("block-chooser", changes_desk, (*CHANGED, "b", ChoiceScreen)),
    Scene("matrix", run_desk, MATRIX),
    Scene("matrix-pairs", run_desk, (*MATRIX, "p", PairsScreen)),
    Scene("matrix-sort", run_desk, (*MATRIX, "s", ChoiceScreen)),
    Scene("compare", run_desk, (*ANSWERED, "C", CompareScreen, shows("the driver"))),
    Scene("review-start", run_desk, START),
    Scene("review", run_desk, REVIEW),
    Scene("review-light", run_desk, REVIEW, LIGHT),
    Scene("review-several", scored_desk, REVIEW),
    Scene("review-figures", scored_desk, (*REVIEW, "f", TextScreen)),
    Scene("review-guidance", run_desk, (*REVIEW, "g", TextScreen)),
    Scene("runs", run_desk, RUNS),
    Scene("export", run_desk, (*RUNS, "e", ExportScreen)),
    Scene("model-chooser", run_desk, (*ANSWERED, "M", ModelChooser)),
    Scene("help", run_desk, (*ANSWERED, "?", HelpScreen)),
    Scene("confirm", new_desk, (*EXPLORE, "R", stream, "2", shows("conn.exe"), "q", ConfirmScreen)),
)
