"""Read themes from YAML files. Problems are reported with their lines, and the other files are still used."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tui.app.theme.palette import COLOURS, DEFAULT_PALETTE, Palette, colour_fault, name_fault
from tui.documents.files import read_beginning
from tui.documents.yaml_nodes import FileRules, Findings, YamlNode, read_nodes
from tui.model.errors import Problem

_MOST_KIB = 32
_MOST_ENTRIES = 10_000  # of a folder
_MOST_FILES = 300
_MOST_TOTAL_KIB = 512
_MOST_LINKS = 8  # themes of which each extends the next
_MOST_PROBLEMS = 8  # of a file
_MOST_NAMES = 20  # in a message
_FLAT = "nested values and aliases are not supported in themes"
_RULES = FileRules(
    most_bytes=_MOST_KIB * 1024,
    most_depth=4,
    sentences={
        "size": f"the limit for a theme is {_MOST_KIB} KiB",
        "encoding": "is not UTF-8 text",
        "syntax": "not YAML: {}",
        "characters": "not YAML: contains characters that YAML does not allow",
        "depth": _FLAT,
        "alias": _FLAT,
        "duplicate": "duplicate key",
    },
    native=True,
)
_LIGHT_DEFAULT = "assay-light"
_KEYS = ("name", "dark", "extends", "colours")


@dataclass(frozen=True, slots=True)
class ThemesRead:
    """The new and changed themes, and all problems of the files that were read."""

    palettes: tuple[Palette, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A theme as written in its file, with only the colors that it defines."""

    file: str
    name: str
    dark: bool | None
    extends: str | None
    colours: Mapping[str, str]


class ThemeFiles:
    """The theme files (`*.yaml`, `*.yml`) of some folders.

    A theme replaces one with the same name in an earlier folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._seen: dict[Path, tuple[int, int]] = {}
        self._is_cut = False
        self._drafts: dict[Path, _Draft] = {}
        self._palettes: dict[str, Palette] = {DEFAULT_PALETTE.name: DEFAULT_PALETTE}
        self._file_faults: dict[Path, Sequence[Problem]] = {}
        self._other_faults: Sequence[Problem] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the valid themes as they were read last."""
        return tuple(sorted(self._palettes))

    @property
    def faults(self) -> tuple[str, ...]:
        """Return the problems of all files as they were read last."""
        in_files = (problem for path in self._seen for problem in self._file_faults.get(path, ()))
        return tuple(map(str, (*in_files, *self._other_faults)))

    def read_changed(self) -> ThemesRead:
        """Read the files that are new or have changed since the last call.

        A file with problems keeps its last valid theme. The content of a file never raises an exception.
        """
        problems: list[Problem] = []
        was_cut = self._is_cut
        files = self._stamps()
        changed = [path for path, stamp in files.items() if self._seen.get(path) != stamp]
        gone = self._drafts.keys() - files.keys()
        self._seen = files
        for path in gone:
            del self._drafts[path]
        for path in changed:
            before = len(problems)
            draft = read_draft(path, problems)
            self._file_faults[path] = problems[before:]
            if draft is not None:
                self._drafts[path] = draft
        if not changed and not gone and self._is_cut == was_cut:
            return ThemesRead((), ())
        before = len(problems)
        palettes = self._finish(problems)
        self._other_faults = problems[before:]
        fresh = tuple(palette for name, palette in palettes.items() if self._palettes.get(name) != palette)
        self._palettes = palettes
        return ThemesRead(fresh, tuple(problems))

    def _stamps(self) -> dict[Path, tuple[int, int]]:
        """Return the modification time and size of each file, up to the limits; later files take precedence."""
        stamps: dict[Path, tuple[int, int]] = {}
        self._is_cut, size = False, 0
        for folder in self._folders:
            entries = _entries(folder)
            self._is_cut |= len(entries) > _MOST_ENTRIES
            for path in sorted(folder / name for name in entries if name.endswith((".yaml", ".yml"))):
                try:
                    state = path.stat()
                except OSError:
                    continue
                # A file over its own limit is not parsed.
                size += state.st_size if state.st_size <= _RULES.most_bytes else 0
                if len(stamps) == _MOST_FILES or size > _MOST_TOTAL_KIB * 1024:
                    self._is_cut = True
                    return stamps
                stamps[path] = state.st_mtime_ns, state.st_size
        return stamps

    def _finish(self, problems: list[Problem]) -> dict[str, Palette]:
        """Return the palettes of all drafts, with the missing colors from the themes that they extend."""
        if self._is_cut:
            what = f"not all themes are read: the limit is {_MOST_FILES} files with {_MOST_TOTAL_KIB} KiB together"
            problems.append(Problem(str(self._folders[-1]), None, None, "error", "", what))
        drafts = {draft.name: draft for path in self._seen if (draft := self._drafts.get(path)) is not None}
        palettes = {DEFAULT_PALETTE.name: DEFAULT_PALETTE}
        for draft in drafts.values():
            base = _base_of(draft, drafts)
            if isinstance(base, str):
                problems.append(Problem(draft.file, None, None, "error", "extends", base))
                continue
            dark = DEFAULT_PALETTE.dark if base.dark is None else base.dark
            palettes[draft.name] = Palette(draft.name, dark if draft.dark is None else draft.dark, base.colours)
        return palettes


def _entries(folder: Path) -> list[str]:
    """Return the names of the entries of a folder, of too many the first ones and one more; none if it is missing."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, _MOST_ENTRIES + 1)]
    except OSError:
        return []


def _base_of(draft: _Draft, drafts: Mapping[str, _Draft]) -> _Draft | str:
    """Return the draft with the colors of the themes that it extends, or why that is not possible."""
    chain = [draft]
    while len(chain[-1].colours) < len(COLOURS):
        base_name = chain[-1].extends or (_LIGHT_DEFAULT if chain[-1].dark is False else DEFAULT_PALETTE.name)
        known = any(link.name == base_name for link in chain)
        if base_name == DEFAULT_PALETTE.name and (known or base_name not in drafts):
            chain.append(_Draft("", base_name, DEFAULT_PALETTE.dark, None, DEFAULT_PALETTE.colours))
        elif base_name not in drafts:
            more = ", …" if len(drafts) > _MOST_NAMES else ""
            return f"unknown theme `{base_name}`; available: {', '.join(sorted(drafts)[:_MOST_NAMES])}{more}"
        elif not known and len(chain) == _MOST_LINKS:
            return f"extends more than {_MOST_LINKS} themes, one through the other"
        elif known:
            return f"`{draft.name}` cannot extend itself, directly or through other themes"
        else:
            chain.append(drafts[base_name])
    colours = {key: value for link in reversed(chain) for key, value in link.colours.items()}
    dark = next((link.dark for link in chain if link.dark is not None), None)
    return _Draft(draft.file, draft.name, dark, None, colours)


def read_draft(path: Path, problems: list[Problem]) -> _Draft | None:
    """Return the theme of a file, or None after adding its problems to `problems`."""
    findings = Findings(str(path), _RULES)
    draft: _Draft | None = None
    try:
        data = read_beginning(path, _RULES.most_bytes)
    except OSError as error:
        findings.add(f"cannot be read: {error.strerror}")
    else:
        draft = _draft_of(data, findings)
    found = findings.in_order()
    problems.extend(found[:_MOST_PROBLEMS])
    if left := len(found[_MOST_PROBLEMS:]):
        problems.append(
            Problem(findings.file, None, None, "error", "", f"{left:,} more problems not listed; fix these")
        )
    return None if findings.problems else draft


def _draft_of(data: bytes, findings: Findings) -> _Draft | None:
    """Return the theme in the content of a file; None if there are problems."""
    root = read_nodes(data, findings)
    if findings.problems:
        return None
    if root is None or not root.is_mapping:
        what = "expected a mapping with `name` and `colours`"
        findings.add(what, mark=root.node.start_mark if root else None)
        return None
    fields = {}
    for key, node in root.entries():
        if key in _KEYS:
            fields[key] = node
        else:
            node.add_problem(f"unknown key; available: {', '.join(_KEYS)}")
    name = _name_of(fields.get("name"))
    dark = _is_dark(fields.get("dark"))
    extends = _name_of(fields.get("extends"))
    colours = _colours_of(fields["colours"]) if "colours" in fields else {}
    if not findings.problems:
        for key in ("name", "colours"):
            if key not in fields:
                findings.add("is missing", key)
    return None if name is None or findings.problems else _Draft(findings.file, name, dark, extends, colours)


def _name_of(node: YamlNode | None) -> str | None:
    if node is None:
        return None
    if fault := name_fault(node.written):
        node.add_problem(fault)
    return node.written


def _is_dark(node: YamlNode | None) -> bool | None:
    if node is not None and node.truth is None:
        node.add_problem("expected true or false")
    return node.truth if node is not None else None


def _colours_of(node: YamlNode) -> dict[str, str]:
    if not node.is_mapping:
        node.add_problem("expected a mapping of names to colours")
        return {}
    colours = {}
    for key, value in node.entries():
        # An unquoted #12151b is a comment in YAML, so the value is empty: the message mentions the quotes.
        if fault := colour_fault(key, value.written):
            value.add_problem(fault)
        else:
            colours[key] = (value.written or "").lower()
    return colours
