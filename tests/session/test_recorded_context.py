"""All trials of a case get the same files, whatever has become of them since: later in a run, resumed, or replayed."""

import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import Asked, ModelServer, say
from tests.support.replies import Reply
from tests.support.repositories import git, make_repository, write_files
from tui.model.context import PlannedContext
from tui.model.events import ContextRead, RepositoryCloned, TrialFinished
from tui.model.results import TrialKey, TrialResult
from tui.model.run import COMMIT, Plan
from tui.model.secrets import REMOVED
from tui.model.suite import Suite
from tui.reports.render import render_report
from tui.runner.control import Control
from tui.session import context, recorded_context
from tui.session.session import Session

KEY = "sk-test-4711-secret"
CASE = {"name": "n", "category": "c", "prompt": "Go on.", "expectedPatterns": ["ok"]}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(say("ok")) as opened:
        yield opened


@pytest.fixture
async def session(tmp_path: Path, server: ModelServer) -> AsyncIterator[Session]:
    folders = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    opened = Session({**folders, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY})
    yield opened
    await opened.close()


def open_suite(session: Session, folder: Path, *cases: dict[str, Any], **fields: Any) -> Suite:
    """A suite whose cases have the ids `1`, `2`, … and these keys."""
    numbered = [{**CASE, "id": str(number), **case} for number, case in enumerate(cases, 1)]
    options = {"delayBetweenTestsMs": 0}
    suite = {"name": "n", "description": "d", "models": ["openai/a"], "options": options, "testCases": numbered}
    write_files(folder, {"s.json": json.dumps({**suite, **fields})})
    found = session.open_suite(folder / "s.json").suite
    assert found is not None
    return found


async def run(session: Session, plan: Plan) -> tuple[PlannedContext, dict[TrialKey, str]]:
    """What was said of the files before a run, and its verdicts with the errors."""
    events = [event async for event in session.run(plan, Control())]
    planned = next(event.planned for event in events if isinstance(event, ContextRead))
    results = [event.result for event in events if isinstance(event, TrialFinished)]
    return planned, {result.trial: f"{result.verdict}: {result.error}" for result in results}


def plan_of(session: Session, suite: Suite, *models: str) -> Plan:
    return session.make_plan(suite, session.resolve(models or suite.models), stream=False)


def add_model(session: Session, plan: Plan, model: str, cases: Sequence[str]) -> Plan:
    return session.history.plan_again(plan.run_id, [TrialKey(case, model) for case in cases])


def asked(server: ModelServer, model: str) -> list[list[dict[str, str]]]:
    return [each.body["messages"] for each in server.asked if each.model == model]


@pytest.mark.parametrize("most_kept", [64 * 1024 * 1024, 0])
async def test_a_run_that_is_continued_sends_the_files_that_it_has_sent(
    session: Session, server: ModelServer, tmp_path: Path, most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_context, "_MOST_KEPT", most_kept)
    monkeypatch.setattr(context, "_MOST_KEPT", most_kept)
    work = {"work/shared.py": "s = 1\n"}
    write_files(tmp_path, {**work, "own.py": "a = 1\n", "gone.py": "g = 1\n", "same.py": f"key = '{KEY}'\n"})
    named = [{"codeContext": [{"filePath": name}]} for name in ("own.py", "gone.py", "same.py")]
    suite = open_suite(session, tmp_path, {}, *named, repositoryContext={"path": "work"})
    plan = plan_of(session, suite, "openai/a?system=Be brief.")
    _, first = await run(session, plan)
    write_files(tmp_path, {"own.py": "a = 2\n", "work/other.ts": "o\n"})
    (tmp_path / "gone.py").unlink()
    planned, second = await run(session, add_model(session, plan, "openai/b", "1234"))
    assert {*first.values(), *second.values()} == {"passed: None"}
    before = json.dumps(asked(server, "a")).replace("Be brief.\\n\\n", "").replace(KEY, REMOVED)
    assert json.loads(before) == asked(server, "b")
    assert planned.note.endswith("because they differ now: 1, 2, 3, 4.")


@pytest.mark.parametrize("missing", ["work", "own.py"])
async def test_a_run_is_continued_without_its_folder_or_a_file(
    session: Session, server: ModelServer, tmp_path: Path, missing: str
) -> None:
    write_files(tmp_path, {"work/shared.py": "s = 1\n", "own.py": "a = 1\n"})
    own = {"codeContext": [{"filePath": "own.py"}]}
    suite = open_suite(session, tmp_path, {}, own, {}, repositoryContext={"path": "work"})
    plan = session.make_plan(
        suite, session.resolve(suite.models), trials=[TrialKey("1", "openai/a"), TrialKey("2", "openai/a")]
    )
    await run(session, plan)
    (tmp_path / missing).rename(tmp_path / "elsewhere")
    again = add_model(session, plan, "openai/b", "12" if missing == "own.py" else "123")
    assert session.missing_consents(again.suite, again.subjects, saved=True) == ()
    planned, results = await run(session, again)
    assert asked(server, "b") == asked(server, "a")
    assert [results[TrialKey(case, "openai/b")] for case in "12"] == ["passed: None"] * 2
    if missing == "work":
        assert "repositoryContext.path does not exist" in results[TrialKey("3", "openai/b")]
    assert planned.note.endswith("now: 1, 2." if missing == "work" else "now: 2.")


async def test_unchanged_files_are_sent_as_they_are_and_without_a_note(
    session: Session, server: ModelServer, tmp_path: Path
) -> None:
    write_files(tmp_path, {"own.py": f"key = '{KEY}'\n"})
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    plan = plan_of(session, suite)
    await run(session, plan)
    planned, _ = await run(session, add_model(session, plan, "openai/b", "1"))
    assert asked(server, "a") == asked(server, "b")
    assert KEY in str(asked(server, "b"))
    assert planned.note == ""


async def test_recorded_answers_keep_the_files_that_they_answered(session: Session, tmp_path: Path) -> None:
    write_files(tmp_path, {"own.py": "a = 1\n"})
    plan = plan_of(session, open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]}))
    await run(session, plan)
    (tmp_path / "own.py").unlink()
    replay = session.history.plan_replay(plan.run_id)
    _, results = await run(session, replay)
    assert [*results.values()] == ["passed: None"]
    (result,) = session.history.read_trials(replay.run_id, results)
    assert "a = 1" in result.attempts[0].steps[0].prompt.messages[-1].content


async def test_recorded_answers_are_read_once_for_each_model_and_not_in_the_event_loop(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"own.py": "a = 1\n"})
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    plan = plan_of(session, suite, "openai/a", "openai/b")
    await run(session, plan)
    replay = session.history.plan_replay(plan.run_id)
    read, models = session.store.read_recordings, list[str]()

    def read_recordings(run_id: str, model: str) -> tuple[TrialResult, ...]:
        assert threading.current_thread() is not threading.main_thread()
        models.append(model)
        return read(run_id, model)

    def read_run(run_id: str) -> None:
        raise AssertionError(f"all results of {run_id} are read")

    monkeypatch.setattr(session.store, "read_recordings", read_recordings)
    monkeypatch.setattr(session.store, "read_run", read_run)
    _, results = await run(session, replay)
    assert [*results.values()] == ["passed: None"] * 2
    assert models == ["openai/a", "openai/b"]


async def test_other_models_of_a_replay_get_the_files_and_the_system_prompt_of_their_own(
    session: Session, server: ModelServer, tmp_path: Path
) -> None:
    write_files(tmp_path, {"own.py": "a = 1\n"})
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    plan = plan_of(session, suite, "openai/a?system=Be brief.")
    await run(session, plan)
    write_files(tmp_path, {"own.py": "a = 2\n"})
    (replayed,) = session.history.plan_replay(plan.run_id).subjects
    mixed = plan_of(session, suite, replayed.name, "openai/b?system=Be long.")
    planned, _ = await run(session, mixed)
    assert planned.note == ""
    await run(session, add_model(session, mixed, "openai/c?system=Be kind.", "1"))
    for model, system in (("b", "Be long."), ("c", "Be kind.")):
        (messages,) = asked(server, model)
        assert [message["content"] for message in messages if message["role"] == "system"] == [system]
        assert "a = 2" in messages[-1]["content"]


async def test_a_recorded_file_is_sent_without_a_key_that_became_known(
    session: Session, server: ModelServer, tmp_path: Path
) -> None:
    key = "a-key-that-was-in-the-file"
    write_files(tmp_path, {"own.py": f"key = '{key}'\n"})
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    plan = plan_of(session, suite, f"openai/a?system=Say {key}.")
    await run(session, plan)
    write_files(tmp_path, {"own.py": "key = ''\n"})
    session.secrets.add([key])
    await run(session, add_model(session, plan, "openai/b", "1"))
    (messages,) = asked(server, "b")
    assert REMOVED in messages[0]["content"]
    assert (len(messages), key in str(messages)) == (1, False)


async def test_a_run_that_is_continued_with_another_commit_says_so(session: Session, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work", {"a.py": "a = 1\n"})
    plan = plan_of(session, open_suite(session, tmp_path, CASE, repoClone={"repoUrl": "./work"}))
    notes = []
    for models in ("openai/a", "openai/b", "openai/c"):
        if models == "openai/c":
            write_files(repository, {"a.py": "a = 2\n"})
            git(repository, "commit", "-qam", "second")
        later = plan if models == "openai/a" else add_model(session, plan, models, "1")
        cloned = [each async for each in session.run(later, Control()) if isinstance(each, RepositoryCloned)]
        notes.append([note for note in cloned[0].notes if "another commit" in note])
    first, second = git(repository, "log", "--reverse", "--format=%H").decode().split()
    assert notes == [[], [], [f"The run began with another commit: {first}; now it is {second}."]]
    kept = session.store.read_run(plan.run_id)
    assert kept.versions[COMMIT] == f"{first}, then {second}"
    assert "Repository: cloned at 2 commits" in render_report(kept, "markdown")


async def test_a_new_run_reads_the_files_again(session: Session, server: ModelServer, tmp_path: Path) -> None:
    write_files(tmp_path, {"own.py": "a = 1\n"})
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    for text in ("a = 1", "a = 2"):
        write_files(tmp_path, {"own.py": text})
        await run(session, plan_of(session, suite))
        assert text in server.asked[-1].prompt


def change_after_first(change: Callable[[], object]) -> Callable[[Asked], Reply]:
    """A script that changes a file before the first answer."""

    def script(each: Asked) -> Reply:
        if each.model == "a":
            change()
        return say("ok")(each)

    return script


async def test_files_too_large_to_be_kept_are_an_error_when_they_change_during_the_run(
    session: Session, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_MOST_KEPT", 0)
    write_files(tmp_path, {"own.py": "a = 1\n"})
    server.script = change_after_first(lambda: write_files(tmp_path, {"own.py": "a = 2\n"}))
    suite = open_suite(session, tmp_path, {"codeContext": [{"filePath": "own.py"}]})
    _, results = await run(session, plan_of(session, suite, "openai/a", "openai/b"))
    assert results[TrialKey("1", "openai/a")] == "passed: None"
    assert "have changed while the run was in progress" in results[TrialKey("1", "openai/b")]
    assert not asked(server, "b")


async def test_a_file_that_could_not_be_read_stays_an_error_for_all_models(
    session: Session, server: ModelServer, tmp_path: Path
) -> None:
    write_files(tmp_path, {"own.py": "a = 1\n", "late.py": ""})
    server.script = change_after_first(lambda: write_files(tmp_path, {"late.py": "b = 1\n"}))
    suite = open_suite(session, tmp_path, *({"codeContext": [{"filePath": name}]} for name in ("own.py", "late.py")))
    (tmp_path / "late.py").unlink()
    _, results = await run(session, plan_of(session, suite, "openai/a", "openai/b"))
    assert [each.partition(":")[0] for each in results.values()] == ["passed", "error", "passed", "error"]
