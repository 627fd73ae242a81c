"""The text form of file context: the generated system message, and the files in the prompt."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from tui.model.context import FILE_SEPARATOR, ContextFile, RepositoryFiles
from tui.model.results import IncludedFile, LeftOutFile
from tui.model.sanitize import sanitize_line
from tui.workspace.languages import language_title

T = TypeVar("T")
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


class Selected(NamedTuple):
    """The files of a prompt: which of the repository's are not in it, those of the case, and what was left out."""

    dropped: tuple[int, ...]
    own: tuple[ContextFile, ...]
    left_out: tuple[LeftOutFile, ...]


class Composed(NamedTuple):
    """The text of the files of a prompt, which files these are, and what was left out."""

    text: str
    included: tuple[IncludedFile, ...]
    left_out: tuple[LeftOutFile, ...]


class RepositoryTexts:
    """The files of a repository as texts for prompts, each composed once for all cases."""

    def __init__(self, repository: RepositoryFiles) -> None:
        self._repository = repository
        self._by_name: dict[Hashable, int] = {}  # of each place and each path
        for number, file in enumerate(repository.files):
            self._by_name[file.path] = number
            if file.place is not None:
                self._by_name[file.place] = number
        self.texts = tuple(map(compose_file, repository.files))
        self._included = tuple(IncludedFile(file.path, file.size) for file in repository.files)

    def select(self, own: Sequence[ContextFile]) -> Selected:
        """Return the files that are sent with a case that names some itself, so that none is sent twice.

        A file of the repository that the case names whole is sent with the case; ranges of lines of one that is sent
        whole are left out.
        """
        whole = [name for file in own if file.lines is None for name in (file.path, file.place)]
        dropped = tuple(sorted({self._by_name[name] for name in whole if name in self._by_name}))
        sent, left_out = [], list(self._repository.left_out)
        for file in own:
            place = None if file.lines is None else self._by_name.get(file.place)
            if place is None or place in dropped or file.lines is None:
                sent.append(file)
            else:
                why = f"lines {file.lines.start}–{file.lines.end} are in the file, which is included whole"
                left_out.append(LeftOutFile(file.path, why))
        return Selected(dropped, tuple(sent), tuple(left_out))

    def compose(self, own: Sequence[ContextFile] = ()) -> Composed:
        """Return the files that are sent with a case that names these files: the repository's, then its own.

        The text is empty if there are no files.
        """
        selected = self.select(own)
        texts = [*_without(self.texts, selected.dropped), *map(compose_file, selected.own)]
        included = (*_without(self._included, selected.dropped), *included_files(selected.own))
        return Composed(FILE_SEPARATOR.join(texts), included, selected.left_out)


def _without(values: Sequence[T], dropped: Sequence[int]) -> Sequence[T]:
    """Return the values but those with these indices."""
    return [value for number, value in enumerate(values) if number not in dropped] if dropped else values


def included_files(own: Iterable[ContextFile]) -> tuple[IncludedFile, ...]:
    """Return the case's own files by path; the size of one with several ranges of lines is that of all."""
    sizes: Counter[str] = Counter()
    for file in own:
        sizes[file.path] += file.size
    return tuple(IncludedFile(path, size) for path, size in sizes.items())


def compose_file(file: ContextFile) -> str:
    """Return one file as text for a prompt: under its path, in a fence that its content cannot close.

    The texts of several files are joined with FILE_SEPARATOR.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(file.content)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = f" (lines {file.lines.start}–{file.lines.end})" if file.lines else ""
    end = "" if not file.content or file.content.endswith(("\n", "\r")) else "\n"
    path = sanitize_line(file.path, 10_000)
    return f"### {path}{lines}\n\n{fence}{_info(file.language)}\n{file.content}{end}{fence}\n"


def _info(language: str | None) -> str:
    return re.sub(r"[^\w+#.-]", "", language or "")
