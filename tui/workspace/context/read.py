"""Reading of the files that are sent with a prompt: of `repositoryContext` and of a case's `codeContext`."""

import posixpath
import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.model.context import ContextFile, RepositoryFiles
from tui.model.current_folder import real_path
from tui.model.errors import WorkspaceError
from tui.model.paths import path_fault
from tui.model.results import LeftOutFile
from tui.model.sanitize import sanitize_line
from tui.model.suggest import did_you_mean
from tui.model.suite import CodeContext, LineRange, RepositoryContext
from tui.workspace.context.globs import Selection
from tui.workspace.context.walk import MOST_ENTRIES, walk
from tui.workspace.languages import (
    is_known_language,
    language_id,
    language_names,
    language_of,
    language_title,
    languages_of,
)
from tui.workspace.sources import FolderSource, Source

if TYPE_CHECKING:
    from tui.workspace.git.base import TreeSource

MOST_LEFT_OUT = 200
MOST_CODE_BYTES = 4 * 1024 * 1024
MOST_CONTEXT_BYTES = 32 * 1024 * 1024
"""The size of all files of `repositoryContext`, and of all that a case names: a prompt takes ten times its size."""
_MOST_PATTERNS = 50  # that are compared with all files, for a warning
_LINE_END = re.compile(r"\r\n|\n|\r")


def context_root(context: RepositoryContext, root: "Path | TreeSource") -> Source:
    """Return the folder that `context.path` names below `root`, a suite's folder or a clone.

    Raises WorkspaceError if it does not exist.
    """
    if not isinstance(root, Path):
        path = posixpath.normpath(context.path.strip() or ".")
        if path == ".":
            return root
        if (fault := path_fault(path)) is not None:
            raise WorkspaceError(f"repositoryContext.path {fault}", where=sanitize_line(context.path))
        return root.below(path)
    folder = root / context.path
    try:
        if folder.is_dir():
            return FolderSource(Path(real_path(folder)))
    except (OSError, ValueError):
        pass
    what = "repositoryContext.path is not a folder" if folder.exists() else "repositoryContext.path does not exist"
    raise WorkspaceError(what, where=sanitize_line(str(folder)), fix="It is relative to the suite's folder.")


def read_repository(
    context: RepositoryContext,
    root: "Path | TreeSource",
    most_entries: int = MOST_ENTRIES,
    is_stopped: Callable[[], bool] = lambda: False,
) -> RepositoryFiles:
    """Return the files that `repositoryContext` selects, sorted by path.

    Paths are relative to the folder that it names; in a clone, to the clone's root. Blocks on the disk: run it in a
    thread, and let `is_stopped` return whether to end early. Raises WorkspaceError, also when stopped.
    """

    def check_stopped() -> None:
        if is_stopped():
            raise WorkspaceError("the run was stopped while its repository was read")

    source = context_root(context, root)
    above = posixpath.normpath(context.path.strip() or ".") if not isinstance(root, Path) else "."
    include = Selection(context.include_files) if context.include_files else None
    exclude = Selection(context.exclude_files or ())
    walked = walk(source, include, exclude, most_entries, check_stopped=check_stopped)
    files: dict[Hashable, ContextFile] = {}
    left_out = walked.left_out
    left = MOST_CONTEXT_BYTES
    allowed = frozenset(language_id(name) for name in context.languages)
    for path in walked.paths:
        check_stopped()
        shown = path if above == "." else f"{above}/{path}"
        reason = _exclusion_reason(path, allowed, len(files), context)
        try:
            read = reason or _read_whole(source, path, shown, allowed, context.max_file_size_bytes, left)
        except WorkspaceError as error:
            read = error.what
        if isinstance(read, ContextFile) and read.place in files:
            read = f"is the same file as {files[read.place].path}"
        if isinstance(read, ContextFile):
            files[read.place] = read
            left -= read.size
        else:
            left_out.append(LeftOutFile(path, read))
    if above != ".":
        left_out = [LeftOutFile(f"{above}/{out.path}", out.reason) for out in left_out]
    rules = (f"{folder}/.gitignore".removeprefix("/") for folder in walked.folders)  # also where they are not sent
    seen = (*walked.folders, *rules, *walked.paths)
    warnings = tuple(_warnings(context, walked.paths))
    return RepositoryFiles(tuple(files.values()), _summarised(left_out), warnings, seen)


def _warnings(context: RepositoryContext, paths: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each setting that names a language or files that are not there."""
    missing = {language_id(name) for name in context.languages}
    for path in paths:
        if not missing:
            break
        missing -= _known_as(path)
    for name in context.languages:
        if language_id(name) in missing:
            meant = "" if is_known_language(name) else f" Unknown language. {did_you_mean(name, language_names())}"
            yield f"languages: no file is in {sanitize_line(name, 60)}.{meant}".rstrip()
    for pattern in context.include_files[:_MOST_PATTERNS]:
        single = Selection([pattern])
        if not single.takes_back and not any(path in single for path in paths):
            yield f"includeFiles: `{sanitize_line(pattern, 80)}` matches no file that may be sent"


def _exclusion_reason(path: str, languages: frozenset[str], count: int, context: RepositoryContext) -> str | None:
    if languages and not languages & _known_as(path):
        return f"is not in {', '.join(sorted(language_title(name) for name in languages))}"
    return f"is beyond maxFiles ({context.max_files:,})" if count >= context.max_files else None


def _known_as(path: str) -> frozenset[str]:
    return frozenset(languages_of(path)) | {path.rpartition("/")[2].rpartition(".")[2].lower()}


def _read_whole(
    source: Source, path: str, shown: str, languages: frozenset[str], limit: int, left: int
) -> ContextFile | str:
    """Return the file, or why it is left out; `left` is the size that all further files may have together."""
    size = source.size(path)
    if size > limit:
        return f"is larger than maxFileSizeBytes ({size:,} of {limit:,} bytes)"
    if size > left:
        return f"is beyond the {MOST_CONTEXT_BYTES:,} bytes that all files may have together"
    content = _decoded(source.read(path, min(limit, left)))
    if isinstance(content, bytes):
        return "is binary" if b"\0" in content else "is not UTF-8 text"
    known = languages_of(path)
    chosen = next((name for name in known if name in languages), next(iter(known), None))
    return ContextFile(shown, content, chosen, place=source.place(path))


def _decoded(data: bytes) -> str | bytes:
    """Return the text of a file, or its bytes if it is not text."""
    if b"\0" in data:
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data


def _summarised(left_out: list[LeftOutFile]) -> tuple[LeftOutFile, ...]:
    """Return at most MOST_LEFT_OUT lines: by file, else by folder and reason, else by top folder and reason."""
    left_out.sort(key=lambda out: (out.path, out.reason))
    if len(left_out) <= MOST_LEFT_OUT:
        return tuple(left_out)
    for depth in (None, 1):
        grouped = Counter((_folder(out.path, depth), out.reason) for out in left_out)
        if len(grouped) <= MOST_LEFT_OUT:
            break
    lines = [LeftOutFile(folder, f"{count:,} × {reason}") for (folder, reason), count in sorted(grouped.items())]
    if len(lines) > MOST_LEFT_OUT:
        more = len(lines) - MOST_LEFT_OUT + 1
        lines = [*lines[: MOST_LEFT_OUT - 1], LeftOutFile("./", f"{more:,} more groups of files")]
    return tuple(lines)


def _folder(path: str, depth: int | None) -> str:
    parts = path.rstrip("/").split("/")[:-1][:depth]
    return "/".join(parts) + "/" if parts else "./"


def read_code_context(contexts: Iterable[CodeContext], roots: Sequence[Source]) -> tuple[ContextFile, ...]:
    """Return the files of a case in order: inline, or from the first root that has them, cut to their lines.

    A file that is named more than once is sent once, where it is named first: whole if it is named whole, else with its
    ranges of lines in order, those that overlap as one. Blocks on the disk: run it in a thread. Raises WorkspaceError,
    which names the path.
    """
    by_place: dict[Hashable, list[ContextFile]] = {}
    named = _NamedFiles(roots)
    for context in contexts:
        file = named.find(context)
        if file.lines is not None:
            named.cut(file, file.lines)
        by_place.setdefault(file.place, []).append(file)
    return tuple(file for files in by_place.values() for file in _once(files, named))


def _once(files: Sequence[ContextFile], named: "_NamedFiles") -> Iterator[ContextFile]:
    """Yield one file, which was named several times, once: whole, or cut to its ranges of lines."""
    first, ranges = files[0], [file.lines for file in files if file.lines is not None]
    if len(ranges) < len(files):
        yield replace(first, lines=None)
        return
    for lines in _merged(ranges):
        yield replace(first, content=named.cut(first, lines), lines=lines)


def _merged(ranges: Iterable[LineRange]) -> list[LineRange]:
    merged: list[LineRange] = []
    for lines in sorted(ranges, key=lambda each: (each.start, each.end)):
        if merged and lines.start <= merged[-1].end:
            merged[-1] = LineRange(merged[-1].start, max(merged[-1].end, lines.end))
        else:
            merged.append(lines)
    return merged


class _NamedFiles:
    """The files that a case names: each is read once and searched for its lines once, however often it is named."""

    def __init__(self, roots: Sequence[Source]) -> None:
        self._roots = roots
        self._size = 0
        self._by_path: dict[str, tuple[str, Hashable]] = {}
        self._ends: dict[Hashable, array[int]] = {}

    def find(self, context: CodeContext) -> ContextFile:
        """Return the whole file of a context, with its range of lines."""
        path, lines = context.file_path, context.line_range
        language = language_id(context.language) if context.language else language_of(path)
        if context.content is not None:
            return ContextFile(path, context.content, language, lines, place=(path, context.content))
        if path not in self._by_path:
            content, place = _load(path, self._roots)
            self._size += len(content)
            if self._size > MOST_CONTEXT_BYTES:
                what = f"the codeContext of this case is larger than {MOST_CONTEXT_BYTES:,} bytes"
                raise WorkspaceError(what, where=sanitize_line(path), fix="Name fewer or smaller files.")
            self._by_path[path] = content, place
        return ContextFile(path, self._by_path[path][0], language, lines, self._by_path[path][1])

    def cut(self, file: ContextFile, lines: LineRange) -> str:
        """Return the lines of a range, both ends included, from 1; an end beyond the last line means the last line."""
        if (ends := self._ends.get(file.place)) is None:
            ends = self._ends[file.place] = array("L", (found.end() for found in _LINE_END.finditer(file.content)))
            if file.content and (not ends or ends[-1] < len(file.content)):
                ends.append(len(file.content))
        if not 1 <= lines.start <= lines.end or lines.start > max(len(ends), 1):
            raise WorkspaceError(
                f"lineRange {lines.start}–{lines.end} is outside a file of {len(ends):,} lines",
                where=sanitize_line(file.path),
            )
        if not ends:
            return ""
        return file.content[ends[lines.start - 2] if lines.start > 1 else 0 : ends[min(lines.end, len(ends)) - 1]]


def _load(path: str, roots: Sequence[Source]) -> tuple[str, Hashable]:
    """Return the text of a file from the first root that has it, and its place."""
    where = sanitize_line(path)
    if (fault := path_fault(path)) is not None:
        raise WorkspaceError(f"the path of this codeContext is not allowed: it {fault}", where=where)
    for root in roots:
        kind = root.kind(path)
        if kind is None:
            continue
        if kind != "file":
            what = {"folder": "is a folder", "link": "is a symbolic link, or is behind one"}.get(
                kind, "is not a regular file"
            )
            raise WorkspaceError(f"this codeContext {what}", where=where, fix="Use a regular file.")
        if root.size(path) > MOST_CODE_BYTES:
            raise WorkspaceError(f"this codeContext is larger than {MOST_CODE_BYTES:,} bytes", where=where)
        content = _decoded(root.read(path, MOST_CODE_BYTES))
        if isinstance(content, bytes):
            raise WorkspaceError("this codeContext is not UTF-8 text", where=where)
        return content, root.place(path)
    looked = " or ".join(sanitize_line(root.title, 120) for root in roots) or "any folder"
    raise WorkspaceError(f"this codeContext was not found in {looked}", where=where)
