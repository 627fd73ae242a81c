"""Opening suites through the session."""

import threading
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.plans import case_of, suite_of
from tui.model.events import RunFinished
from tui.runner.control import Control
from tui.session import providers, session


def test_an_unexpected_exception_is_a_problem_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_kind: str, _pattern: str) -> str | None:
        raise TypeError("not\x1b[31m expected")

    monkeypatch.setattr(session, "pattern_error", fail)
    file = tmp_path / "suite.yaml"
    file.write_text("input: hello\nassert: {output.matches: x}\n")
    loaded = session.open_suite(file)
    assert loaded.suite is None
    assert list(map(str, loaded.problems)) == [
        f"{file}: error: file: cannot be read: TypeError: not␛[31m expected; please report this error"
    ]


async def test_a_run_imports_the_modules_of_its_providers_outside_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, threading.Thread] = {}
    monkeypatch.setattr(providers, "import_provider", lambda kind: threads.setdefault(kind, threading.current_thread()))
    async with ModelServer() as server:
        environ = {
            **{f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")},
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
        }
        opened = session.Session(environ)
        plan = opened.make_plan(suite_of(case_of("c1")), opened.resolve(["openai/mock-a"]))
        events = [event async for event in opened.run(plan, Control())]
        await opened.close()
    assert isinstance(events[-1], RunFinished)
    assert [kind for kind, thread in threads.items() if thread is not threading.current_thread()] == ["openai"]
