"""The Review screen over a scripted session with real saved runs and real score files, and what is on the screen."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from textual.widget import Widget

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.histories import run_history
from tests.support.kept_runs import RUN_ID, STARTED, make_plan, make_result, make_subject, with_prompt
from tests.support.pilots import screen_rows
from tests.support.scripted_session import ScriptedSession
from tui.app.presentation.pieces import text_of
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.screen import ReviewScreen
from tui.app.runs.screen import RunsScreen
from tui.model.results import Change, TrialKey, TrialResult
from tui.model.scores import Act, ItemKey
from tui.model.subjects import Config
from tui.model.suite import Case, Check, RiskCriterion, Step
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

A, B = "openai/zebra-one", "local/walrus-two"
NAMES = ("zebra", "walrus", "openai", "local/")
ME, OTHER = "Anna Able", "Bert Baker"

SQL = RiskCriterion("SQL injection", "Uses parameters, no concatenation", "critical")
ERRORS = RiskCriterion("Error handling", "Leaks nothing to the caller", "medium")
TONE = RiskCriterion("Tone", "Stays polite", "low")
CODE = "```python\ndef find(conn, email):\n    return conn.execute(email)\n```\n"
DIFF = """diff --git a/src/query.py b/src/query.py
--- a/src/query.py
+++ b/src/query.py
@@ -1,2 +1,2 @@
 def find():
-    return old()
+    return new()
"""


def case(id: str, name: str, *criteria: RiskCriterion) -> Case:
    checks = (Check("expected_pattern", "parameter"), Check("forbidden_pattern", "eval"))
    step = Step(f"Please write {name}.", checks)
    return Case(id, name, "Security", (step,), expected_behavior=f"A safe {name}.", risk_criteria=criteria)


CASES = (case("c0", "query by mail", SQL, ERRORS), case("c1", "greet a guest", TONE), case("c2", "no judging"))
ITEMS = 6  # two models × three criteria


def answer(key: TrialKey) -> str:
    """Return the answer of a model; names would reveal the model, so only its first word differs."""
    return f"{'First' if key.model == A else 'Second'} voice on {key.case} with a parameter.\n\n{CODE}"


def results(models: Sequence[str] = (A, B), cases: Sequence[Case] = CASES) -> list[TrialResult]:
    made = []
    for key in (TrialKey(case.id, model) for case in cases for model in models):
        verdict = "passed" if key.model == A else "failed"
        asked = next(each.steps[0].input for each in cases if each.id == key.case)
        result = with_prompt(make_result(key, verdict, response=answer(key)), asked)  # type: ignore[arg-type]
        if key.case == "c0":
            result = replace(result, changes=(Change("src/query.py", "modified", 1, 1, DIFF),))
        made.append(result)
    return made


def keep_run(
    folder: Path, kept: Sequence[TrialResult] | None = None, *, cases: Sequence[Case] = CASES, run: str = RUN_ID
) -> SqliteStore:
    """Return a store with one finished run of the cases on both models."""
    store = SqliteStore(folder / "data" / "runs.sqlite")
    (folder / "suites").mkdir(exist_ok=True)
    plan = make_plan(cases, (A, B), run_id=run, path=str(folder / "suites" / "quickstart.yaml"))
    store.begin_run(plan, STARTED)
    store.save_trials(run, results(cases=cases) if kept is None else kept)
    store.finish_run(run, "finished", STARTED)
    return store


def session_at(folder: Path, store: SqliteStore, config: Config | None = None) -> ScriptedSession:
    """Return a session on that store; scores are saved beside it."""
    session = session_for(folder / "suites")
    session.keeps = run_history(store, folder / "data", lambda names: tuple(make_subject(name) for name in names))
    session.scores = Reviews(store, folder / "data", config or Config(reviewer=ME))
    return session


def acts(session: ScriptedSession, run: str = RUN_ID) -> tuple[Act, ...]:
    """Return all acts on disk."""
    return session.reviews.open_review(run, ME, blind=False).board.acts


@asynccontextmanager
async def at_runs(
    folder: Path, store: SqliteStore, *, size: tuple[int, int] = (140, 44), config: Config | None = None
) -> AsyncIterator[tuple[Seen, ScriptedSession]]:
    """Run the app with the list of runs open."""
    session = session_at(folder, store, config)
    async with explored(session, size) as seen:
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen) and seen.app.screen.lines.run)
        yield seen, session


@asynccontextmanager
async def reviewed(
    folder: Path,
    store: SqliteStore,
    *,
    blind: bool = True,
    size: tuple[int, int] = (140, 44),
    config: Config | None = None,
) -> AsyncIterator[tuple[Seen, ScriptedSession]]:
    """Run the app with the first item of the newest run open in Review."""
    async with at_runs(folder, store, size=size, config=config) as (seen, session):
        await seen.press("v")
        await begin(seen, blind=blind)
        yield seen, session


async def begin(seen: Seen, *, blind: bool = True) -> None:
    """Close the start dialog, and wait for the first item."""
    await seen.until(lambda: isinstance(seen.app.screen, ReviewStartScreen))
    await seen.press("home" if blind else "end", "enter")
    await seen.until(lambda: isinstance(seen.app.screen, ReviewScreen))
    await seen.until(lambda: target(seen) is not None or screen(seen).review_session.item is None, "an item is there")


def screen(seen: Seen) -> ReviewScreen:
    return next(each for each in reversed(seen.app.screen_stack) if isinstance(each, ReviewScreen))


def target(seen: Seen) -> ItemKey | None:
    """Return the displayed item, on which keys act."""
    key = screen(seen).keys.target
    assert key is None or isinstance(key, ItemKey)
    return key


def here(seen: Seen) -> tuple[str, str, str] | None:
    """Return the case, model and criterion of the item that can be scored now."""
    key = target(seen)
    return (key.case, key.model, key.criterion) if key else None


def drawn(seen: Seen) -> str:
    """Return every row of the whole screen as it is painted."""
    width, height = seen.app.size
    rows = screen_rows(seen.app.screen)
    assert len(rows) == height
    return "\n".join(row[:width] for row in rows)


def title(seen: Seen) -> str:
    return text_of(screen(seen).title_line.line_for(200))


def last(seen: Seen) -> str:
    return text_of(screen(seen).last_act.line_for(200)).strip()


def shown(seen: Seen, selector: str) -> str:
    """Return the text of a static widget."""
    widget: Widget = screen(seen).query_one(selector)
    return str(widget.render())


async def give(seen: Seen, *keys: str) -> None:
    """Score one displayed item after the other with these extents."""
    for key in keys:
        before = target(seen)
        assert before is not None
        await seen.press(key)
        await seen.until(
            lambda before=before: (
                screen(seen).review_session.item is None or (target(seen) is not None and target(seen) != before)
            ),
            f"the item after {before}",
        )
