"""Validation of the config file by its shape: pydantic's errors become problems with a position in the file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import is_typeddict

from tui.config.shapes import FAULT, KEY_FAULT, VariantShape
from tui.documents.yaml_nodes import YamlNode
from tui.model.errors import Problem
from tui.model.subjects import PARAMETERS, parameter_fault
from tui.model.suggest import did_you_mean

Loc = tuple[str | int, ...]
Shape = TypeVar("Shape")
_INVALID = object()  # the value of a scalar that cannot be constructed, such as 2026-13-45


@dataclass(slots=True)
class _Document:
    """A YAML document as plain values, with the node of each value by its path.

    `pending` are problems of mappings, such as a duplicate key. They count only where the shape expects a mapping.
    """

    nodes: dict[Loc, YamlNode] = field(default_factory=dict)
    pending: list[tuple[Loc, Problem]] = field(default_factory=list)

    def add(self, node: YamlNode, loc: Loc) -> Any:
        """Return the plain value of the node and of all nodes below."""
        self.nodes[loc] = node
        problems = node.findings.problems
        before = len(problems)
        if node.is_mapping:
            entries = dict(node.entries())
            self.pending += ((loc, problem) for problem in problems[before:])
            del problems[before:]
            return {name: self.add(entry, (*loc, name)) for name, entry in entries.items()}
        if node.written is None:
            return [self.add(element, (*loc, at)) for at, element in enumerate(node.elements())]
        value = node.value()
        if len(problems) > before:
            del problems[before:]
            return _INVALID
        return value


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def read_shape(
    tree: YamlNode, expected: type[Shape], refused: Mapping[str, str] = MappingProxyType({})
) -> tuple[Shape, Mapping[Loc, YamlNode]]:
    """Return the valid parts of a config file of the expected shape, and the node of each value by its path.

    Problems are added at their position. Invalid values and unknown keys are left out; `refused` are keys of the root
    with a sentence about why they are invalid.
    """
    kind: Any = expected
    document, adapter = _Document(), _adapter(kind)
    value = document.add(tree, ())
    if value is None:
        return adapter.validate_python({}), document.nodes
    unread: set[Loc] = set()
    try:
        shape = adapter.validate_python(value)
    except ValidationError as error:
        for loc, detail in _first_of_each(error):
            unread.add(loc)
            if len(loc) == 1 and loc[0] in refused:
                document.nodes[loc].add_key_problem(refused[str(loc[0])])
            else:
                _add_problem(document.nodes[loc], _shape_at(expected, loc[:-1]), loc, detail)
        # An element is left out with its list, whose length would be another one.
        left_out = {loc[:-1] if loc and isinstance(loc[-1], int) else loc for loc in unread}
        shape = adapter.validate_python({} if () in left_out else _without(value, left_out))
    for loc, problem in document.pending:
        if not any(loc[:length] in unread for length in range(len(loc) + 1)):
            tree.findings.problems.append(problem)
    return shape, document.nodes


def _first_of_each(error: ValidationError) -> Iterator[tuple[Loc, ErrorDetails]]:
    """Return the path and the details of the errors: one for each value, none for the value of an invalid key."""
    seen: set[Loc] = set()
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        if detail["type"] == KEY_FAULT and loc[-1] == "[key]":
            loc = loc[:-1]
        if loc not in seen:
            seen.add(loc)
            yield loc, detail


def _without(value: Any, paths: set[Loc], loc: Loc = ()) -> Any:
    """Return the value without the entries at these paths."""
    if not isinstance(value, dict):
        return value
    return {key: _without(item, paths, (*loc, key)) for key, item in value.items() if (*loc, key) not in paths}


def _add_problem(node: YamlNode, owner: Any, loc: Loc, detail: ErrorDetails) -> None:
    """Add the problem of an error in the shape `owner`.

    Reading the node as the expected kind adds the problem of another kind.
    """
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        known = tuple(get_type_hints(owner))
        hint = did_you_mean(str(loc[-1]), known)
        node.add_key_problem(f"unknown key. {hint}Known keys are {', '.join(known)}")
    elif kind == KEY_FAULT:
        node.add_key_problem(detail["msg"])
    elif kind == "dict_type":
        next(node.entries(), None)
    elif kind == "list_type":
        node.elements()
    elif value is _INVALID or (isinstance(value, dict | list) and kind != FAULT):
        node.value()
    elif kind == FAULT:
        node.add_problem(detail["msg"])
    elif owner is VariantShape and loc[-1] in PARAMETERS:
        node.add_problem(parameter_fault(str(loc[-1]), value) or detail["msg"])
    elif kind in ("string_type", "string_too_short") or (
        kind == "literal_error" and not (isinstance(value, str) and value)
    ):
        node.text()
    elif kind == "string_unicode":
        node.add_problem("half a surrogate pair (\\ud800 to \\udfff) is not a character; remove or complete it")
    elif kind == "string_too_long":
        node.add_problem(f"is longer than {detail['ctx']['max_length']} characters")
    else:
        hint = get_type_hints(owner, include_extras=True)[str(loc[-1])]
        node.add_problem(_choice_sentence(value, hint) if kind == "literal_error" else _number_sentence(hint))


def _choice_sentence(value: str, hint: Any) -> str:
    allowed = [part for part in _parts(hint) if isinstance(part, str)]
    return f"{did_you_mean(value, allowed)}Expected one of {', '.join(allowed)}"


def _number_sentence(hint: Any) -> str:
    parts = list(_parts(hint))
    least = next(part.ge for part in parts if hasattr(part, "ge"))
    most = next(part.le for part in parts if hasattr(part, "le"))
    what = "a number of USD per million tokens," if float in parts else "a whole number"
    return f"expected {what} from {least:,} to {most:,.0f}"


def _parts(hint: Any) -> Iterator[Any]:
    """Return all arguments and metadata of an annotation."""
    for part in (*get_args(hint), *getattr(hint, "metadata", ())):
        yield part
        yield from _parts(part)


def _shape_at(shape: Any, path: Loc) -> Any:
    """Return the shape at a path of a file of this shape."""
    hint = shape
    for step in path:
        hint = get_type_hints(hint)[str(step)] if is_typeddict(hint) else get_args(hint)[-1]
    return hint
