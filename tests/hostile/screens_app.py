"""The app with a canary in every field that is text: `python -m tests.hostile.screens_app FOLDER [broken]`.

It writes the name of each screen that it shows to the file `screens` in the folder, and a `-` for each that is closed.
With `broken`, the session cannot be opened.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from textual.screen import Screen

from tests.support.kept_runs import STARTED, hostile_run, make_plan, make_result, small_run
from tests.support.scripted_app import session_at
from tests.support.scripted_session import ScriptedSession
from tui.app.app import AssayApp
from tui.app.dialogs import ConfirmScreen
from tui.app.main import run_and_close
from tui.model.errors import StoreError
from tui.model.subjects import ProviderSettings
from tui.model.suite import Case, Check, RepositoryContext, Suite
from tui.model.tools import OfferedTool
from tui.model.values import JsonObject
from tui.session.consent import Consent
from tui.session.models import ListedModels
from tui.store.sqlite import SqliteStore

CONTROLS = "".join(map(chr, [*range(1, 9), 11, 12, *range(13, 32), *range(0x7F, 0xA0)]))
SEQUENCES = (
    "\x1b]0;owned\x07\x1b]2;owned\x1b\\\x1b]8;;http://owned.example\x1b\\link\x1b]8;;\x1b\\\x1b]52;c;b3duZWQ=\x07"
    "\x1b[31m\x1b[2J\x1b[6n\x1b[?1049l\x1bPowned\x1b\\\x1b_owned\x1b\\\x1bc\x9b31m\x9d0;owned\x9c\x90owned\x9c"
)
UNSEEN = "\u202e\u2066\u2069\u200b\u200d\u200e\u2028\u2060\ufeff\u00ad\ufe0f\ufffe\ufdd0\U0001ffff\U000e0041"
MARKUP = "[/foo] [bold]b[/] [@click=app.quit]x[/] [link=http://owned.example]y[/link] [$accent on red]z"
CANARY = f"canary {SEQUENCES}{UNSEEN} {MARKUP} \x00{CONTROLS}"
"""Text of which no sequence may reach the terminal. It begins with a word by which it is found on the screen."""


class HostileApp(AssayApp):
    """The app, which records the screens that it shows."""

    def __init__(self, folder: Path, *args: Any, **options: Any) -> None:
        self._shown = folder / "screens"
        super().__init__(*args, **options)

    def push_screen(self, screen: Any, *args: Any, **options: Any) -> Any:
        self._record(screen)
        return super().push_screen(screen, *args, **options)

    def pop_screen(self) -> Any:
        popped = super().pop_screen()
        self._write("-")
        return popped

    def get_default_screen(self) -> Screen[None]:
        screen = super().get_default_screen()
        self._record(screen)
        return screen

    def add_mode(self, mode: str, base_screen: Any) -> None:
        self._record(base_screen())
        super().add_mode(mode, base_screen)

    def _record(self, screen: object) -> None:
        self._write(type(screen).__name__)

    def _write(self, line: str) -> None:
        with self._shown.open("a") as file:
            file.write(f"{line}\n")


def hostile_session(folder: Path) -> ScriptedSession:
    """Return a session with suites, models, consents, saved runs and scores of which every text is the canary."""
    store = SqliteStore(folder / "runs.sqlite")
    text = CANARY
    for number, kept in enumerate((small_run(), hostile_run(text))):
        plan = replace(kept.plan, run_id=f"{number}{'a' * 31}")
        store.begin_run(plan, STARTED)
        store.save_trials(plan.run_id, kept.results)
        store.finish_run(plan.run_id, "finished", STARTED)
    store.close()
    session = session_at(folder, "hostile", f"{text} \ud800")
    path = folder / "a.yaml"
    opened = session.suites[path]
    assert opened.suite is not None
    models = (*opened.suite.models, f"c {text}")
    cases = tuple(map(_with_check_and_tool, opened.suite.cases))
    suite = replace(
        opened.suite, models=models, cases=cases, folder=str(folder), repository_context=_hostile_files(folder)
    )
    session.suites[path] = replace(opened, suite=suite)
    _keep_answers(folder, suite)
    session.unresolved = {models[2]: text}
    server = ProviderSettings(text, "openai", "http://127.0.0.1:1/v1", key_name=text, api_key="k")
    providers = {
        f"a {text}": server,
        f"b {text}": replace(server, base_url=text),
        text: replace(server, missing=(text,)),
    }
    session.config = replace(session.config, providers=providers)
    file = session.folders.config_file
    file.parent.mkdir()
    entries = {text: {"id": text, "system": text}}
    file.write_text(yaml.safe_dump({"models": entries, "keys": {text: text}, "risk": {"guidance": [text] * 5}}))
    session.project = folder / ".assay.yaml"
    session.project.write_text(yaml.safe_dump({text: text, "review": {"mask": ["canary"]}}))
    session.catalog.lists[f"a {text}"] = ListedModels(text, (text, f"d {text}"), None)
    checks: JsonObject = {"expectedPatterns": [text], "assertions": [{"type": "contains", "value": text}]}
    texts: JsonObject = dict.fromkeys(("id", "name", "category", "prompt", "testType", text), text)
    session.draft = {**texts, **checks}
    session.consents = [Consent("commands", text, text)]
    return session


def _hostile_files(folder: Path) -> RepositoryContext:
    """Write files of which each name is a part of the canary, and return a context that selects them."""
    work = folder / "work"
    work.mkdir()
    (work / "file.py").write_text(CANARY.replace("\0", ""))
    for part in (SEQUENCES, UNSEEN, MARKUP):
        name = part.replace("/", "").replace("\0", "")[:60]
        (work / f"canary {name}.py").write_text(CANARY)
    return RepositoryContext("work", include_files=("*", CANARY), languages=("python", CANARY))


def _with_check_and_tool(case: Case) -> Case:
    """Return a case with a first check that the check editor accepts, and with a tool."""
    step = case.steps[0]
    checked = replace(step, checks=(Check("expected_pattern", "canary"), *step.checks))
    tool = OfferedTool(CANARY, CANARY, {CANARY: CANARY}, CANARY)
    return replace(case, steps=(checked, *case.steps[1:]), tools=(tool,))


def _keep_answers(folder: Path, suite: Suite) -> None:
    """Save a run of the suite, older than the others."""
    store = SqliteStore(folder / "runs.sqlite")
    plan = replace(make_plan(suite.cases, [CANARY], run_id="00" + "a" * 30), suite=suite)
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(key, "failed", response=CANARY) for key in plan.trials])
    store.finish_run(plan.run_id, "finished", STARTED)
    store.close()


def run(folder: Path, *, broken: bool) -> int:
    """Run the app until it quits, and return the exit code."""

    def open_session() -> ScriptedSession:
        if broken:
            raise StoreError(CANARY, where=CANARY, fix=CANARY)
        return hostile_session(folder)

    ConfirmScreen.quiet_seconds = 0.0  # the visitor reads no question
    app = HostileApp(folder, open_session, [folder], theme=CANARY)
    return asyncio.run(run_and_close(app))


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), broken="broken" in sys.argv))
