"""The program that runs a Python agent file: one request per line in, one answer per line out.

It uses descriptors that the agent does not see. The guard loads it, or another Python runs it (3.9 or newer): it uses
the standard library only. A request is
`{"id", "input", "memory"}`; an answer is `{"id", "answer": {…}}`, or `{"id", "fault": sentence, "over": bool}` if the
agent gave none; `over` says that the process ends. The id is random: other lines on the descriptor are no answers.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, BinaryIO

_LONGEST_ANSWER = 16 << 20
_LONGEST_MESSAGE = 500
_LONGEST_NAME = 100


class _Unusable(Exception):
    """The agent gave no answer; the text is shown after `agent flight.py`."""

    def __init__(self, sentence: str, *, over: bool = False) -> None:
        super().__init__(sentence)
        self.over = over


def serve(path: str) -> None:
    """Load the agent and answer requests until the input ends."""
    requests, answers = _private_pipes()
    home = os.getpid()
    try:
        agent = _load(path)
    except _Unusable as fault:
        if line := requests.readline():
            _reply(answers, json.loads(line), _fault_line(fault))
        return
    wait = _Waiter()
    for line in requests:
        request = json.loads(line)
        try:
            line, over = _answer(agent, path, request["input"], request["memory"], wait), False
        except _Unusable as fault:
            line, over = _fault_line(fault), fault.over
        if os.getpid() != home:  # the agent forked, and this is the child process
            os._exit(0)
        sys.stdout.flush()
        sys.stderr.flush()
        _reply(answers, request, line)
        if over:
            return


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the two pipes to Assay, moved away from descriptors 0 and 1; the agent's output goes to stderr."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    return requests, answers


def _reply(answers: BinaryIO, request: dict[str, Any], fields: bytes) -> None:
    """Write the answer to a request: its id, and the encoded fields of the answer."""
    answers.write(b'{"id":"%s",%s}\n' % (request["id"].encode(), fields))
    answers.flush()


def _fault_line(fault: _Unusable) -> bytes:
    return b'"fault":%s,"over":%s' % (json.dumps(str(fault)).encode(), json.dumps(fault.over).encode())


def _load(path: str) -> Callable[..., Any]:
    folder, file = os.path.split(path)
    sys.argv = [path]
    try:
        os.chdir(folder)
        _use_no_bytecode(folder)
        sys.path.insert(0, folder)
        module = _import_file(os.path.splitext(file)[0], path)
    except SyntaxError as error:
        if error.filename != path:
            raise _Unusable(f"cannot be loaded: {_describe(error, path)}", over=True) from None
        raise _Unusable(f"has a syntax error: {error.msg} (line {error.lineno})", over=True) from None
    except SystemExit as error:
        raise _Unusable(f"called {_exit_call(error)} while being loaded", over=True) from None
    except BaseException as error:  # noqa: BLE001 - whatever the file does is the agent's
        raise _Unusable(f"cannot be loaded: {_describe(error, path)}", over=True) from None
    agent = getattr(module, "agent", None)
    if not callable(agent):
        raise _Unusable("has no function named agent; define `def agent(input, memory)`", over=True)
    _check_signature(agent)
    return agent  # type: ignore[no-any-return]


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """A loader that compiles the source: what the user allowed is the source, and bytecode may contain other code."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _use_no_bytecode(folder: str) -> None:
    """Import the modules in the agent's folder from their source; other modules, such as installed ones, as usual."""
    machinery = importlib.machinery
    loaders = (
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (_SourceLoader, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )
    inside = machinery.FileFinder.path_hook(*loaders)

    def hook(path: str) -> Any:
        if path != folder and not path.startswith(os.path.join(folder, "")):
            raise ImportError("not in the folder of the agent", path=path)
        return inside(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


def _import_file(name: str, path: str) -> ModuleType:
    name = name if name.isidentifier() and name not in sys.modules else "_assay_agent"
    loader = _SourceLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def _check_signature(agent: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(agent)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("", {})
    except TypeError:
        wrong = f"has a function agent{signature}; expected two arguments: agent(input, memory)"
        raise _Unusable(wrong, over=True) from None


class _Waiter:
    """Runs coroutines on one event loop, created for the first coroutine."""

    def __init__(self) -> None:
        self._runner: Any = None

    def __call__(self, awaitable: Any) -> Any:
        import asyncio

        async def whole() -> Any:
            return await awaitable

        if self._runner is None:
            # Before Python 3.11 there is no Runner; an interrupt then ends the agent, as its error.
            self._runner = asyncio.Runner() if hasattr(asyncio, "Runner") else asyncio.new_event_loop()
            if not hasattr(asyncio, "Runner"):
                asyncio.set_event_loop(self._runner)
        run = getattr(self._runner, "run", None) or self._runner.run_until_complete
        return run(whole())


def _answer(agent: Callable[..., Any], path: str, text: str, memory: Any, wait: _Waiter) -> bytes:
    try:
        given = agent(text, memory)
        if inspect.isawaitable(given):
            given = wait(given)
    except SystemExit as error:
        raise _Unusable(f"called {_exit_call(error)}", over=True) from None
    except BaseException as error:  # noqa: BLE001 - whatever the function does is the agent's
        over = not isinstance(error, Exception) or isinstance(error, MemoryError)
        raise _Unusable(f"raised {_describe(error, path)}", over=over) from None
    return _encode(given, memory)


def _encode(given: Any, memory: Any) -> bytes:
    """Return the answer as one encoded field. An agent that returns no memory sends back the one it was given."""
    if not isinstance(given, dict):
        raise _Unusable(
            f"returned an invalid answer: expected an object with output, tools_used and memory, got {_kind(given)}"
        )
    answer = dict(given)
    if answer.get("memory") is None:
        answer["memory"] = memory
    if isinstance(answer.get("tools_used"), (list, tuple)):
        answer["tools_used"] = [_plain_tool(tool) for tool in answer["tools_used"]]
    keys = [key for key in ("output", "tools_used", "memory") if key in answer]
    parts = [f'"{key}":{_json_of(key, answer[key])}' for key in keys]
    line = f'"answer":{{{",".join(parts)}}}'.encode(errors="replace")
    if len(line) > _LONGEST_ANSWER:
        raise _Unusable(f"answered with {len(line) / (1 << 20):.0f} MiB; the limit is 16 MiB")
    return line


def _json_of(key: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        why = "it contains NaN or infinity" if "JSON compliant" in str(error) else _cut(str(error))
    except Exception as error:  # noqa: BLE001 - classes of the agent are in it
        why = _cut(f"{error}")
    raise _Unusable(f"returned an invalid answer: its {key} cannot be serialized as JSON: {why}")


def _plain_tool(tool: Any) -> Any:
    """Return a tool as plain data; objects with a `name` may be of any class."""
    if isinstance(tool, (str, dict)):
        return tool
    name = getattr(tool, "name", None)
    return {"name": name} if isinstance(name, str) else tool


def _exit_call(error: SystemExit) -> str:
    return "sys.exit()" if error.code is None else _cut(f"sys.exit({error.code!r})")


def _cut(message: str) -> str:
    """Return a message that is not too long. `…` shows Assay where a key may have been cut."""
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "…"


def _kind(value: Any) -> str:
    return "nothing (None)" if value is None else f"{type(value).__name__}"


def _describe(error: BaseException, path: str) -> str:
    """Return an error as `KeyError: 'x' (line 12)`, with the last line in the agent's own file."""
    try:
        message = _cut(str(error))
    except Exception:  # noqa: BLE001 - the agent's own __str__
        message = ""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    named = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return (f"{named} (line {line})" if line else named) + _missing_module(error)


def _missing_module(error: BaseException) -> str:
    """Return what to do about a module that is not installed, as a sentence that is added to the error."""
    if not isinstance(error, ModuleNotFoundError) or not isinstance(error.name, str) or not error.name:
        return ""
    name = error.name[:_LONGEST_NAME]
    python = sys.executable
    return f". The agent needs the module {name}, which {python} does not have; install it there or pass --agent-python"


def _limit_memory(size: int) -> None:
    """Limit the memory of this process, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


if __name__ == "__main__":
    if sys.path[:1] == [os.path.dirname(os.path.realpath(__file__))]:
        del sys.path[0]  # the modules beside this file are not the agent's
    if len(sys.argv) > 2:
        _limit_memory(int(sys.argv[2]))
    serve(sys.argv[1])
