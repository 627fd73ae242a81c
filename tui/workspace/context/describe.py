"""The text form of file context: the generated system message, and the files in the prompt."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tui.model.context import ContextFile
from tui.model.sanitize import sanitize_line
from tui.workspace.languages import language_title

_MOST_NAMES = 40
_BACKTICKS = re.compile(r"`+")


def describe_repository(files: Sequence[ContextFile]) -> str:
    """Return a system message with the number of files, their languages and the top-level names."""
    count = f"{len(files):,} file{'' if len(files) == 1 else 's'}"
    languages = Counter(language_title(file.language) if file.language else "other" for file in files)
    named = ", ".join(f"{name} ({number:,})" for name, number in sorted(languages.items(), key=_most_first))
    lines = [
        "You are an expert software developer working in an existing repository.",
        f"{count} of it {'is' if len(files) == 1 else 'are'} given with the prompt.",
    ]
    if files:
        lines += [f"Languages: {named}.", f"At the top level: {', '.join(_top_names(files))}."]
    return "\n".join([*lines, "Follow the conventions of the code that is there."])


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _top_names(files: Iterable[ContextFile]) -> list[str]:
    names = sorted({first + slash for file in files for first, slash, _ in [file.path.partition("/")]})
    shown = [sanitize_line(name, 80) for name in names[:_MOST_NAMES]]
    return shown if len(names) <= _MOST_NAMES else [*shown, f"and {len(names) - _MOST_NAMES:,} more"]


def compose_context(files: Iterable[ContextFile], code: Iterable[ContextFile] = ()) -> str:
    """Return the files as text for a prompt: each under its path, in a fence that its content cannot close.

    Files of the case follow those of the repository; a repository file that the case names whole is not sent twice.
    The text is empty if there are no files.
    """
    own = tuple(code)
    whole = {file.path for file in own if file.lines is None}
    parts = [_composed(file) for file in files if file.path not in whole]
    return "\n".join([*parts, *(_composed(file) for file in own)])


def _composed(file: ContextFile) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(file.content)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = f" (lines {file.lines.start}–{file.lines.end})" if file.lines else ""
    end = "" if not file.content or file.content.endswith(("\n", "\r")) else "\n"
    path = sanitize_line(file.path, 10_000)
    return f"### {path}{lines}\n\n{fence}{_info(file.language)}\n{file.content}{end}{fence}\n"


def _info(language: str | None) -> str:
    return re.sub(r"[^\w+#.-]", "", language or "")
