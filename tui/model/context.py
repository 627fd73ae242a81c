"""Files that are sent along with a prompt, and a summary of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from tui.model.results import LeftOutFile, Prompt
from tui.model.run import KeptRun
from tui.model.sanitize import sanitize_line
from tui.model.suite import LineRange, Suite

_CHARACTERS_PER_TOKEN = 4
_MOST_REASONS, _MOST_NAMED = 12, 4


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A text file that is sent along with a prompt; `lines` is the selected range, None for the whole file."""

    path: str
    content: str
    language: str | None = None
    lines: LineRange | None = None

    @property
    def size(self) -> int:
        """The size of the content in bytes of UTF-8."""
        return len(self.content.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class RepositoryFiles:
    """The files that were read from a folder, in path order, and the files that were left out, with the reasons.

    A path in `left_out` that ends with `/` is a folder: the reason then applies to all files in it.
    """

    files: tuple[ContextFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()


@dataclass(frozen=True, slots=True)
class SentContext:
    """The files that were sent with the prompts of several cases.

    `files` and `characters` are the minimum and the maximum per prompt (characters include headings and code fences).
    `left_out` lists each file that was left out once.
    """

    files: tuple[int, int]
    characters: tuple[int, int]
    left_out: tuple[LeftOutFile, ...] = ()

    @property
    def tokens(self) -> tuple[int, int]:
        """The estimated minimum and maximum of tokens per prompt, at four characters a token."""
        least, most = (-(-count // _CHARACTERS_PER_TOKEN) for count in self.characters)
        return least, most

    @property
    def words(self) -> str:
        """A summary: `12 files, 4,000–4,200 characters, about 1,000–1,050 tokens a prompt`, or `no file`."""
        if self.files == (0, 0):
            return "no file"
        files = f"{_span(self.files)} file{'' if self.files == (1, 1) else 's'}"
        return f"{files}, {_span(self.characters)} characters, about {_span(self.tokens)} tokens per prompt"

    @property
    def left_out_words(self) -> str:
        """The files left out, by reason, on one line: `is a link: a, b; is binary: c and 3 more`; empty if there are
        none."""
        by_reason: dict[str, list[str]] = {}
        for file in self.left_out:
            by_reason.setdefault(file.reason, []).append(file.path)
        parts = [f"{reason}: {_names(paths)}" for reason, paths in islice(by_reason.items(), _MOST_REASONS)]
        if more := len(by_reason) - len(parts):
            parts.append(f"{more:,} more reasons")
        return "; ".join(parts)


def wants_context(suite: Suite) -> bool:
    """Return whether the suite names files to send along."""
    return suite.repository_context is not None or any(case.code_context for case in suite.cases)


def sent_with(prompt: Prompt) -> SentContext:
    """Return what was sent along with the prompt of a case's first step."""
    files, characters = len(prompt.included), _characters(prompt)
    return SentContext((files, files), (characters, characters), prompt.left_out)


def merge_sent(parts: Iterable[SentContext]) -> SentContext | None:
    """Return the summary of several prompts, or None if there are none."""
    found = list(parts)
    if not found:
        return None
    files = min(part.files[0] for part in found), max(part.files[1] for part in found)
    characters = min(part.characters[0] for part in found), max(part.characters[1] for part in found)
    left_out = dict.fromkeys(file for part in found for file in part.left_out)
    return SentContext(files, characters, tuple(left_out))


def context_of_run(run: KeptRun) -> SentContext | None:
    """Return what was sent along in a run, or None if its suite names no files or nothing was run."""
    if not wants_context(run.plan.suite):
        return None
    # Every trial of a case has the same context.
    prompts = {
        result.trial.case: result.attempts[0].steps[0].prompt
        for result in run.results
        if result.attempts and result.attempts[0].steps
    }
    return merge_sent(map(sent_with, prompts.values()))


def _characters(prompt: Prompt) -> int:
    """Return the number of characters of the files in the question, which precede the step's own text."""
    if not prompt.included:
        return 0
    question = next((message.content for message in prompt.messages if message.role == "user"), "")
    return max(0, len(question) - len(prompt.input))


def _span(counts: tuple[int, int]) -> str:
    least, most = counts
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _names(paths: Sequence[str]) -> str:
    named = ", ".join(sanitize_line(path, 120) for path in paths[:_MOST_NAMED])
    return f"{named} and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else named
