"""Files that are sent along with a prompt."""

from dataclasses import dataclass

from tui.model.suite import LineRange
from tui.model.trials import LeftOutFile


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A text file as it is sent; `lines` is the range that was cut out of it, None for the whole file."""

    path: str
    content: str
    language: str | None = None
    lines: LineRange | None = None

    @property
    def size(self) -> int:
        """Bytes of UTF-8 as sent."""
        return len(self.content.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class RepositoryFiles:
    """What was read of a folder, in path order, and what was left out and why. A path in `left_out` that ends with `/`
    is a folder and stands for everything in it that its reason speaks of."""

    files: tuple[ContextFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()
