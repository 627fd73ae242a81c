"""One thing that is wrong in a file, with its place."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong and what to do. `line` and `column` count from 1; None where there is no place to point at."""

    file: str
    line: int | None
    column: int | None
    level: Level
    where: str
    what: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column or 1}"
        subject = f"{self.where}: " if self.where else ""
        return f"{place}: {self.level}: {subject}{self.what}"
