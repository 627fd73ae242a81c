"""Print every text that a user can see, read from the source, as one list.

uv run python -m tests.support.user_texts [FOLDER OR FILE …]
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path("tui")
_COMMAND = re.compile(r"(^|\.)(command|group)$")
_STYLE_SHEET = re.compile(r"(^|_)CSS$")
_QUERY = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE|PRAGMA|BEGIN|DROP|ATTACH|SAVEPOINT)\b")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class UserText:
    """A text and the line where it begins; the values of an f-string are shown as their expressions in braces."""

    line: int
    text: str


def user_texts(source: str) -> list[UserText]:
    """Return the texts of a module that read as text, in the order of the file.

    A text has a letter and a space, or begins with a capital letter. Docstrings count only where click prints them as
    the help of a command. Style sheets and database queries are no texts.
    """
    tree = ast.parse(source)
    skipped = set(_skipped(tree))
    found = [UserText(node.lineno, text) for node, text in _strings(tree, skipped) if _reads_as_text(text)]
    return sorted(found)


def _strings(node: ast.AST, skipped: set[int]) -> Iterator[tuple[ast.expr, str]]:
    """Yield each string below a node with its text; an f-string is one text."""
    for child in ast.iter_child_nodes(node):
        if id(child) in skipped:
            continue
        if isinstance(child, ast.JoinedStr):
            yield child, _joined(child)
            for value in child.values:
                if isinstance(value, ast.FormattedValue):
                    yield from _strings(value, skipped)
        elif isinstance(child, ast.Constant):
            if isinstance(child.value, str):
                yield child, child.value
        else:
            yield from _strings(child, skipped)


def _joined(node: ast.JoinedStr) -> str:
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            parts.append("{" + ast.unparse(value.value) + "}")
    return "".join(parts)


def _skipped(tree: ast.Module) -> Iterator[int]:
    """Yield the ids of the nodes that hold no text for users: docstrings and style sheets."""
    commands = {id(node.body[0]) for node in ast.walk(tree) if isinstance(node, _Function) and _is_command(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and id(node) not in commands:
            yield id(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if any(_STYLE_SHEET.search(name) for name in names):
                yield id(node.value)


def _is_command(node: _Function) -> bool:
    """Return whether click prints the docstring of the function as the help of a command."""
    decorators = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in node.decorator_list)
    return any(_COMMAND.search(ast.unparse(decorator)) for decorator in decorators)


def _reads_as_text(text: str) -> bool:
    words = re.sub(r"\{[^}]*\}", "", text)
    has_space = bool(re.search(r"\s", text.strip())) or text != text.strip()
    return bool(re.search(r"[A-Za-z]", words)) and (has_space or text[:1].isupper()) and not _QUERY.match(text)


def main(places: list[str]) -> None:
    """Print the texts of the given files and folders, or of the whole package, by file."""
    roots = [Path(place) for place in places] or [PACKAGE]
    files = [path for root in roots for path in (sorted(root.rglob("*.py")) if root.is_dir() else [root])]
    for path in files:
        texts = user_texts(path.read_text(encoding="utf-8"))
        if texts:
            sys.stdout.write(f"\n{path}\n")
            sys.stdout.writelines(f"{path}:{found.line}: {found.text!r}\n" for found in texts)


if __name__ == "__main__":
    main(sys.argv[1:])
