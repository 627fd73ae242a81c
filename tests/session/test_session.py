"""Opening suites through the session."""

import json
import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer, say
from tests.support.plans import case_of, suite_of
from tests.support.replies import status, whole
from tui.app.run_queue import resolve_models
from tui.model.errors import ConfigError
from tui.model.events import RunFinished, StepFinished, TrialFinished
from tui.model.results import TrialKey
from tui.model.run import Plan
from tui.model.secrets import REMOVED
from tui.model.servers import model_names
from tui.model.tools import OfferedTool
from tui.runner.control import Control
from tui.session import providers, session
from tui.session.consent import data_consent
from tui.session.model_catalog import NewProvider
from tui.session.run_comparison import compare_stored


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


async def test_a_data_file_outside_the_suites_folder_is_read_when_the_user_has_allowed_it(tmp_path: Path) -> None:
    environ = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    opened = session.Session(environ)
    file = tmp_path / "suites" / "suite.yaml"
    file.parent.mkdir()
    for name in ("rows.csv", "other.csv"):
        (tmp_path / name).write_text("town\nParis\n")
    case = "{id: a, name: n, category: c, prompt: '{{town}}?', data: FILE}"
    text = f"name: n\ndescription: d\nmodels: [m]\ntestCases:\n- {case}\n"
    file.write_text(text.replace("FILE", "../rows.csv"))
    loaded = opened.open_suite(file)
    assert (loaded.suite, loaded.outside) == (None, (tmp_path / "rows.csv",))
    opened.allow(data_consent(file, loaded.outside[0]))
    loaded = opened.open_suite(file)
    assert loaded.suite is not None
    assert ([case.steps[0].input for case in loaded.suite.cases], loaded.outside) == (["Paris?"], ())
    file.write_text(text.replace("FILE", "../other.csv"))
    assert opened.open_suite(file).outside == (tmp_path / "other.csv",)
    await opened.close()


async def test_a_run_imports_the_modules_of_its_providers_outside_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, threading.Thread] = {}
    monkeypatch.setattr(providers, "import_provider", lambda kind: threads.setdefault(kind, threading.current_thread()))
    async with ModelServer() as server:
        opened = session_beside(tmp_path, server)
        plan = opened.make_plan(suite_of(case_of("c1")), opened.resolve(["openai/mock-a"]))
        events = [event async for event in opened.run(plan, Control())]
        await opened.close()
    assert isinstance(events[-1], RunFinished)
    assert [kind for kind, thread in threads.items() if thread is not threading.current_thread()] == ["openai"]


async def test_a_plan_of_the_app_has_the_repeats_of_its_trials(tmp_path: Path) -> None:
    opened = session.Session({f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")})
    subjects = opened.resolve(["local/smollm2-135m"])
    trials = tuple(TrialKey("c1", subjects[0].name, repeat) for repeat in (1, 2))
    plan = opened.make_plan(suite_of(case_of("c1"), case_of("c2")), subjects, trials=trials)
    assert (plan.trials, plan.options.repeats) == (trials, 2)
    await opened.close()


async def test_an_agent_does_not_get_the_key_of_a_provider_that_was_added_after_another_agent_ran(
    tmp_path: Path,
) -> None:
    environ = {
        **{f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")},
        "PATH": os.environ["PATH"],
        "ACME_LOGIN": "an ordinary value 4711",
    }
    agent = "import os\ndef agent(input, memory):\n    return {'output': str('ACME_LOGIN' in os.environ)}\n"
    opened = session.Session(environ)

    async def answer_of(name: str) -> str:
        (tmp_path / name).write_text(agent)
        plan = opened.make_plan(suite_of(case_of("c1")), [session.agent_subject(name, tmp_path)])
        events = [event async for event in opened.run(plan, Control())]
        (result,) = [event.result for event in events if isinstance(event, TrialFinished)]
        return result.attempts[-1].steps[-1].response

    assert await answer_of("first.py") == "True", "Assay does not use the variable"
    opened.catalog.add_provider(NewProvider("acme", "openai", "http://localhost:9/v1", "ACME_LOGIN"))
    assert [await answer_of(name) for name in ("first.py", "second.py")] == ["False", "False"]
    await opened.close()


async def test_a_key_that_is_added_during_a_run_is_removed_also_if_its_agent_has_a_key(tmp_path: Path) -> None:
    key = "a-key-of-a-new-provider"
    environ = {
        **{f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")},
        "ACME_KEY": key,
    }

    class Agent(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answer = json.dumps({"output": f"{self.path} {key}"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/agent?x=1;key=key-of-the-agent"
    suite = replace(suite_of(case_of("c1", "one", "two")), agent=url)
    opened, answers = session.Session(environ), list[str]()
    subjects, faults = resolve_models(opened, suite, model_names(suite))
    trials = [TrialKey("c1", name) for name in model_names(suite)]
    plan = opened.make_plan(suite, subjects, trials=trials)
    async for event in opened.run(plan, Control()):
        if isinstance(event, StepFinished):
            answers.append(event.result.response)
            if len(answers) == 1:
                opened.catalog.add_provider(NewProvider("acme", "openai", "http://localhost:9/v1", "ACME_KEY"))
    server.shutdown()
    server.server_close()
    replayed = [event async for event in opened.run(opened.history.plan_replay(plan.run_id), Control())]
    await opened.close()
    recorded = [event.result.response for event in replayed if isinstance(event, StepFinished)]
    assert recorded == [answer.replace(key, REMOVED) for answer in answers]
    assert (answers, faults) == ([f"/agent?x=1;key={REMOVED} {key}", f"/agent?x=1;key={REMOVED} {REMOVED}"], {})


async def test_the_keys_of_providers_that_are_added_while_assay_runs_are_removed_from_details(tmp_path: Path) -> None:
    old, new = "sk-the-first-key-0815", "sk-the-next-key-4711"
    environ = {
        **{f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")},
        "PATH": os.environ["PATH"],
        "OLD_KEY": old,
        "NEW_KEY": new,
    }
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in old + new)
    file = tmp_path / "suite.json"
    case = {"id": "c", "name": "n", "category": "c", "prompt": "q", "assertions": [{"type": "equals", "value": {}}]}
    file.write_text(json.dumps({"name": "s", "description": "d", "models": ["mine/mock-a"], "testCases": [case]}))
    async with ModelServer(lambda _: whole(f'{{"answer": "{escaped}"}}')) as server:
        opened = session.Session(environ)
        opened.catalog.add_provider(NewProvider("mine", "openai", server.url, "OLD_KEY"))
        opened.catalog.add_provider(NewProvider("more", "openai", server.url, "NEW_KEY"))
        suite = opened.open_suite(file).suite
        assert suite is not None
        plan = opened.make_plan(suite, opened.subjects_of(suite), stream=False)
        events = [event async for event in opened.run(plan, Control())]
        await opened.close()
    (result,) = [event.result for event in events if isinstance(event, TrialFinished)]
    (check,) = result.attempts[-1].steps[-1].checks
    assert check.detail.endswith(f'got {{"answer": "{REMOVED * 2}"}}')


def session_beside(folder: Path, server: ModelServer) -> session.Session:
    """Return a session whose folders are in this one and whose provider is the server."""
    folders = {f"ASSAY_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    return session.Session({**folders, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"})


async def test_a_run_is_judged_again_with_the_answers_that_it_has_then(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text("name: n\ninput: hello\n")
    async with ModelServer(lambda _: status(400)) as server:
        opened = session_beside(tmp_path, server)
        suite = opened.open_suite(file).suite
        assert suite is not None

        async def verdict_of(plan: Plan) -> str:
            finished = [event.result async for event in opened.run(plan, Control()) if isinstance(event, TrialFinished)]
            return finished[-1].verdict

        first = opened.make_plan(suite, opened.resolve(["openai/mock-a"]))
        verdicts = [await verdict_of(first), await verdict_of(opened.history.plan_rejudge(first.run_id, suite))]
        server.script = say("yes")
        verdicts.append(await verdict_of(opened.history.plan_errors(first.run_id)))
        verdicts.append(await verdict_of(opened.history.plan_rejudge(first.run_id, suite)))
        await opened.close()
    assert verdicts == ["error", "error", "unchecked", "unchecked"]


async def test_an_answer_is_judged_by_its_own_cost_however_often_it_is_judged_again(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    case = {"id": "c", "name": "n", "category": "c", "prompt": "hello"}
    cases = [{**case, "assertions": [{"type": "cost", "threshold": 0.000001}]}]
    file.write_text(json.dumps({"name": "n", "description": "d", "models": ["openai/mock-a"], "testCases": cases}))
    (tmp_path / "CONFIG").mkdir()
    (tmp_path / "CONFIG" / "config.yaml").write_text("prices: {openai/mock-a: {input: 1, output: 1}}\n")
    async with ModelServer(say("yes")) as server:
        opened = session_beside(tmp_path, server)
        suite = opened.open_suite(file).suite
        assert suite is not None
        plan = opened.make_plan(suite, opened.resolve(["openai/mock-a"]))
        details = []
        for _ in range(3):
            events = [event async for event in opened.run(plan, Control())]
            (result,) = [event.result for event in events if isinstance(event, TrialFinished)]
            (check,) = result.attempts[-1].steps[-1].checks
            details.append((result.verdict, check.detail))
            plan = opened.history.plan_rejudge(plan.run_id, suite)
        await opened.close()
    assert details[0][0] == "failed"
    assert details == details[:1] * 3


async def test_a_run_of_tools_on_the_local_model_does_not_begin(tmp_path: Path) -> None:
    folders = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    opened = session.Session({**folders, "OPENAI_API_KEY": "k"})
    offering = replace(case_of("c1"), tools=(OfferedTool("search", result="x"),))
    (subject,) = opened.resolve(["local/smollm2-135m"])
    plan = opened.make_plan(suite_of(offering, case_of("c2")), [subject])
    with pytest.raises(ConfigError, match="the local model does not support tools, which these cases offer: c1"):
        _ = [event async for event in opened.run(plan, Control())]
    assert opened.store.list_runs() == ()
    assert opened.tools_fault(subject, [case_of("c2")]) is None
    assert opened.tools_fault(replace(subject, provider="openai"), [offering]) is None
    await opened.close()


async def test_a_case_whose_files_have_changed_between_two_runs_is_listed_in_their_comparison(tmp_path: Path) -> None:
    file, sent = tmp_path / "suite.json", tmp_path / "a.txt"
    case = {"name": "n", "category": "c", "prompt": "Is it right?", "expectedPatterns": ["fine"]}
    cases = [{**case, "id": "with", "codeContext": [{"filePath": "a.txt"}]}, {**case, "id": "without"}]
    file.write_text(json.dumps({"name": "n", "description": "d", "models": ["openai/m"], "testCases": cases}))
    sent.write_text("version one")
    folders = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    runs = []
    async with ModelServer(say("fine")) as server:
        opened = session.Session({**folders, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"})
        suite = opened.open_suite(file).suite
        assert suite is not None
        for content in ("version one", "version two", "version two"):
            sent.write_text(content)
            plan = opened.make_plan(suite, opened.resolve(["openai/m"]))
            _ = [event async for event in opened.run(plan, Control())]
            runs.append(plan.run_id)
        changed = [compare_stored(opened.store, tmp_path, runs[2], base).changed_cases for base in runs]
        await opened.close()
    assert changed == [("with",), (), ()]
