"""Key bindings: their ids, their document, and the check of the keys in the config.

`uv run python -m tests.app.test_keymap` prints `docs/keys.md`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.explore.explored import explored, session_for
from tui.app.keymap import bindings_of_app, keymap_problems
from tui.model.subjects import Config

DOCUMENT = Path(__file__).parents[2] / "docs" / "keys.md"
_HEAD = """# Keys

`?` shows the keys of the current screen, `ctrl+p` searches all commands. `keys:` in `config.yaml` gives an action
another key, or several, by its id:

```yaml
keys:
  run.case: ctrl+r
  look.filter: slash,f3
```

Assay reports unknown ids, and a key that two actions of a screen have, when it starts. The table has the default keys.
"""


def document() -> str:
    """Return docs/keys.md: for each screen and widget with bindings its ids, keys and descriptions."""
    return "\n".join([_HEAD, *_tables()])


def _tables() -> Iterator[str]:
    for node, bindings in sorted(bindings_of_app().items(), key=lambda each: each[0].__name__.strip("_")):
        named = [binding for binding in bindings if binding.id]
        if named:
            yield f"## {node.__name__.strip('_')}\n\n| Id | Key | Action |\n| --- | --- | --- |"
            for binding in named:
                keys = " ".join(f"`{key.strip()}`" for key in binding.key.split(","))
                yield f"| `{binding.id}` | {keys} | {binding.tooltip or binding.description} |"
            yield ""


def test_the_document_lists_every_id() -> None:
    assert DOCUMENT.read_text() == document(), "renew it: uv run python -m tests.app.test_keymap > docs/keys.md"


def test_default_keys_have_no_conflict() -> None:
    ids = {binding.id: binding.key for found in bindings_of_app().values() for binding in found if binding.id}
    assert keymap_problems(ids) == []


@pytest.mark.parametrize(
    ("keymap", "problem"),
    [
        ({"run.cas": "r"}, "keys: unknown id run.cas. Did you mean run.case? docs/keys.md lists all ids."),
        ({"run.case": "z"}, "keys: run.case and pane.zoom have the same key z."),
        ({"look.filter": "q"}, "keys: look.filter and app.leave have the same key q."),
        ({"run.case": "ctrl+r", "run.suite": "ctrl+r"}, "keys: run.case and run.suite have the same key ctrl+r."),
        ({"run.case": "?"}, "keys: run.case and app.help have the same key question_mark."),
    ],
)
def test_a_faulty_keymap_is_explained(keymap: dict[str, str], problem: str) -> None:
    assert keymap_problems(keymap) == [problem]


def test_a_good_keymap_has_no_problem() -> None:
    assert keymap_problems({"run.case": "ctrl+r", "look.filter": "slash,f3"}) == []
    assert keymap_problems({"run.case": "z", "pane.zoom": "r"}) == []


async def test_hints_follow_the_keymap_and_its_faults_are_notified(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.config = Config(keymap={"run.case": "ctrl+r", "run.cases": "f9"})
    async with explored(session) as seen:
        await seen.until(lambda: "Press ^r to run this case" in seen.text(0))
        await seen.until(lambda: any("unknown id run.cases" in notice for notice in seen.notices))


if __name__ == "__main__":
    sys.stdout.write(document())
