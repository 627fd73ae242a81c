"""The documents: the files, links, pictures and commands that they name exist."""

import re
from pathlib import Path

import click
import pytest

from tests.support.pages import PAGES, TOP, blocks, prose
from tui.cli.main import assay as assay_command

# `path/of/module.py`, `folder/`: relative to the top of the repository or to `tui/`.
PATHS = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?|\.ci/run)`")
INLINE = re.compile(r"`(assay [^`]+)`")
LINKS = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
HEADINGS = re.compile(r"^#+ +(.+)$", re.MULTILINE)
PICTURES = sorted((TOP / "docs" / "pictures").iterdir())


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_every_path_in_it_exists(name: str) -> None:
    text = (TOP / name).read_text(encoding="utf-8")
    paths = PATHS.findall(text)
    assert len(paths) > 5
    assert [path for path in paths if not (TOP / path).exists() and not (TOP / "tui" / path).exists()] == []


def anchors(page: Path) -> set[str]:
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADINGS.findall(prose(page))}


@pytest.mark.parametrize("page", [*PAGES, *sorted(TOP.glob("[A-Z]*.md"))], ids=lambda page: page.name)
def test_every_link_resolves(page: Path) -> None:
    broken = []
    for link in LINKS.findall(prose(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_readme_is_short_and_links_every_page() -> None:
    text = (TOP / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert [page.name for page in PAGES[1:] if f"](docs/{page.name})" not in text] == []
    fenced = [block.text.strip() for block in blocks(TOP / "README.md")]
    assert {"pip install uv && uv run assay", "pip install uv && uv run pytest"} <= set(fenced)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_that_of_the_app(picture: Path) -> None:
    made = TOP / "tests" / "app" / "snapshots" / "pictures" / picture.name
    assert picture.read_bytes() == made.read_bytes(), 'run: uv run pytest tests/app/snapshots -m "" --snapshot-update'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_a_sentence_exists(page: Path) -> None:
    for written in INLINE.findall(prose(page)):
        command: click.Command = assay_command
        for word in written.split()[1:]:
            found = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
            if found is not None:
                command = found
            elif word.startswith("-"):
                known = [name for option in command.params for name in (*option.opts, *option.secondary_opts)]
                assert word in [*known, "--version"], written
