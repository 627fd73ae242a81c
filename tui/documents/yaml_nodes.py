"""A short YAML file as a tree of nodes with positions; problems are collected, not raised.

Configuration and themes are read this way. Suites are larger and are read by `yaml_reader`, which builds plain values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tui.documents.problems import LONG_NUMBER, MOST_DIGITS, PARSER_TOO_DEEP, has_too_many_digits
from tui.model.errors import Level, Problem
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    import yaml
    from yaml._yaml import Mark as CMark

    _Mark = yaml.Mark | CMark

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
Refusal = Literal["size", "encoding", "syntax", "characters", "depth", "alias", "tag", "duplicate"]


@dataclass(frozen=True, slots=True)
class FileRules:
    """The limits of a kind of file.

    `sentences` has a message for each refusal, with `{}` for a detail; tags are allowed if they have no message. The
    `native` parser (libyaml) is faster; the messages of the other one are easier to understand.
    """

    most_bytes: int
    most_depth: int
    sentences: Mapping[Refusal, str]
    native: bool = False


@dataclass(slots=True)
class Findings:
    """The problems of one file."""

    file: str
    rules: FileRules
    problems: list[Problem] = field(default_factory=list)

    def add(self, what: str, where: str = "", mark: _Mark | None = None, level: Level = "error") -> None:
        """Add a problem at that mark."""
        line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
        self.problems.append(Problem(self.file, line, column, level, sanitize_line(where, 120), what))

    def refuse(self, refusal: Refusal, detail: object = "", where: str = "", mark: _Mark | None = None) -> None:
        """Add the problem that the file's rules define for this refusal."""
        self.add(self.rules.sentences[refusal].format(detail), where, mark)

    def in_order(self) -> tuple[Problem, ...]:
        """Return the problems in the order of the file."""
        return tuple(sorted(self.problems, key=lambda problem: (problem.line or 0, problem.column or 0)))


_NAME_WITH_VALUE = re.compile(
    r"([^\s\"']*?(?:auth|key|token|secret|pass|cookie)[\w-]*)[:=].{6}|([^\s\"']+)[\s\"'].*[^\s\"']{8}",
    re.IGNORECASE | re.DOTALL,
)


def _shown_name(name: str) -> str:
    """Return a name without what may be a value: with a wrong quotation mark or colon, a key becomes part of it."""
    found = _NAME_WITH_VALUE.match(name)
    return f"{found[1] or found[2]}…" if found else name


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A node of the file, with its dotted path, and its key if it has one."""

    node: yaml.Node
    where: str
    findings: Findings
    key: yaml.Node | None = None

    def add_problem(self, what: str, level: Level = "error") -> None:
        """Add a problem at the value."""
        self.findings.add(what, self.where, self.node.start_mark, level)

    def add_key_problem(self, what: str) -> None:
        """Add a problem at the key."""
        self.findings.add(what, self.where, (self.key or self.node).start_mark)

    def entries(self) -> Iterator[tuple[str, YamlNode]]:
        """Return the entries of a mapping in the file's order, each key once."""
        import yaml

        if self.is_null:
            return
        if not isinstance(self.node, yaml.MappingNode):
            self.add_problem(f"expected a mapping of names to values, got {_kind_of(self.node)}")
            return
        seen: set[str] = set()
        for key, value in self.node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            where = f"{self.where}.{_shown_name(name)}" if self.where else _shown_name(name)
            if not name:
                YamlNode(key, self.where, self.findings).add_problem("expected a string as name")
            elif name in seen:
                self.findings.refuse("duplicate", where=where, mark=key.start_mark)
            else:
                seen.add(name)
                yield name, YamlNode(value, where, self.findings, key)

    def elements(self) -> tuple[YamlNode, ...]:
        """Return the elements of a list in order; if it is not a list, add a problem and return none."""
        import yaml

        if not isinstance(self.node, yaml.SequenceNode):
            self.add_problem(f"expected a list, got {_kind_of(self.node)}")
            return ()
        return tuple(YamlNode(node, f"{self.where}[{at}]", self.findings) for at, node in enumerate(self.node.value))

    @property
    def is_mapping(self) -> bool:
        """Whether the node is a mapping of keys to values."""
        import yaml

        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_null(self) -> bool:
        """Whether there is no value."""
        return self.node.tag == "tag:yaml.org,2002:null"

    @property
    def is_empty(self) -> bool:
        """Whether there is no value, or a mapping without keys."""
        return self.is_null or (self.is_mapping and not self.node.value)

    @property
    def written(self) -> str | None:
        """The characters of a scalar, whatever its type, or None if the node is not a scalar."""
        import yaml

        return self.node.value if isinstance(self.node, yaml.ScalarNode) else None

    @property
    def truth(self) -> bool | None:
        """True or False, or None if the node is neither."""
        if self.node.tag != "tag:yaml.org,2002:bool" or self.written is None:
            return None
        return self.written.lower() in {"true", "yes", "on"}

    def value(self) -> object:
        """Return the scalar; if the node is not a scalar, add a problem and return None."""
        import yaml

        if not isinstance(self.node, yaml.ScalarNode):
            self.add_problem(f"expected a single value, got {_kind_of(self.node)}")
            return None
        text = self.node.value
        is_long = len(text) > MOST_DIGITS and self.node.tag in _NUMBERS
        try:
            # A long number is not converted: the time that `1:30:00…` takes grows with the square of its length.
            value = None if is_long else yaml.SafeLoader("").construct_object(self.node)
        except (ValueError, OverflowError, yaml.YAMLError):
            self.add_problem("is not a valid value; put text in quotes")
            return None
        if is_long or has_too_many_digits(value):
            self.add_problem(LONG_NUMBER.format(len(text)))
            return None
        return value

    def text(self, fault: Callable[[str], str | None] = lambda _: None) -> str | None:
        """Return the text without surrounding white space; if `fault` finds a problem, add it and return None."""
        value = self.value()
        if value is None and not self.is_null:
            return None
        if not isinstance(value, str) or not value.strip():
            self.add_problem(
                "expected a string" + ("; put it in quotes" if value not in (None, "") else " that is not empty")
            )
            return None
        if wrong := fault(value.strip()):
            self.add_problem(wrong)
            return None
        return value.strip()


def _kind_of(node: yaml.Node) -> str:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a single value"


def read_nodes(data: bytes, findings: Findings) -> YamlNode | None:
    """Return the root of the file; None if the file is empty, or cannot be read, which adds a problem."""
    import yaml

    rules = findings.rules
    if len(data) > rules.most_bytes:
        findings.refuse("size")
        return None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if rules.native else yaml.SafeLoader
    try:
        text = data.decode("utf-8-sig")
        if not _is_plain(text, loader, findings):
            return None
        node = yaml.compose(text, loader)
    except UnicodeDecodeError as error:
        findings.refuse("encoding", error.start)
        return None
    except yaml.MarkedYAMLError as error:
        is_deep = PARSER_TOO_DEEP in str(error.problem)
        text = "" if is_deep else sanitize_line(error.problem or str(error))
        findings.refuse("depth" if is_deep else "syntax", text, mark=error.problem_mark)
        return None
    except yaml.YAMLError as error:
        findings.refuse("characters", sanitize_line(getattr(error, "reason", "")))
        return None
    return YamlNode(node, "", findings) if isinstance(node, yaml.Node) else None


def _is_plain(text: str, loader: type[yaml.SafeLoader], findings: Findings) -> bool:
    """Check the events of the file before nodes are built: deep nesting can crash the process, aliases can grow."""
    import yaml

    rules, depth = findings.rules, 0
    for event in yaml.parse(text, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        refusal: Refusal | None = None
        if isinstance(event, yaml.AliasEvent):
            refusal = "alias"
        elif "tag" in rules.sentences and getattr(event, "tag", None) is not None:
            refusal = "tag"
        elif depth > rules.most_depth:
            refusal = "depth"
        if refusal is not None:
            findings.refuse(refusal, mark=event.start_mark)
            return False
    return True
