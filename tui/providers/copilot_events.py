"""Decoding of a Copilot session's events into chunks, without importing the SDK."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

from tui.model.errors import ProviderError
from tui.model.finish_reasons import finish_reason_of
from tui.model.provider_messages import Chunk, FinishReason, NoteChunk, ServedByChunk, UsageChunk
from tui.model.results import ServedBy, Usage
from tui.model.sanitize import sanitize_line
from tui.providers.copilot_runtime import LOGIN
from tui.providers.http.decoder import AnswerText, Kind, ToolCallPieces, arguments_text, count_of, utf16
from tui.providers.http.errors import TryFailed

_WORDS = 300
# Events that show work on this question; an `idle` before them belongs to the previous turn.
_WORK = ("user.message", "session.warning")
_DELTAS: Mapping[str, tuple[Kind, str]] = {
    "assistant.message_delta": ("text", "message_id"),
    "assistant.reasoning_delta": ("reasoning", "reasoning_id"),
}
_WHOLES: Mapping[str, tuple[Kind, str]] = {
    "assistant.message": ("text", "message_id"),
    "assistant.reasoning": ("reasoning", "reasoning_id"),
}


class CopilotDecoder:
    """Decodes one answer: give it events, take chunks.

    `finish` is the finish reason once the session is idle. A message comes in deltas, whole, or both; text of the
    deltas is not repeated.
    """

    def __init__(self, answer_size: int, tries: int = 1) -> None:
        self._text = AnswerText(answer_size)
        self._tries = tries
        self._came: dict[Kind, dict[str, StringIO]] = {"text": {}, "reasoning": {}}
        self._counts: list[Usage] = []
        self._reason: FinishReason = "stop"
        self._begun = False
        self._model = ""
        self.finish: FinishReason | None = None

    def take(self) -> list[Chunk]:
        """Return the chunks decoded since the last call."""
        return self._text.take()

    def take_event(self, event: Any) -> None:
        """Decode one event; events of sub-agents are skipped.

        Raises TryFailed for an error event, and AnswerTooLong.
        """
        kind, data = _name_of(event), event.data
        if getattr(event, "agent_id", None) or self.finish:
            return
        self._begun = self._begun or kind in _WORK or kind.startswith("assistant.")
        if kind in _DELTAS:
            self._add(*_DELTAS[kind], data, data.delta_content)
        elif kind in _WHOLES:
            self._complete(*_WHOLES[kind], data)
        elif kind == "assistant.usage":
            self._count(data)
        elif kind == "tool.execution_start":
            call = ToolCallPieces(self._text, data.tool_name)
            call.add_arguments(arguments_text(data.arguments))
            self._text.add(call.chunk())
        elif kind == "session.warning":
            self._text.add(NoteChunk(f"Copilot warned: {sanitize_line(data.message, _WORDS)}"))
        elif kind == "session.error":
            raise session_fault(data, self._tries)
        elif kind == "session.idle" and self._begun:
            self._end(bool(data.aborted))

    def _add(self, kind: Kind, id_name: str, data: Any, text: str) -> None:
        came, key = self._came[kind], str(getattr(data, id_name))
        if came and key not in came:
            self._text.add_text(kind, "\n\n")
        came.setdefault(key, StringIO()).write(text)
        self._text.add_text(kind, text)

    def _complete(self, kind: Kind, id_name: str, data: Any) -> None:
        if kind == "text" and (thought := data.reasoning_text) and not self._came["reasoning"]:
            self._add("reasoning", "message_id", data, thought)
        came = self._came[kind].get(str(getattr(data, id_name)), StringIO())
        whole, begun = utf16(data.content), utf16(came.getvalue())
        if len(whole) > len(begun) and whole.startswith(begun):
            self._add(kind, id_name, data, whole[len(begun) :].decode("utf-16-le", "surrogatepass"))

    def _count(self, data: Any) -> None:
        """Add the usage of one model call; an answer may take several."""
        self._counts.append(
            Usage(count_of(data.input_tokens), count_of(data.output_tokens), count_of(data.reasoning_tokens))
        )
        if data.model != self._model:
            self._model = data.model
            self._text.add(ServedByChunk(ServedBy(sanitize_line(self._model, _WORDS))))
        self._text.add(UsageChunk(_sum(self._counts)))
        if data.finish_reason:
            self._reason = finish_reason_of(data.finish_reason)
        if data.content_filter_triggered:
            self._reason = "content_filter"

    def _end(self, aborted: bool) -> None:
        if aborted:
            raise TryFailed(ProviderError("incomplete", "Copilot aborted the answer"))
        self._text.end()
        self.finish = self._reason


def _name_of(event: Any) -> str:
    """Return the event's name, such as `session.idle`; the SDK uses an enumeration."""
    return str(getattr(event.type, "value", event.type))


def _sum(counts: list[Usage]) -> Usage:
    def total(numbers: list[int | None]) -> int | None:
        known = [number for number in numbers if number is not None]
        return sum(known) if known else None

    return Usage(
        total([usage.input_tokens for usage in counts]),
        total([usage.output_tokens for usage in counts]),
        total([usage.reasoning_tokens for usage in counts]),
    )


def session_fault(data: Any, tries: int) -> TryFailed:
    """Return the TryFailed for an error event of a session."""
    kind, status, words = data.error_type, data.status_code or 0, sanitize_line(data.message, _WORDS)
    if kind == "authorization" or status == 403:  # of this model or prompt: the login may be good for others
        return TryFailed(ProviderError("unauthorized", f"Copilot denied access: {words}", fix=LOGIN))
    if kind == "authentication" or status == 401:
        refused = ProviderError("unauthorized", f"Copilot rejected the login: {words}", fix=LOGIN)
        return TryFailed(refused, effect="stop")
    if kind == "quota" or status == 402:
        fix = "Check the plan of this GitHub account."
        return TryFailed(ProviderError("refused", f"The Copilot quota is used up: {words}", fix=fix))
    if kind == "rate_limit" or status == 429:
        limited = ProviderError("overloaded", f"Copilot rate limit reached: {words}")
        return TryFailed(limited, tries=tries, effect="pause")
    if status >= 500:
        return TryFailed(ProviderError("overloaded", f"Copilot failed ({status}): {words}"), tries=tries)
    return TryFailed(ProviderError("refused", f"Copilot sent an error: {words}"))
