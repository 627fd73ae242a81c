"""What checks are decided on."""

from dataclasses import dataclass

from tui.model.values import JsonValue


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as far as it came: its text, the names of the tools used in their order, and the memory after it."""

    text: str
    tools_used: tuple[str, ...] = ()
    memory: JsonValue = None
