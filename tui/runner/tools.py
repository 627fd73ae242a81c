"""The conversation with a model that calls the tools of a case: each call is answered with its fixed result."""

import json
import re
from collections.abc import Sequence

from tui.model.provider_messages import ToolCall
from tui.model.sanitize import sanitize_line
from tui.model.tools import MOST_TURNS, AnsweredCall, AnsweredTurn, OfferedTool
from tui.model.values import JsonObject, JsonValue
from tui.providers.agents.answers import InvalidAnswer, parse_json

_MOST_CALLS = 128  # of one turn
_MOST_CHARACTERS = 1_000_000  # of a conversation, which every request repeats
_CALL_ID = re.compile(r"[!-~]{1,128}")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


class NotContinued(Exception):
    """The calls of a turn are not answered; the text is a sentence that says why."""


class ToolConversation:
    """The turns of the model in one step, within the limits of turns, calls and length. `turns` can be sent back."""

    def __init__(self, tools: Sequence[OfferedTool], most_turns: int) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._most_turns = min(most_turns, MOST_TURNS)  # the suite of an imported run may have any number
        self._ids: set[str] = set()
        self._size = 0
        self.turns: tuple[AnsweredTurn, ...] = ()

    def answer(self, text: str, calls: Sequence[ToolCall], echo: JsonValue) -> Sequence[AnsweredCall]:
        """Add a turn that ended with calls, and return the calls with their results. Raises NotContinued."""
        if len(self.turns) + 1 >= self._most_turns:
            turns = f"{self._most_turns} turns" if self._most_turns > 1 else "its only turn"
            raise NotContinued(f"The model still called tools after {turns}, the limit of the case")
        if len(calls) > _MOST_CALLS:
            raise NotContinued(f"The model called {len(calls):,} tools in one turn; at most {_MOST_CALLS} are answered")
        self._count(len(text) + len(json.dumps(echo)))
        self._count(sum(len(f"{call.id}{call.name}{call.arguments}{json.dumps(call.extra)}") for call in calls))
        answered = [self._answer(call) for call in calls]
        self._count(sum(len(each.result) for each in answered))
        self.turns = (*self.turns, AnsweredTurn(text, answered, echo))
        return answered

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > _MOST_CHARACTERS:
            what = f"The calls of tools and their results are longer than {_MOST_CHARACTERS:,} characters"
            raise NotContinued(what)

    def _answer(self, call: ToolCall) -> AnsweredCall:
        arguments, fault = _arguments_of(call.arguments)
        tool = self._tools.get(call.name)
        result = None if tool is None or fault else tool.result_of(arguments)
        if tool is None:
            known = ", ".join(self._tools)
            fault = f"there is no tool {sanitize_line(call.name, _LONGEST_NAME)}; the tools are {known}"
        elif result is None and not fault:
            fault = "the tool has no result for these arguments"
        name = _NOT_IN_A_NAME.sub("_", call.name)[:_LONGEST_NAME] or "unnamed"
        shown = f"Error: {fault}" if result is None else result
        return AnsweredCall(self._id_of(call), name, arguments, shown, result is None, call.extra)

    def _id_of(self, call: ToolCall) -> str:
        """Return the id that the server gave the call, or a new one if that cannot identify it."""
        identity = call.id
        if not _CALL_ID.fullmatch(identity) or identity in self._ids:
            identity = f"call{len(self._ids):05}"  # nine letters and digits, as Mistral requires
            while identity in self._ids:
                identity = f"c{int(identity[4:]) + 1:08}"
        self._ids.add(identity)
        return identity


def _arguments_of(text: str) -> tuple[JsonObject, str]:
    """Return the arguments of a call, and why they cannot be used; no text means no arguments."""
    if not text.strip():
        return {}, ""
    try:
        value = parse_json(text)
    except InvalidAnswer as reason:
        return {}, f"the arguments cannot be read: {reason}"
    return (value, "") if isinstance(value, dict) else ({}, "the arguments are not a JSON object")
