"""config.yaml as a tree in which everything knows its place; what is wrong is gathered, not raised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.model.errors import Level, Problem
from tui.model.sanitize import sanitize_line
from tui.model.suggest import did_you_mean

if TYPE_CHECKING:
    import yaml
    from yaml._yaml import Mark as CMark

    _Mark = yaml.Mark | CMark

_DEEPEST = 16
_LARGEST = 256 * 1024


@dataclass(slots=True)
class Findings:
    """What is wrong in one file."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def add(self, what: str, where: str = "", mark: _Mark | None = None, level: Level = "error") -> None:
        """Note a problem at that mark."""
        line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
        self.problems.append(Problem(self.file, line, column, level, sanitize_line(where, 120), what))


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the file, with the dotted path that leads to it."""

    node: yaml.Node
    where: str
    findings: Findings
    key: yaml.Node | None = None

    def complain(self, what: str, level: Level = "error") -> None:
        """Note what is wrong here."""
        self.findings.add(what, self.where, self.node.start_mark, level)

    def complain_of_name(self, what: str) -> None:
        """Note what is wrong with the name under which this stands."""
        self.findings.add(what, self.where, (self.key or self.node).start_mark)

    def entries(self) -> Iterator[tuple[str, Place]]:
        """The entries of a mapping in the file's order, each key once."""
        import yaml

        if self.is_null:
            return
        if not isinstance(self.node, yaml.MappingNode):
            self.complain(f"must be a mapping of names to values, not {_kind_of(self.node)}")
            return
        seen: set[str] = set()
        for key, value in self.node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            where = f"{self.where}.{name}" if self.where else name
            if not name:
                Place(key, self.where, self.findings).complain("a name must be a text")
            elif name in seen:
                Place(key, where, self.findings).complain("is given twice; keep one")
            else:
                seen.add(name)
                yield name, Place(value, where, self.findings, key)

    def fields(self, known: Iterable[str]) -> dict[str, Place]:
        """The entries of a mapping whose keys are fixed; others are noted, with a suggestion."""
        known = tuple(known)
        found = {}
        for name, place in self.entries():
            if name in known:
                found[name] = place
            else:
                hint = did_you_mean(name, known)
                place.complain_of_name(f"unknown key. {hint}Known keys are {', '.join(known)}")
        return found

    def elements(self) -> tuple[Place, ...]:
        """The elements of a list, in order; none, and a problem, where it is no list."""
        import yaml

        if not isinstance(self.node, yaml.SequenceNode):
            self.complain(f"must be a list, not {_kind_of(self.node)}")
            return ()
        return tuple(Place(node, f"{self.where}[{at}]", self.findings) for at, node in enumerate(self.node.value))

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here."""
        return self.node.tag == "tag:yaml.org,2002:null"

    def value(self) -> object:
        """The scalar; None, and a problem, where it is none."""
        import yaml

        if not isinstance(self.node, yaml.ScalarNode):
            self.complain(f"must be a single value, not {_kind_of(self.node)}")
            return None
        try:
            return yaml.SafeLoader("").construct_object(self.node)
        except (ValueError, OverflowError, yaml.YAMLError):
            self.complain("cannot be read as a value; put it in quotes if it is a text")
            return None

    def text(self, fault: Callable[[str], str | None] = lambda _: None) -> str | None:
        """The text without the white space around it, where `fault` finds nothing wrong with it."""
        value = self.value()
        if value is None and not self.is_null:
            return None
        if not isinstance(value, str) or not value.strip():
            self.complain("must be a text" + ("; put it in quotes" if value not in (None, "") else ", and not empty"))
            return None
        if wrong := fault(value.strip()):
            self.complain(wrong)
            return None
        return value.strip()


def _kind_of(node: yaml.Node) -> str:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a single value"


def read_tree(data: bytes, findings: Findings) -> Place | None:
    """The whole file as a tree; None where it is empty or cannot be read, which is then noted."""
    import yaml

    if len(data) > _LARGEST:
        findings.add(f"is larger than {_LARGEST // 1024} KiB; a config file is not")
        return None
    try:
        text = data.decode("utf-8-sig")
        if not _is_plain(text, findings):
            return None
        node = yaml.compose(text, yaml.SafeLoader)
    except UnicodeDecodeError as error:
        findings.add(f"is not UTF-8 (byte {error.start})")
        return None
    except yaml.MarkedYAMLError as error:
        findings.add(f"is not YAML: {sanitize_line(error.problem or str(error))}", mark=error.problem_mark)
        return None
    except yaml.YAMLError as error:
        findings.add(f"is not YAML: {sanitize_line(getattr(error, 'reason', ''))}")
        return None
    return None if node is None else Place(node, "", findings)


def _is_plain(text: str, findings: Findings) -> bool:
    """Looks at the file's events before anything is built: no aliases, no tags of its own, not too deep."""
    import yaml

    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            findings.add("aliases (*name) are not read here; write the value again", mark=event.start_mark)
            return False
        if getattr(event, "tag", None) is not None:
            findings.add("tags (!name) are not read here", mark=event.start_mark)
            return False
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            findings.add(f"is nested deeper than {_DEEPEST} levels", mark=event.start_mark)
            return False
    return True
