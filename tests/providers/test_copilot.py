"""The Copilot provider with a stand-in for the SDK: what it asks of it, and what it says where something is missing."""

import asyncio
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.asking import Heard, a_request, hear
from tests.support.clocks import FakeTime
from tests.support.copilot_sdk import (
    SILENCE,
    AssistantMessageDeltaData,
    FakeSdk,
    GetAuthStatusResponse,
    ModelInfo,
    ModelPolicy,
    Script,
    SessionErrorData,
    answer,
    asked,
    event,
)
from tui.model.errors import ProviderError
from tui.model.provider_messages import Request, Sent, Text, UsageChunk
from tui.model.results import Message, Prompt, Usage
from tui.model.subjects import ProviderSettings, Settings
from tui.providers.copilot import CopilotProvider
from tui.providers.protocol import Reopens

TOKEN = "github_pat_0123456789"
LABEL = "Copilot SDK 1.0.27, runtime 1.0.104, mode empty, no tools, system message: "
LOGIN = "Set COPILOT_GITHUB_TOKEN, GH_TOKEN or GITHUB_TOKEN to a token of an account with Copilot access."


@asynccontextmanager
async def opened(
    sdk: FakeSdk, *, token: str | None = TOKEN, environ: dict[str, str] | None = None, **patience: Any
) -> AsyncIterator[CopilotProvider]:
    settings = ProviderSettings("copilot", "copilot", None, token, "COPILOT_GITHUB_TOKEN")
    waits = FakeTime().patience(pulse_s=0.05, **patience)
    provider = CopilotProvider(settings, environ or {}, secrets=("s3cret-value",), sdk=sdk, patience=waits)
    try:
        yield provider
    finally:
        await provider.close()


async def heard_from(sdk: FakeSdk, request: Request | None = None, **more: Any) -> Heard:
    async with opened(sdk, **more) as provider:
        return await hear(provider, request or a_request())


def content_of(folder: Path | str) -> list[Path] | None:
    return list(Path(folder).iterdir()) if Path(folder).exists() else None


async def test_an_answer_arrives_whole_with_a_note_of_what_answered() -> None:
    heard = await heard_from(FakeSdk(lambda _: answer("Grüß ", "Gott")))
    assert (heard.text, heard.end, heard.error) == ("Grüß Gott", "stop", None)
    assert UsageChunk(Usage(7, 3, 0)) in heard.chunks
    assert heard.notes == [LABEL + "Copilot's own"]
    assert heard.count(Sent) == 1


async def test_text_is_handed_on_while_the_rest_is_still_to_come() -> None:
    go_on = asyncio.Event()
    answer_text = ""
    sdk = FakeSdk(lambda _: [asked(), event(AssistantMessageDeltaData("one")), go_on, *answer("one", " two")[2:]])
    async with opened(sdk) as provider:
        async for chunk in provider.ask(a_request()):
            if isinstance(chunk, Text):
                answer_text += chunk.text
                go_on.set()
    assert answer_text == "one two"


async def test_what_is_asked_of_the_sdk() -> None:
    sdk = FakeSdk()
    environ = {"PATH": "/bin", "COPILOT_CLI_PATH": "/opt/copilot", "OPENAI_API_KEY": "k", "X": "has s3cret-value"}
    turns = [Message("system", "Be kind."), Message("user", "hi there")]
    async with opened(sdk, environ=environ) as provider:
        heard = await hear(provider, a_request(model="gpt-5.2", messages=turns, stream=False))
        (client,) = sdk.clients
        folder = Path(client.options["working_directory"])
        assert client.options == {
            "mode": "empty",
            "connection": "stdio",
            "base_directory": str(folder / "home"),
            "working_directory": str(folder),
            "env": {"PATH": "/bin", "COPILOT_CLI_PATH": "/opt/copilot"},
            "github_token": TOKEN,
            "use_logged_in_user": False,
            "log_level": "error",
        }
        assert content_of(folder) == []
        (session,) = client.sessions
        deny = session.options.pop("on_permission_request")
        assert session.options == {
            "model": "gpt-5.2",
            "streaming": False,
            "available_tools": [],
            "system_message": {"mode": "replace", "content": "Be kind."},
            "infinite_sessions": {"enabled": False},
        }
        with pytest.raises(PermissionError):
            deny(object(), {})
        assert session.prompts == ["hi there"]
        assert heard.notes == [LABEL + "the case's"]
    assert content_of(folder) is None
    assert not client.running


async def test_without_a_token_the_persons_own_login_is_used() -> None:
    sdk = FakeSdk()
    async with opened(sdk, token=None, environ={"COPILOT_HOME": "/mine"}) as provider:
        assert (await hear(provider, a_request())).text == "ok"
        options = sdk.clients[0].options
        assert (options["github_token"], options["use_logged_in_user"]) == (None, True)
        assert options["base_directory"] == "/mine"
    assert sdk.clients[0].sessions[0].options["system_message"] is None


async def test_settings_that_have_no_place_are_noted() -> None:
    heard = await heard_from(FakeSdk(), a_request(settings=Settings(temperature=0.0, seed=7)))
    assert heard.notes[1] == "Not sent, because the Copilot SDK does not support it: temperature, seed"


async def test_one_runtime_serves_many_questions_at_once_and_leaves_nothing_behind() -> None:
    sdk = FakeSdk(lambda prompt: answer(prompt))
    async with opened(sdk) as provider:
        prompts = [str(number) for number in range(30)]
        requests = [
            replace(a_request(text), trial=a_request().trial._replace(case=text), last=True) for text in prompts
        ]
        heard = await asyncio.gather(*(hear(provider, request) for request in requests))
        assert [one.text for one in heard] == prompts
    (client,) = sdk.clients
    assert sdk.starts == 1
    assert sorted(client.deleted) == sorted(session.session_id for session in client.sessions)
    assert len(client.sessions) == 30


def step(number: int, text: str, *, last: bool = False) -> Request:
    before = [Message("user", "a"), Message("assistant", "A")] * number
    return replace(a_request(), prompt=Prompt(text, (*before, Message("user", text))), step=number, last=last)


async def test_the_steps_of_a_case_are_one_conversation() -> None:
    sdk = FakeSdk(lambda prompt: answer(prompt.upper()))
    async with opened(sdk) as provider:
        assert [(await hear(provider, step(n, text, last=n == 2))).text for n, text in enumerate("abc")] == [
            "A",
            "B",
            "C",
        ]
        (session,) = sdk.clients[0].sessions
        assert session.prompts == ["a", "b", "c"]
        # The next attempt begins anew.
        assert (await hear(provider, step(0, "d"))).text == "D"
        assert (await hear(provider, step(0, "e"))).text == "E"
        assert [session.prompts for session in sdk.clients[0].sessions] == [["a", "b", "c"], ["d"], ["e"]]
    assert len(sdk.clients[0].deleted) == 3


async def test_a_conversation_that_is_lost_is_not_begun_in_the_middle() -> None:
    heard = await heard_from(FakeSdk(), step(1, "b"))
    assert str(heard.error) == "the Copilot session was lost. Run the case again."


async def test_models_are_those_that_may_be_asked() -> None:
    sdk = FakeSdk()
    sdk.models = [
        ModelInfo("gpt-5.2", policy=ModelPolicy("enabled")),
        ModelInfo("claude-sonnet-5"),
        ModelInfo("gemini-3", policy=ModelPolicy("disabled")),
        ModelInfo("grok", policy=ModelPolicy("unconfigured")),
        ModelInfo("text-embedding-3-small"),
    ]
    async with opened(sdk) as provider:
        assert await provider.models() == ("claude-sonnet-5", "gpt-5.2")
        sdk.clients[0].killed = True
        with pytest.raises(ProviderError, match="the Copilot runtime exited: CLI process exited"):
            await provider.models()


DOWNLOAD = "Failed to download checksums\n\nIf you are offline, set COPILOT_CLI_PATH to point to a binary."


@pytest.mark.parametrize("moment", ["make_error", "start_error"])
async def test_a_missing_runtime_is_reported_in_the_sdks_words_until_a_new_run_begins(moment: str) -> None:
    sdk = FakeSdk()
    setattr(sdk, moment, RuntimeError(DOWNLOAD))
    async with opened(sdk) as provider:
        heard = [await hear(provider, a_request()) for _ in range(3)]
        assert {str(one.error) for one in heard} == {f"Cannot start Copilot: {DOWNLOAD}"}
        assert {one.error.fault for one in heard if one.error} == {"crashed"}
        assert heard[0].count(Sent) == 0
        assert sdk.starts <= 1
        assert isinstance(provider, Reopens)
        setattr(sdk, moment, None)
        provider.reopen()
        assert (await hear(provider, a_request())).text == "ok"


async def test_nobody_is_logged_in() -> None:
    sdk = FakeSdk()
    sdk.login = GetAuthStatusResponse(False, None, "Not authenticated")
    heard = await heard_from(sdk)
    assert str(heard.error) == f"not logged in to Copilot: Not authenticated. {LOGIN}"
    assert heard.error is not None
    assert heard.error.fault == "unauthorized"
    assert not sdk.clients[0].running
    assert content_of(sdk.clients[0].options["working_directory"]) is None


async def test_no_token_is_quoted() -> None:
    sdk = FakeSdk()
    sdk.start_error = RuntimeError(f"bad token {TOKEN} with s3cret-value")
    heard = await heard_from(sdk)
    assert str(heard.error) == "Cannot start Copilot: bad token [removed key] with [removed key]"
    heard = await heard_from(FakeSdk(lambda _: [event(SessionErrorData("query", f"no {TOKEN}"))]))
    assert str(heard.error) == "Copilot sent an error: no [removed key]"


async def test_without_the_sdk_it_is_reported_what_to_install() -> None:
    heard = await heard_from(cast("FakeSdk", None))
    assert str(heard.error) == (
        "github-copilot-sdk cannot be imported: No module named 'copilot'. Run: pip install github-copilot-sdk"
    )


async def test_the_sdk_is_imported_when_it_is_used_and_logs_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "copilot", cast("Any", FakeSdk()))
    assert (await heard_from(cast("FakeSdk", None))).text == "ok"
    logging.getLogger("copilot.client").warning("in the middle of the screen")
    assert caplog.records == []


def in_turn(*scripts: Sequence[Any]) -> Script:
    rest = list(scripts)
    return lambda _: rest.pop(0) if len(rest) > 1 else rest[0]


async def test_a_limit_is_waited_for_and_the_question_asked_again_in_a_new_session() -> None:
    limit = [asked(), event(SessionErrorData("rate_limit", "slow down"))]
    sdk = FakeSdk(in_turn(limit, limit, answer("well")))
    heard = await heard_from(sdk)
    assert (heard.text, heard.end) == ("well", "stop")
    assert [(wait.reason, wait.wait_ms) for wait in heard.waits] == [
        ("Copilot rate limit reached: slow down", 500),
        ("Copilot rate limit reached: slow down", 1000),
    ]
    assert len(sdk.clients[0].sessions) == 3


async def test_a_refused_login_stops_the_queue() -> None:
    sdk = FakeSdk(lambda _: [asked(), event(SessionErrorData("authentication", "bad"))])
    async with opened(sdk) as provider:
        heard = [await hear(provider, a_request()) for _ in range(2)]
        assert {str(one.error) for one in heard} == {f"Copilot rejected the login: bad. {LOGIN}"}
        assert len(sdk.clients[0].sessions) == 1


async def test_once_text_has_arrived_it_is_kept() -> None:
    failing = [asked(), event(AssistantMessageDeltaData("half")), event(SessionErrorData("query", "m", None, 500))]
    heard = await heard_from(FakeSdk(lambda _: failing))
    assert heard.text == "half"
    assert str(heard.error) == "Copilot failed (500): m. The partial answer is saved; run the case again."
    heard = await heard_from(FakeSdk(lambda _: answer("abcdef")), answer_size=3)
    assert (heard.text, heard.notes[1]) == ("abc", "The answer was truncated at 2.86e-06 MiB")
    assert heard.error is not None
    assert heard.error.fault == "incomplete"


async def test_a_model_that_is_refused() -> None:
    sdk = FakeSdk()
    sdk.session_error = RuntimeError('JSON-RPC Error -32603: model "gpt-9" is not available')
    heard = await heard_from(sdk)
    assert str(heard.error) == 'Copilot refused the request: JSON-RPC Error -32603: model "gpt-9" is not available'


async def test_a_runtime_that_dies_is_noticed_and_started_again() -> None:
    sdk = FakeSdk(in_turn([asked(), SILENCE], answer("well")))
    async with opened(sdk) as provider:
        asking = asyncio.create_task(hear(provider, a_request()))
        while not (sdk.clients and sdk.clients[0].sessions and sdk.clients[0].sessions[0].prompts):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        sdk.clients[0].killed = True
        heard = await asking
        assert str(heard.error) == "the Copilot runtime exited: CLI process exited with code 1"
        assert heard.error is not None
        assert heard.error.fault == "crashed"
        assert (await hear(provider, a_request())).text == "well"
        assert sdk.starts == 2
        assert content_of(sdk.clients[0].options["working_directory"]) is None


async def test_a_silent_runtime_is_not_waited_for_forever() -> None:
    heard = await heard_from(FakeSdk(lambda _: [asked(), SILENCE]), think_s=0.2)
    assert str(heard.error) == "Copilot sent nothing for 0.2 s"


async def test_closing_the_answer_gives_it_up() -> None:
    sdk = FakeSdk(lambda _: [asked(), event(AssistantMessageDeltaData("half")), SILENCE])
    async with opened(sdk) as provider:
        chunks = cast("Any", provider.ask(a_request()))
        async for chunk in chunks:
            if isinstance(chunk, Text):
                break
        await chunks.aclose()
    (session,) = sdk.clients[0].sessions
    assert session.aborted
    assert session.disconnected
    assert sdk.clients[0].deleted == [session.session_id]


async def test_a_runtime_that_does_not_want_to_end_is_killed() -> None:
    sdk = FakeSdk()
    sdk.stop_error = RuntimeError("no")
    assert (await heard_from(sdk)).text == "ok"
    assert not sdk.clients[0].running


async def test_closing_while_it_starts_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for pauses in range(12):
        sdk = FakeSdk()
        async with opened(sdk) as provider:
            asking = asyncio.create_task(hear(provider, a_request()))
            for _ in range(pauses):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        assert all(not client.running for client in sdk.clients)
        assert content_of(tmp_path) == []
