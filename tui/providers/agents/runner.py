"""The program that runs a Python agent file: one request per line in, one answer per line out.

It uses descriptors that the agent does not see. The guard loads it, or another Python runs it (3.9 or newer): it uses
the standard library, and OpenTelemetry where the agent does. A request is `{"id", "input", "memory"}`; an answer is
`{"id", "answer": {…}}`, or `{"id", "fault": sentence, "over": bool}` if the agent gave none; `over` says that the
process ends. The id is random: other lines on the descriptor are no answers.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, BinaryIO

_LONGEST_ANSWER = 16 << 20
_BYTECODE_VARIABLE = "ASSAY_AGENT_BYTECODE"
"""The folder for the bytecode of Pythons that the agent starts."""
_LONGEST_MESSAGE = 500
_LONGEST_NAME = 100
_MOST_SPANS, _LONGEST_SPANS = 1_000, 8 << 20  # of one answer: more than Assay keeps
_LONGEST_ATTRIBUTE = 8_000  # twice of what Assay keeps, which removes keys before it cuts


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
    wait, spans = _Waiter(), _SpanCollector()
    for line in requests:
        request = json.loads(line)
        spans.begin()
        try:
            given = _call(agent, path, request["input"], request["memory"], wait)
            line, over = _encode(given, request["memory"], spans), False
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


def _use_no_bytecode(folder: str) -> None:
    """Compile the modules in the agent's folder from their source: what the user allowed is the source.

    A bytecode cache may contain other code. Every loader of Python asks for the place of the cache, whichever way a
    module is imported; it gets none in the folder. Other modules, such as installed ones, are imported as usual, and
    Pythons that the agent starts use caches of their own.
    """
    external: Any = importlib._bootstrap_external
    usual = external.cache_from_source
    inside = os.path.join(os.path.realpath(folder), "")

    def cache_from_source(path: Any, *args: Any, **options: Any) -> str:
        if os.path.realpath(path).startswith(inside) or os.path.abspath(path).startswith(inside):
            raise NotImplementedError("no bytecode in the folder of the agent")
        found: str = usual(path, *args, **options)
        return found

    external.cache_from_source = cache_from_source
    if bytecode := os.environ.pop(_BYTECODE_VARIABLE, ""):
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode


def _import_file(name: str, path: str) -> ModuleType:
    name = name if name.isidentifier() and name not in sys.modules else "_assay_agent"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
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


class _SpanCollector:
    """Collects the spans that OpenTelemetry records during a call, if the agent has imported it.

    They come from the provider of tracers that the agent's file has set; if it has set none, from one that is set here
    where the SDK is installed. Whatever fails in it, the agent is called.
    """

    def __init__(self) -> None:
        self._spans: list[Any] = []
        self._provider: Any = None

    def begin(self) -> None:
        """Forget the spans of earlier calls, and collect those of the provider that is in use now."""
        self._spans.clear()
        if "opentelemetry.trace" in sys.modules:
            with contextlib.suppress(Exception):
                self._attach(sys.modules["opentelemetry.trace"])

    def take(self) -> str:
        """Return the finished spans as a JSON list, empty if there are none."""
        parts: list[str] = []
        length = 0
        for span in self._spans[:_MOST_SPANS]:
            with contextlib.suppress(Exception):
                part = json.dumps(_plain_span(span), allow_nan=False, ensure_ascii=False)
                length += len(part)
                if length > _LONGEST_SPANS:
                    break
                parts.append(part)
        return f"[{','.join(parts)}]" if parts else ""

    def _attach(self, trace: Any) -> None:
        provider = trace.get_tracer_provider()
        if provider is self._provider:
            return
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        if not hasattr(provider, "add_span_processor"):
            trace.set_tracer_provider(sdk.TracerProvider(shutdown_on_exit=False))
            provider = trace.get_tracer_provider()
        processor = type("Collector", (sdk.SpanProcessor,), {"on_end": lambda _, span: self._add(span)})
        provider.add_span_processor(processor())
        self._provider = provider

    def _add(self, span: Any) -> None:
        if len(self._spans) < _MOST_SPANS:
            self._spans.append(span)


_ATTRIBUTES = (
    *("gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.", "gen_ai.usage."),
    *("gen_ai.input.messages", "gen_ai.output.messages", "error.type"),
    *("openinference.span.kind", "tool.name", "input.value", "output.value", "llm.token_count."),
)


def _plain_span(span: Any) -> dict[str, Any]:
    """Return a span as in OTLP/JSON, with the attributes that Assay reads as an object."""
    attributes = {
        name: value if isinstance(value, (int, float)) else _attribute_text(value)
        for name, value in (span.attributes or {}).items()
        if name.startswith(_ATTRIBUTES)
    }
    status = {"code": span.status.status_code.value, "message": _cut(str(span.status.description or ""))}
    return {
        "traceId": f"{span.context.trace_id:032x}",
        "spanId": f"{span.context.span_id:016x}",
        "parentSpanId": f"{span.parent.span_id:016x}" if span.parent else "",
        "name": _cut(str(span.name), _LONGEST_ATTRIBUTE),
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": attributes,
        "status": status,
    }


def _attribute_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _cut(text, _LONGEST_ATTRIBUTE)


def _call(agent: Callable[..., Any], path: str, text: str, memory: Any, wait: _Waiter) -> Any:
    try:
        given = agent(text, memory)
        return wait(given) if inspect.isawaitable(given) else given
    except SystemExit as error:
        raise _Unusable(f"called {_exit_call(error)}", over=True) from None
    except BaseException as error:  # noqa: BLE001 - whatever the function does is the agent's
        over = not isinstance(error, Exception) or isinstance(error, MemoryError)
        raise _Unusable(f"raised {_describe(error, path)}", over=over) from None


def _encode(given: Any, memory: Any, spans: _SpanCollector) -> bytes:
    """Return the answer as one encoded field.

    An agent that returns no memory sends back the one it was given; one that returns no spans, those that were
    collected.
    """
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
    line = f'"answer":{{{",".join(parts)}'.encode(errors="replace")
    for report in _reports(answer, spans):
        if len(line) + len(report) < _LONGEST_ANSWER:
            line += report
    line += b"}"
    if len(line) > _LONGEST_ANSWER:
        raise _Unusable(f"answered with {len(line) / (1 << 20):.0f} MiB; the limit is 16 MiB")
    return line


def _reports(answer: dict[str, Any], spans: _SpanCollector) -> list[bytes]:
    """Return what the answer reports beside its output, as fields; one that cannot be serialized is left out."""
    found: dict[str, str] = {}
    for key in ("usage", "spans", "resourceSpans"):
        if answer.get(key) is not None:
            with contextlib.suppress(_Unusable):
                found[key] = _json_of(key, answer[key])
    if "spans" not in found and "resourceSpans" not in found and (collected := spans.take()):
        found["spans"] = collected
    return [f',"{key}":{text}'.encode(errors="replace") for key, text in found.items()]


def _json_of(key: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        why = "it contains NaN or infinity" if "JSON compliant" in str(error) else _cut(str(error))
    except Exception as error:  # noqa: BLE001 - classes of the agent are in it
        why = _cut(str(error))
    raise _Unusable(f"returned an invalid answer: its {key} cannot be serialized as JSON: {why}")


def _plain_tool(tool: Any) -> Any:
    """Return a tool as plain data; objects with a `name` may be of any class."""
    if isinstance(tool, (str, dict)):
        return tool
    name = getattr(tool, "name", None)
    return {"name": name} if isinstance(name, str) else tool


def _exit_call(error: SystemExit) -> str:
    return "sys.exit()" if error.code is None else _cut(f"sys.exit({error.code!r})")


def _cut(text: str, longest: int = _LONGEST_MESSAGE) -> str:
    """Return a text that is not too long. `…` shows Assay where a key may have been cut."""
    return text if len(text) <= longest else text[:longest] + "…"


def _kind(value: Any) -> str:
    return "nothing (None)" if value is None else type(value).__name__


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
    name = _cut(error.name, _LONGEST_NAME)
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
