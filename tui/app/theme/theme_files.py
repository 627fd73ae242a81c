"""Reads themes from YAML files: what is wrong in one is said with its line, and the others are used all the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import yaml

from tui.app.theme.palette import COLOURS, DEFAULT_PALETTE, Palette, colour_fault, name_fault
from tui.model.errors import Problem

_LARGEST = 32 * 1024
_DEEPEST = 4
_LIGHT_DEFAULT = "assay-light"
_KEYS = ("name", "dark", "extends", "colours")


@dataclass(frozen=True, slots=True)
class ThemesRead:
    """Themes that can be used (again), and everything that is wrong in the files that were read."""

    palettes: tuple[Palette, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A theme as its file has it: only the colours it names."""

    file: str
    name: str
    dark: bool | None
    extends: str | None
    colours: Mapping[str, str]


class _Mark(Protocol):
    """A place in a file, as either of YAML's parsers names it; both count from 0."""

    line: int
    column: int


class ThemeFiles:
    """The theme files (`*.yaml`, `*.yml`) of some folders; a later folder's theme replaces an earlier one's."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._seen: dict[Path, tuple[int, int]] = {}
        self._drafts: dict[Path, _Draft] = {}
        self._palettes: dict[str, Palette] = {DEFAULT_PALETTE.name: DEFAULT_PALETTE}

    def read_changed(self) -> ThemesRead:
        """Read the files that are new or were saved since the last time. A file that is not right keeps its last
        good state; never raises for what a file holds."""
        problems: list[Problem] = []
        files = self._stamps()
        changed = [path for path, stamp in files.items() if self._seen.get(path) != stamp]
        gone = self._drafts.keys() - files.keys()
        self._seen = files
        for path in gone:
            del self._drafts[path]
        for path in changed:
            draft = read_draft(path, problems)
            if draft is not None:
                self._drafts[path] = draft
        if not changed and not gone:
            return ThemesRead((), ())
        palettes = self._finish(problems)
        fresh = tuple(palette for name, palette in palettes.items() if self._palettes.get(name) != palette)
        self._palettes = palettes
        return ThemesRead(fresh, tuple(problems))

    def _stamps(self) -> dict[Path, tuple[int, int]]:
        """Each file with what tells that it was saved, in the order in which later ones win."""
        stamps = {}
        for folder in self._folders:
            for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
                try:
                    state = path.stat()
                except OSError:
                    continue
                stamps[path] = state.st_mtime_ns, state.st_size
        return stamps

    def _finish(self, problems: list[Problem]) -> dict[str, Palette]:
        """Fill each draft up with what it extends."""
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


def _base_of(draft: _Draft, drafts: Mapping[str, _Draft]) -> _Draft | str:
    """The draft with all colours, its own over those of what it extends; or a sentence why that cannot be."""
    chain = [draft]
    while len(chain[-1].colours) < len(COLOURS):
        wanted = chain[-1].extends or (_LIGHT_DEFAULT if chain[-1].dark is False else DEFAULT_PALETTE.name)
        known = any(link.name == wanted for link in chain)
        if wanted == DEFAULT_PALETTE.name and (known or wanted not in drafts):
            chain.append(_Draft("", wanted, DEFAULT_PALETTE.dark, None, DEFAULT_PALETTE.colours))
        elif wanted not in drafts:
            return f"there is no theme `{wanted}`; there are: {', '.join(sorted(drafts))}"
        elif known:
            return f"`{draft.name}` cannot extend itself, not by way of others either"
        else:
            chain.append(drafts[wanted])
    colours = {key: value for link in reversed(chain) for key, value in link.colours.items()}
    dark = next((link.dark for link in chain if link.dark is not None), None)
    return _Draft(draft.file, draft.name, dark, None, colours)


def read_draft(path: Path, problems: list[Problem]) -> _Draft | None:
    """The theme of one file, or None with what is wrong added to `problems`."""
    reading = _Reading(str(path))
    draft: _Draft | None = None
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            reading.wrong(f"a theme has at most {_LARGEST // 1024} KiB")
        else:
            draft = reading.draft_of(data.decode())
    except OSError as error:
        reading.wrong(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        reading.wrong("is not UTF-8 text")
    except yaml.MarkedYAMLError as error:
        reading.wrong(f"not YAML: {error.problem}", mark=error.problem_mark)
    except yaml.YAMLError:
        reading.wrong("not YAML: it has characters that YAML does not allow")
    problems.extend(reading.problems)
    return None if reading.problems else draft


class _Reading:
    """One file being read, and what is wrong with it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[Problem] = []

    def wrong(self, what: str, where: str = "", mark: _Mark | None = None) -> None:
        """Note a problem at the mark."""
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        self.problems.append(Problem(self._file, line, column, "error", where, what))

    def draft_of(self, text: str) -> _Draft | None:
        """The theme that the text describes; None when something is wrong."""
        root = self._compose(text)
        if self.problems:
            return None
        if not isinstance(root, yaml.MappingNode):
            self.wrong("a theme is a mapping with `name` and `colours`", mark=root.start_mark if root else None)
            return None
        values: dict[str, object] = {}
        colours: dict[str, str] | None = None
        for key, value in self._entries(root, ""):
            if key not in _KEYS:
                self.wrong(f"no such key; there are: {', '.join(_KEYS)}", key, value.start_mark)
            elif key == "colours":
                colours = self._colours(value)
            else:
                values[key] = self._checked(key, value)
        name, dark, extends = values.get("name"), values.get("dark"), values.get("extends")
        if not self.problems:
            for key in (key for key, there in (("name", name), ("colours", colours)) if there is None):
                self.wrong("is missing", key)
        if not isinstance(name, str) or colours is None:
            return None
        return _Draft(
            self._file,
            name,
            dark if isinstance(dark, bool) else None,
            extends if isinstance(extends, str) else None,
            colours,
        )

    def _compose(self, text: str) -> yaml.Node | None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        depth = 0
        for event in yaml.parse(text, Loader=loader):  # before anything is built: deep nesting can end the process
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST or isinstance(event, yaml.AliasEvent):
                self.wrong("a theme is flat and has no aliases", mark=event.start_mark)
                return None
        node = yaml.compose(text, Loader=loader)
        return node if isinstance(node, yaml.Node) else None

    def _entries(self, node: yaml.MappingNode, where: str) -> Iterator[tuple[str, yaml.Node]]:
        seen = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name in seen:
                self.wrong("stands here twice", f"{where}{name}", key.start_mark)
            seen.add(name)
            yield name, value

    def _checked(self, key: str, node: yaml.Node) -> object:
        if key == "dark":
            if node.tag == "tag:yaml.org,2002:bool":
                return str(node.value).lower() in {"true", "yes", "on"}
            self.wrong("is true or false", key, node.start_mark)
            return None
        fault = name_fault(node.value)
        if fault:
            self.wrong(fault, key, node.start_mark)
        return None if fault else node.value

    def _colours(self, node: yaml.Node) -> dict[str, str]:
        if not isinstance(node, yaml.MappingNode):
            self.wrong("is a mapping from uses to colours", "colours", node.start_mark)
            return {}
        colours = {}
        for key, value in self._entries(node, "colours."):
            # An unquoted #12151b is a comment in YAML, so the value is empty: the sentence says the quotes.
            fault = colour_fault(key, value.value)
            if fault:
                self.wrong(fault, f"colours.{key}", value.start_mark)
            else:
                colours[key] = str(value.value).lower()
        return colours
