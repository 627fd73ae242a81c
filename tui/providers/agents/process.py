"""The agent that runs in processes of its own: a Python file or a command."""

import asyncio
import json
import os
import secrets
from collections.abc import AsyncGenerator, Hashable
from contextlib import suppress
from pathlib import Path

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, Request, Sent
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonObject
from tui.providers.agents.answers import AgentAnswer, InvalidAnswer, parse_json, read_answer, read_aside
from tui.providers.agents.interpreter import running_fault
from tui.providers.agents.pool import Pool
from tui.providers.processes.worker import Launch, Worker, WorkerLost

_LONGEST_FAULT = 1_200  # with the path of an interpreter in it


class _Refused(Exception):
    """The agent's process reported why there is no answer; `over` says that it ended afterwards."""

    def __init__(self, sentence: str, *, over: bool) -> None:
        super().__init__(sentence)
        self.over = over


class _Left(Exception):
    """The process of a command that serves one answer had exited without an error before the next step."""


class ProcessLimits(asyncio.Semaphore):
    """The limits of concurrent and of idle processes, shared by all agents."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self.places = places


class ProcessAgent:
    """Sends steps to the processes of one agent.

    `name` begins every error message; `file` is the Python file, None for a command. `python` is the interpreter that
    runs the file, if it is not this process's own; it is checked before the first step.
    """

    def __init__(self, name: str, launch: Launch, file: Path | None, limits: ProcessLimits, python: str = "") -> None:
        self._name, self._file, self._limits = name, file, limits
        self._unchecked_python, self._environ = python, launch.environ
        self._pool = Pool(launch, lambda: (self._runs, self._state_of_folder()), limits.places)
        self._runs = 0

    async def answer(self, request: Request) -> AsyncGenerator[Chunk | AgentAnswer, None]:
        """Yield `Sent`, then the answer. Raises ProviderError("crashed"). Closing the generator kills the process."""
        if self._file is not None and not self._file.is_file():
            place = sanitize_line(str(self._file))
            raise ProviderError("not_found", f"{self._name} does not exist", fix=f"Searched for {place}.")
        async with self._limits:
            if self._unchecked_python:
                await self._check_python(self._unchecked_python)
            await self._pool.settle(request.trial)
            yield Sent()
            try:
                answer = await self._answer_with(await self._take(request), request)
            except _Left:
                answer = await self._answer_with(await self._take(request), request)
        yield answer

    def reopen(self) -> None:
        """Use new processes from now on: a run uses the code that its question was about, with all that it imports."""
        self._runs += 1

    async def close(self) -> None:
        """End the agent's processes and return when all have ended."""
        await self._pool.close()

    async def _check_python(self, python: str) -> None:
        if fault := await running_fault(python, self._environ):
            raise ProviderError(
                "not_found",
                f"{self._name}: {sanitize_line(python, 200)} {fault}",
                fix="Correct agent.python in the suite, or pass --agent-python.",
            )
        self._unchecked_python = ""

    async def _take(self, request: Request) -> Worker:
        try:
            return await self._pool.take(request.trial, request.step)
        except OSError as error:
            raise ProviderError("crashed", f"{self._name} cannot be started: {error.strerror}") from None

    async def _answer_with(self, worker: Worker, request: Request) -> AgentAnswer:
        may_leave = self._file is None and worker.answered_at is not None
        healthy = False
        try:
            answer = await self._ask(worker, request)
            healthy = True
        except _Refused as refusal:
            healthy = not refusal.over
            raise self._fault(str(refusal), worker) from None
        except InvalidAnswer as error:
            raise self._fault(f"sent an invalid answer: {error}", worker) from None
        except WorkerLost as error:
            if may_leave and worker.ended_well:
                raise _Left from None
            raise self._fault(str(error), worker) from None
        finally:
            if healthy:
                self._pool.give_back(worker, request.trial, is_last=request.last)
            else:
                await worker.end()
        return answer

    async def _ask(self, worker: Worker, request: Request) -> AgentAnswer:
        question: JsonObject = {"input": request.prompt.input, "memory": request.memory}
        if self._file is None:
            line = await worker.ask(json.dumps(question).encode())
            return await read_aside(lambda: read_answer(parse_json(line)), len(line))
        question["id"] = secrets.token_hex(8)
        line = await worker.ask(json.dumps(question).encode())
        value = await read_aside(lambda: parse_json(line), len(line))
        # The agent can write to the descriptor of the answers. Only the runner knows the id of the request.
        if not isinstance(value, dict) or value.get("id") != question["id"]:
            raise InvalidAnswer("its process wrote output outside of a step")
        if worker.is_out_of_turn:
            raise WorkerLost("answered more than once for one step")
        if "fault" in value:
            raise _Refused(sanitize_line(str(value["fault"]), _LONGEST_FAULT), over=bool(value.get("over")))
        answer = value.get("answer")
        return await read_aside(lambda: read_answer(answer), len(line))

    def _fault(self, sentence: str, worker: Worker) -> ProviderError:
        words = worker.last_words
        return ProviderError(
            "crashed", f"{self._name} {sentence}" + (f".\nOutput of the process:\n{words}" if words else "")
        )

    def _state_of_folder(self) -> Hashable:
        """Return a value that changes with the Python files beside the agent, so that the next trial runs new code."""
        if self._file is None:
            return None
        found = []
        with suppress(OSError), os.scandir(self._file.parent) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    with suppress(OSError):  # a link to no file, such as the lock of an editor
                        stat = entry.stat()
                        found.append((entry.name, stat.st_mtime_ns, stat.st_size))
        return tuple(sorted(found))
