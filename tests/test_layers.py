"""The house of ARCHITECTURE.md as a test: who may import whom, and where each outside library lives."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tui

PACKAGE = Path(tui.__file__).parent
SIBLINGS = {"suites", "providers", "checks", "workspace", "store", "risk", "reports", "config", "imports"}
GROUND = {"model", "statistics", "processes", "documents"}
ALLOWED = {
    **{ground: {ground} for ground in GROUND},
    "documents": {"documents", "model"},
    **{sibling: {sibling, *GROUND} for sibling in SIBLINGS},
    "runner": {"runner", *SIBLINGS, *GROUND},
    "session": {"runner", "session", *SIBLINGS, *GROUND},
    "app": {"session", "app", "model", "statistics", "documents"},
    "cli": {"runner", "session", "app", "cli", *SIBLINGS, *GROUND},
    "__main__": {"cli"},
}
HOMES = {
    "textual": "app",
    "textual_serve": "cli",
    "rich": "app",
    "httpx": "providers",
    "aiohttp": "providers",
    "pygit2": "workspace",
    "sqlite3": "store",
    "numpy": "statistics",
    "scipy": "no room: the tests alone",
}
ALSO = {"app": {"tui.runner.control"}, "cli": {"aiohttp.web", "aiohttp.WSMsgType"}}
"""Modules of other rooms and names of other rooms' libraries that a room may use: `assay serve` is a web server."""
COMPLETE_PATHS = ("model/current_folder.py", "providers/agents/runner.py", "__main__.py")
"""Modules that may ask for the current folder: the runner of an agent imports nothing of Assay."""
WITHOUT_TEXTUAL = ("*_lines.py", "*_state.py", "text/*.py", "presentation/*.py")
"""Modules of the app that compute what is displayed: they can be used and tested without a screen."""
MODEL_MAY_USE = {"pydantic", "typing_extensions", "tui"}


def imports_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def faults_of(room: str, names: Iterator[str]) -> list[str]:
    faults = []
    for name in names:
        top, _, rest = name.partition(".")
        if any(name == each or name.startswith(f"{each}.") for each in ALSO.get(room, ())):
            continue
        if top == "tui":
            other = rest.split(".")[0]
            if other and not other.startswith("__") and other not in ALLOWED[room]:
                faults.append(f"{room} imports {name}")
        elif top in HOMES and HOMES[top] != room:
            faults.append(f"{room} imports {name}, whose home is {HOMES[top]}")
    return faults


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_the_right_way(path: Path) -> None:
    assert faults_of(room_of(path), imports_of(ast.parse(path.read_text()))) == []


def test_what_computes_the_display_loads_no_textual() -> None:
    paths = {path for pattern in WITHOUT_TEXTUAL for path in (PACKAGE / "app").rglob(pattern)}
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in sorted(paths)]
    assert "tui.app.explore.answer_lines" in names
    code = (
        f"import importlib, sys; [importlib.import_module(name) for name in {names}]; print('textual' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_wrong_arrow_is_found() -> None:
    tree = ast.parse("import httpx\nfrom tui.app import explore\nfrom tui.model import suite")
    assert faults_of("store", imports_of(tree)) == [
        "store imports httpx, whose home is providers",
        "store imports tui.app.explore",
    ]
    tree = ast.parse("from tui.runner.control import Control\nfrom tui.runner.run import run")
    assert faults_of("app", imports_of(tree)) == ["app imports tui.runner.run.run"]


def test_the_model_knows_only_the_standard_library_and_pydantic() -> None:
    for path in (PACKAGE / "model").rglob("*.py"):
        for name in imports_of(ast.parse(path.read_text())):
            top = name.partition(".")[0]
            assert top in MODEL_MAY_USE or top in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_paths_are_completed_in_one_module() -> None:
    """Others raise FileNotFoundError when the current folder was removed."""
    completes = re.compile(r"\.absolute\(\)|(?<!report)\.resolve\(\)|\b(abspath|realpath)\(")
    found = {
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        if str(path.relative_to(PACKAGE)) not in COMPLETE_PATHS
        for line in path.read_text().splitlines()
        if completes.search(line)
    }
    assert found == set()
