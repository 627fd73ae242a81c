"""The agent provider: a Python file, a command that speaks JSON lines, or an HTTP endpoint."""

import asyncio
import os
import shlex
import shutil
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from tui.model.current_folder import real_path
from tui.model.environ import without_keys
from tui.model.errors import ProviderError
from tui.model.provider_messages import (
    CallTree,
    Chunk,
    End,
    MemoryChunk,
    NoteChunk,
    Request,
    Text,
    ToolCall,
    UsageChunk,
)
from tui.model.sanitize import sanitize_line
from tui.model.subjects import AGENT_COMMAND, AGENT_URLS, ProviderSettings, Subject, agent_fault
from tui.providers.agents.answers import AgentAnswer
from tui.providers.agents.process import ProcessAgent, ProcessLimits
from tui.providers.processes.worker import Launch
from tui.providers.protocol import Limits, Reopens

_MEMORY_BYTES = 2 << 30
_MOST_AT_ONCE = 16
_RUNNER = Path(__file__).parent / "agents" / "runner.py"


class Agent(Protocol):
    """One agent, of any of the three kinds."""

    def answer(self, request: Request) -> AsyncGenerator[Chunk | AgentAnswer, None]:
        """Yield `Sent` and `Waiting` events, then the answer. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close the agent's processes and connections."""
        ...


class AgentProvider:
    """The provider of all agents.

    `Request.subject.model_id` selects the agent: the path of a `.py` file, `cmd:COMMAND ARG…` or an `http(s)://` URL.
    A file is run by the interpreter `Request.subject.python`, or by this process's own if that is empty.

    Processes get `environ` without variables that look like keys and without the values in `secrets`. A Python file
    may use `memory_bytes`; at most `most_at_once` processes answer at the same time, other steps wait before their
    clock starts.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        environ: Mapping[str, str] | None = None,
        *,
        secrets: Collection[str] = (),
        memory_bytes: int = _MEMORY_BYTES,
        most_at_once: int = _MOST_AT_ONCE,
    ) -> None:
        self._settings = settings
        self._environ = without_keys(os.environ if environ is None else environ, secrets)
        # Of Pythons that an agent starts: they must not use that of the agent's folder, which the user did not allow.
        self._bytecode: TemporaryDirectory[str] | None = None
        self._memory_bytes = memory_bytes
        self._limits = ProcessLimits(most_at_once)
        self._agents: dict[tuple[str, str], Agent] = {}
        self._most: int | None = None

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Run one step: yield `Sent`, the output, its calls and tokens, the memory and `End`.

        Raises ProviderError.
        """
        async with aclosing(self._agent(request.subject).answer(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, AgentAnswer):
                    for chunk in _chunks_of(piece, request):
                        yield chunk
                else:
                    yield piece

    async def models(self) -> tuple[str, ...]:
        """Return no models: an agent is named by the user, not listed."""
        return ()

    def allow(self, most: int) -> int:
        """Limit the concurrent requests to each agent behind a URL and return the current limit."""
        self._most = most
        return min((agent.allow(most) for agent in self._agents.values() if isinstance(agent, Limits)), default=most)

    def reopen(self) -> None:
        """Prepare for a new run: reset the limits of concurrent requests, and use new processes."""
        self._most = None
        for agent in self._agents.values():
            if isinstance(agent, Reopens):
                agent.reopen()

    async def close(self) -> None:
        """End every process and return when all have ended."""
        agents = list(self._agents.values())
        self._agents.clear()
        await asyncio.gather(*(agent.close() for agent in agents))
        if self._bytecode is not None:
            self._bytecode.cleanup()
            self._bytecode = None

    def _agent(self, subject: Subject) -> Agent:
        key = (subject.model_id, subject.python)
        agent = self._agents.get(key)
        if agent is None:
            agent = self._agents[key] = self._open(*key)
            if self._most is not None and isinstance(agent, Limits):
                agent.allow(self._most)
        return agent

    def _open(self, model_id: str, python: str) -> Agent:
        if model_id.startswith(AGENT_URLS):
            from tui.providers.agents.endpoint import EndpointAgent  # imports the HTTP library

            return EndpointAgent(model_id, self._settings.proxy)
        if model_id.startswith(AGENT_COMMAND):
            name, launch = f"agent {sanitize_line(model_id, 80)}", self._command(model_id)
            return ProcessAgent(name, launch, None, self._limits)
        if fault := agent_fault(model_id, python):
            raise ProviderError("not_found", f"agent {sanitize_line(model_id, 80)}: {fault}")
        path = Path(real_path(model_id))  # the question for a consent names the target of a link
        if path.suffix != ".py":
            raise ProviderError(
                "not_found",
                f"{sanitize_line(model_id)} is not an agent",
                fix="Use a .py file, cmd:COMMAND or an http:// URL.",
            )
        environ = {**self._environ, "ASSAY_AGENT_BYTECODE": self._bytecode_folder()}
        launch = Launch((str(path),), environ, _RUNNER, self._memory_bytes)
        if python:
            words = (python, str(_RUNNER), str(path), str(self._memory_bytes))
            launch = Launch(words, environ, is_reused=True)
        return ProcessAgent(f"agent {sanitize_line(path.name, 80)}", launch, path, self._limits, python)

    def _command(self, model_id: str) -> Launch:
        try:
            words = shlex.split(model_id.removeprefix(AGENT_COMMAND))
        except ValueError as error:
            raise ProviderError("not_found", f"agent {sanitize_line(model_id)} cannot be read: {error}") from None
        if not words:
            raise ProviderError("not_found", "agent cmd: has no command", fix="Use cmd:COMMAND ARG…")
        if shutil.which(words[0], path=self._environ.get("PATH", os.defpath)) is None:
            raise ProviderError(
                "not_found",
                f"agent {sanitize_line(model_id)}: program {sanitize_line(words[0], 80)} not found",
            )
        return Launch(tuple(words), {**self._environ, "PYTHONPYCACHEPREFIX": self._bytecode_folder()})

    def _bytecode_folder(self) -> str:
        """Return the folder for the bytecode of agents: what the user allowed is the source, and no cache beside it."""
        if self._bytecode is None:
            try:
                self._bytecode = TemporaryDirectory(prefix="assay-agent-", ignore_cleanup_errors=True)
            except OSError as error:
                what = f"cannot create a temporary folder ({error.strerror})"
                raise ProviderError("crashed", what, fix="Free disk space, or set TMPDIR.") from error
        return self._bytecode.name


def _chunks_of(answer: AgentAnswer, request: Request) -> Iterator[Chunk]:
    if answer.output:
        yield Text(answer.output)
    for tool in answer.tools:
        yield ToolCall(tool.name, tool.arguments, tool.result, tool.duration_ms)
    if answer.calls:
        yield CallTree(answer.calls)
    if answer.usage is not None:
        yield UsageChunk(answer.usage)
    yield from map(NoteChunk, answer.notes)
    yield MemoryChunk(request.memory if answer.memory is None else answer.memory)
    yield End("stop")
