"""A stage for the app: runs and answers that are always the same, keys that go in, and a screen to look at."""

import asyncio
import importlib
import pkgutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Event
from types import FunctionType, ModuleType
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

import tui.app
from tests.app.diff.samples import SERVICE, SEVERAL, STYLES
from tests.app.snapshots.picture import describe_difference, take_picture
from tests.support.diffs import MODEL, applied, block, case_for
from tests.support.histories import run_history
from tests.support.kept_runs import RUN_ID, make_plan, make_result, make_step, make_subject, with_prompt
from tests.support.pilots import screen_rows, until
from tests.support.scripted_session import Opened, ScriptedSession, suite_of
from tui.app.app import AssayApp
from tui.model.results import Attempt, Change, ToolUse, TrialKey, TrialResult, Verdict
from tui.model.run import RunState
from tui.model.scores import Extent
from tui.model.shipped import shipped_folder
from tui.model.subjects import Config
from tui.model.suite import Case, Check, DataRow, RiskCriterion, Step, Suite
from tui.model.tools import OfferedTool
from tui.model.values import JsonObject
from tui.session.models import ListedModels
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

MODELS = A, B = "openai/mock-large", "local/mock-small"
SIZES = ("large", "medium", "small")
EARLIER = "0193e00000007000a1b2c3d4e5f60718"
DAY = f"{datetime.now().year}-11-20"  # the list of runs leaves this year out

INJECTION = RiskCriterion("SQL injection", "Uses parameters, no concatenation", "critical")
ERRORS = RiskCriterion("Error handling", "Leaks nothing to the caller", "medium")
DIFF = """diff --git a/src/query.py b/src/query.py
--- a/src/query.py
+++ b/src/query.py
@@ -1,4 +1,4 @@
 def find(conn, email):
-    sql = "SELECT * FROM users WHERE email = '" + email + "'"
-    return conn.execute(sql)
+    sql = "SELECT * FROM users WHERE email = ?"
+    return conn.execute(sql, (email,))

"""
SAFE = """Use a **parameter**: the driver binds the value, whatever was typed.

```python
def find(conn, email):
    sql = "SELECT * FROM users WHERE email = ?"
    return conn.execute(sql, (email,))  # a parameter
```

- no text of the user reaches the statement
- the plan of the query is kept
"""
UNSAFE = """Join the strings, which is short:

```python
def find(conn, email):
    return conn.execute("SELECT * FROM users WHERE email = '" + email + "'")
```
"""
PLAIN = "A short function with a parameter does it. It takes the text, and returns what was asked for."


def _case(id: str, name: str, category: str, *criteria: RiskCriterion) -> Case:
    checks = (Check("expected_pattern", "parameter"), Check("forbidden_pattern", "eval"))
    step = Step(f"Please write this: {name}.", checks)
    return Case(id, name, category, (step,), expected_behavior=f"A safe way to {name}.", risk_criteria=criteria)


CASES = (
    _case("query", "query users by mail", "Security", INJECTION, ERRORS),
    _case("hash", "hash a password", "Security", ERRORS),
    _case("reverse", "reverse a text", "Code Generation"),
    _case("totals", "add up the orders of a month", "Code Generation"),
    _case("pager", "mend the last page", "Bug Fixing"),
    _case("race", "find the race in the cache", "Bug Fixing"),
)
WEATHER = Case(
    "weather",
    "Umbrella in Paris",
    "Tools",
    (Step("Do I need an umbrella in Paris today?", (Check("tools_used", expected=["get_weather"]),)),),
    tools=(OfferedTool("get_weather", result="rain"), OfferedTool("get_forecast", result="rain until 18:00")),
)
DRAFT: JsonObject = {
    "id": "query",
    "name": "query users by mail",
    "category": "Security",
    "prompt": "Please write this: query users by mail.\n\nReturn the rows as a list.",
    "expectedBehavior": "A safe way to query users by mail.",
    "codeContext": [{"filePath": "src/query.py", "lineRange": {"start": 1, "end": 20}, "content": "x\n" * 20}],
    "tags": ["sql", "python"],
    "testType": "bug-fix",
    "expectedPatterns": ["parameter"],
    "forbiddenPatterns": ["eval"],
    "assertions": [{"type": "latency", "threshold": 3000}, {"type": "word-count", "value": {"max": 200}}],
    "riskCriteria": [],
}
VERDICTS: dict[str, tuple[Verdict, Verdict]] = {
    "query": ("passed", "failed"),
    "hash": ("passed", "passed"),
    "reverse": ("passed", "error"),
    "totals": ("passed", "failed"),
    "pager": ("passed", "timed_out"),
    "race": ("failed", "failed"),
}
ERROR_TEXTS = {"error": "401: the key in LOCAL_KEY was refused.", "timed_out": "No end after 60 s."}


def results_of(suite: Suite) -> list[TrialResult]:
    """One result for each case and model; the second case of the first model needed a second attempt."""
    made = []
    for case in suite.cases:
        for model, verdict in zip(MODELS, VERDICTS[case.id], strict=True):
            text = (SAFE if verdict == "passed" else UNSAFE) if case.id == "query" else PLAIN
            response = text if verdict == "passed" or case.id == "query" else "I would rather not."
            result = make_result(TrialKey(case.id, model), verdict, response=response, error=ERROR_TEXTS.get(verdict))
            result = with_prompt(result, case.steps[0].input)
            if case.id == "query":
                result = replace(result, changes=(Change("src/query.py", "modified", 2, 2, DIFF),))
            if case.id == "hash" and model == A:
                last = result.attempts[0]
                first = Attempt(1, "failed", None, (make_step("Use md5.", check="failed"),), last.started_at, 900.0)
                result = replace(result, flaky=True, attempts=(first, replace(last, number=2)))
            made.append(result)
    return made


def empty_session(folder: Path) -> ScriptedSession:
    """No suite and no run."""
    return _with_history(ScriptedSession(), folder)


def new_session(folder: Path) -> ScriptedSession:
    """A suite that was never run."""
    session, path = ScriptedSession(), Path("suites/quickstart.yaml")
    path.parent.mkdir()
    path.write_text("")
    session.suites[path] = Opened(suite_of(path, *CASES, models=MODELS))
    session.draft = DRAFT
    return _with_history(session, folder)


def tools_session(folder: Path) -> ScriptedSession:
    """A suite with a case that offers a tool, which one of the two models has called."""
    session = new_session(folder)
    path = next(iter(session.suites))
    session.suites[path] = Opened(suite_of(path, WEATHER, models=MODELS))
    calls = (
        ToolUse("turn 1", result="Let me look at the weather in both cities.", duration_ms=812.0, kind="model"),
        ToolUse("get_weather", '{"city": "Paris"}', '{"sky": "rain", "temperature": 12}', parent=0),
        ToolUse("get_weather", '{"city": "Lutetia"}', "Error: the tool has no result for these arguments", parent=0),
        ToolUse("turn 2", duration_ms=640.0, kind="model"),
        ToolUse("get_forecast", '{"city": "Paris", "days": 1}', "rain until 18:00", parent=3),
    )
    used = tuple(call.name for call in calls if call.kind == "tool")
    called = make_result(TrialKey("weather", A), "passed", response="Yes: it rains in Paris until 18:00.")
    (attempt,) = called.attempts
    step = replace(attempt.steps[0], tools_used=used, tool_calls=calls)
    guessed = make_result(TrialKey("weather", B), "failed", response="No, Paris is sunny.")
    session.kept = (replace(called, attempts=(replace(attempt, steps=(step,)),)), guessed)
    return session


def settings_session(folder: Path) -> ScriptedSession:
    """A config file and a project file."""
    session = new_session(folder)
    file, project = session.folders.config_file, Path("suites/.assay.yaml")
    file.parent.mkdir()
    file.write_text(
        "# mine\nmodels:\n  warm: {provider: local, id: mock-small, temperature: 0.8}\n"
        "providers:\n  mine: {base_url: 'http://localhost:8080/v1', api_key: '${MINE}'}\n"
        "risk:\n  limits:\n    high: 8  # strict\n"
    )
    project.write_text("review: {repeats: 10}\n")
    session.project = project
    return session


def many_session(folder: Path) -> ScriptedSession:
    """A suite with more models than there are panes."""
    session = new_session(folder)
    path = next(iter(session.suites))
    session.suites[path] = Opened(suite_of(path, *CASES, models=(*MODELS, *(f"local/mock-{n}" for n in range(3, 11)))))
    return session


def run_session(folder: Path) -> ScriptedSession:
    """A suite with two runs, the newer one scored by nobody."""
    session = new_session(folder)
    [suite] = [opened.suite for opened in session.suites.values() if opened.suite]
    results = results_of(suite)
    store = session.history._store
    for run, hour, kept in ((EARLIER, 8, results[:6]), (RUN_ID, 10, results)):
        plan = replace(make_plan(suite.cases, MODELS, run_id=run, path=suite.path), suite=suite)
        store.begin_run(plan, f"{DAY}T{hour:02}:15:00.000+00:00")
        store.save_trials(run, kept)
        state: RunState = "finished" if kept == results else "interrupted"
        store.finish_run(run, state, f"{DAY}T{hour:02}:16:30.500+00:00")
    session.kept = tuple(results)
    return session


def rows_session(folder: Path) -> ScriptedSession:
    """A suite with a data set of many rows, one of which failed."""
    session = new_session(folder)
    path = next(iter(session.suites))
    check = Check("expected_pattern", "parameter")
    rows = [
        Case(
            f"say.{n}", "say a word", "Words", (Step(f"Say {n}.", (check,)),), row=DataRow("say", str(n), {"w": str(n)})
        )
        for n in range(8)
    ]
    session.suites[path] = Opened(suite_of(path, *CASES[:1], *rows, models=MODELS))
    session.kept = tuple(
        make_result(
            TrialKey(case.id, model), "failed" if (case.id, model) == ("say.5", B) else "passed", response=PLAIN
        )
        for case in rows
        for model in MODELS
    )
    return session


def scored_session(folder: Path) -> ScriptedSession:
    """The newer run was scored by two people who differ."""
    session = run_session(folder)
    extents: dict[str, Sequence[Extent]] = {"Anna Able": (0, 3, 1, 0, 2, "n/a"), "Bert Baker": (0, 4, 1, 2, 2, 0)}
    for reviewer, given in extents.items():
        review = session.reviews.open_review(RUN_ID, reviewer, blind=False)
        for item, extent in zip(review.items, given[: 5 if reviewer == "Anna Able" else 6], strict=False):
            review.give(item.key, extent, f"{reviewer.split()[0]} gave {extent}")
    return session


def changes_session(folder: Path) -> ScriptedSession:
    """A suite whose answer changes files of a repository."""
    session, path = ScriptedSession(), Path("suites/bugs.yaml")
    path.parent.mkdir()
    path.write_text("")
    case = case_for("src/bank/accounts.py", id="mend")
    session.suites[path] = Opened(suite_of(path, case, case_for(id="later"), models=(MODEL, "other")))
    session.kept = (applied(folder, {"src/bank/accounts.py": SERVICE, "web/style.css": STYLES}, SEVERAL, case),)
    return _with_history(session, folder)


def two_changes_session(folder: Path) -> ScriptedSession:
    """A suite in which the answers of two models change files of a repository."""
    session = changes_session(folder)
    case = case_for("src/bank/accounts.py", id="mend")
    (folder / "second").mkdir()
    files = {"src/bank/accounts.py": SERVICE, "web/style.css": STYLES}
    text = SERVICE.replace("md5", "sha256").replace("# quick and simple", "# without a salt")
    text = text.replace("total = total + account.balance", "total += account.balance")
    found = applied(folder / "second", files, "Shorter:\n\n" + block(text), case)
    session.kept = (*session.kept, replace(found, trial=found.trial._replace(model="other")))
    return session


def _with_history(session: ScriptedSession, folder: Path) -> ScriptedSession:
    store = SqliteStore(folder / "data" / "runs.sqlite")
    session.keeps = run_history(store, folder / "data", lambda names: tuple(make_subject(name) for name in names))
    session.config = Config(reviewer="Anna Able")
    session.providers = ("openai", "anthropic", "ollama")
    session.environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    session.catalog.lists["openai"] = ListedModels("openai", tuple(f"openai/mock-{size}" for size in SIZES))
    session.catalog.lists["ollama"] = ListedModels("ollama", error="Cannot connect to localhost:11434 (refused).")
    session.scores = Reviews(store, folder / "data", session.config)
    return session


_LOOK_SECONDS, _MOST_SECONDS = 0.05, 15


class CountingApp(AssayApp):
    """The app; it counts how often it has painted."""

    paints = 0

    def post_display_hook(self) -> None:
        """Count one more, by the hook that Textual has for tests."""
        self.paints += 1


class Stage:
    """The running app; what is done to it, and what can be read on its screen."""

    def __init__(self, app: CountingApp, pilot: Pilot[int], session: ScriptedSession) -> None:
        self.app, self.pilot, self.session = app, pilot, session
        self._taken: tuple[int, str] | None = None

    @property
    def picture(self) -> str:
        """The screen as SVG; a new picture is taken only when something was painted since the last one."""
        if self._taken is None or self._taken[0] != self.app.paints:
            self._taken = self.app.paints, take_picture(self.app)
        return self._taken[1]

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(screen_rows(self.app.screen))

    async def press(self, *keys: str) -> None:
        """Press these keys."""
        await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition; the error shows the screen."""
        try:
            await until(self.pilot, condition, what)
        except AssertionError as error:
            raise AssertionError(f"{error}. The screen:\n{self.text}") from None

    async def still(self, seconds: float, until: str = "") -> str:
        """Return the picture that has not changed for so long, or at once the one that is waited for."""
        for line in self.app.screen.query(Input):
            line.cursor_blink = False
        picture, same = self.picture, 0
        for _ in range(round(_MOST_SECONDS / _LOOK_SECONDS)):
            if picture == until or same >= seconds / _LOOK_SECONDS:
                break
            await asyncio.sleep(_LOOK_SECONDS)
            await self.pilot.pause()
            before, picture = picture, self.picture
            same = same + 1 if picture == before else 0
        else:
            raise AssertionError(f"The screen does not come to rest:\n{describe_difference(before, picture)}")
        return picture

    async def shows(self, text: str) -> None:
        """Wait until the text is on the screen."""
        await self.until(lambda: text in self.text, repr(text))

    async def opens(self, kind: type[Screen[Any]]) -> None:
        """Wait until a screen of this class is on top."""
        await self.until(lambda: isinstance(self.app.screen, kind), kind.__name__)


@asynccontextmanager
async def staged(
    make: Callable[[Path], ScriptedSession] | None,
    folder: Path,
    size: tuple[int, int],
    theme: str,
    *,
    notifications: bool = False,
) -> AsyncIterator[Stage]:
    """Run the app with a session that is made in this folder; without one the app waits for it until the end."""
    session, ended = make(folder) if make else ScriptedSession(), Event()

    def open_session() -> ScriptedSession:
        if make is None:
            ended.wait()
        return session

    paths = [Path("suites")] if session.suites else []
    app = CountingApp(open_session, paths, theme=theme, theme_folders=[shipped_folder("themes")])
    try:
        async with app.run_test(size=size, notifications=notifications) as pilot:
            yield Stage(app, pilot, session)
    finally:
        ended.set()


@pytest.fixture
def fixed_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder; the app has no version, its clocks stand still, and the time zone is UTC."""
    _stop_clocks(monkeypatch)
    monkeypatch.setattr(tui, "__version__", "0.0.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    time.tzset()
    return tmp_path


def _stop_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace `time.monotonic` wherever a module of the app has imported it, or has it as a default."""

    def stopped() -> float:
        return 1000.0

    modules, functions = _users_of_the_clock()
    for module in modules:
        monkeypatch.setattr(module, "monotonic", stopped)
    for function in functions:
        given = tuple(stopped if each is time.monotonic else each for each in function.__defaults__ or ())
        monkeypatch.setattr(function, "__defaults__", given)


@cache
def _users_of_the_clock() -> tuple[list[ModuleType], list[FunctionType]]:
    """Return the modules of the app that import `time.monotonic`, and the functions that have it as a default."""
    loaded = [importlib.import_module(each.name) for each in pkgutil.walk_packages(tui.app.__path__, "tui.app.")]
    kinds = [each for module in loaded for each in vars(module).values() if isinstance(each, type)]
    functions = [
        function
        for owner in (*loaded, *kinds)
        for function in vars(owner).values()
        if isinstance(function, FunctionType) and time.monotonic in (function.__defaults__ or ())
    ]
    return [module for module in loaded if getattr(module, "monotonic", None) is time.monotonic], functions
