"""Key bindings: their ids, their document, and the check of the keys in the config.

`uv run python -m tests.app.test_keymap` prints `docs/keys.md`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widget import Widget

from tests.app.explore.explored import explored, session_for
from tests.app.snapshots.scenes import SCENES, play
from tests.app.snapshots.stage import fixed_world, staged
from tui.app.keymap import REPLACED_IDS, SHARED_KEYS, bindings_of_app, keymap_problems
from tui.config.load import load_config
from tui.config.shapes import RESERVED_KEYS, is_project_key
from tui.model.subjects import Config

__all__ = ["fixed_world"]

DOCUMENT = Path(__file__).parents[2] / "docs" / "keys.md"
_HEAD = """# Keys

`?` shows the keys of the focused place and of the current screen, `ctrl+p` searches all commands. `keys:` in
`config.yaml` gives an action another key, or several, by its id:

```yaml
keys:
  run.case: ctrl+r
  look.filter: slash,f3
```

Assay reports unknown ids, and a key that two actions of a screen have, when it starts. These are the default keys.

## All screens

These keys have the same meaning on every screen that has the action. `keys:` changes them on all screens.

| Id | Key | Action |
| --- | --- | --- |
"""


def document() -> str:
    """Return docs/keys.md: for each screen and widget with bindings its ids, keys and descriptions."""
    shared_rows = [_row(binding) for binding in SHARED_KEYS.values()]
    return "\n".join([_HEAD.rstrip("\n"), *shared_rows, "", *_tables()])


def _tables() -> Iterator[str]:
    for node, bindings in sorted(bindings_of_app().items(), key=lambda each: each[0].__name__.strip("_")):
        named = [binding for binding in bindings if binding.id]
        if named:
            yield f"## {node.__name__.strip('_')}\n\n| Id | Key | Action |\n| --- | --- | --- |"
            yield from map(_row, named)
            yield ""


def _row(binding: Binding) -> str:
    keys = " ".join(f"`{key.strip()}`" for key in binding.key.split(","))
    return f"| `{binding.id}` | {keys} | {binding.tooltip or binding.description} |"


def test_the_document_lists_every_id() -> None:
    assert DOCUMENT.read_text() == document(), "renew it: uv run python -m tests.app.test_keymap > docs/keys.md"


def test_default_keys_have_no_conflict() -> None:
    ids = {binding.id: binding.key for found in bindings_of_app().values() for binding in found if binding.id}
    assert keymap_problems(ids) == []


MOVING = re.compile(
    r"(border|cell|figures|risk|filter|form)\..*|case\.(before|next)|models\.(up|down|type)|check\.(up|down|answers|leave-text)"
    r"|diff\.(?!copy|save).*|matrix\.(?!baseline).*|compare\.(fold|question|blind|source-.|repeat-.)"
    r"|review\.(back|diff|extents|guidance|prompt|rule|trail)"
)
"""The actions that only move and display, although a project file cannot set their keys."""


def test_a_project_file_cannot_take_the_keys_of_actions_that_do_more_than_move() -> None:
    acting = {
        key.strip()
        for found in bindings_of_app().values()
        for binding in found
        if binding.id and not is_project_key(binding.id) and not MOVING.fullmatch(binding.id)
        for key in binding.key.split(",")
    }
    assert acting - RESERVED_KEYS == set(), "add them to RESERVED_KEYS, or the ids of moving actions to MOVING"


DIALOGS = ("confirm.no", "start.name", "tour.next", "models.add-provider", "models.type", "saved-filters.save")
"""The actions of dialogs that have the key of a shared action: a dialog covers the screens and has few keys."""

INNERMOST = ("escape", "enter", "up", "down")
"""Keys that close, open or move in the innermost place."""

CHAINS = (
    *("explore-diff", "check-editor", "case-editor", "matrix", "compare", "review", "runs", "export"),
    *(
        pytest.param(name, marks=pytest.mark.long)
        for name in (
            *("explore-filter", "explore-risk", "explore-suite", "explore-answers", "matrix-pairs"),
            *("review-several", "model-chooser", "search"),
        )
    ),
)


def test_a_shared_action_has_one_key_and_a_shared_key_one_action() -> None:
    ids = {binding.key: binding.id for binding in SHARED_KEYS.values()}
    assert len(ids) == len(SHARED_KEYS)
    for node, bindings in bindings_of_app().items():
        for binding in bindings:
            if binding.id is not None and binding.id in SHARED_KEYS:
                assert binding.key == SHARED_KEYS[binding.id].key, (node, binding.id)
            elif binding.id not in DIALOGS:
                assert [key for key in binding.key.split(",") if key in ids] == [], (node, binding.id)


@pytest.mark.parametrize("name", CHAINS)
async def test_no_key_has_two_actions_where_the_focus_can_be(
    name: str, fixed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = next(scene for scene in SCENES if scene.name == name)
    monkeypatch.chdir(fixed_world)
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        screen = stage.app.screen
        places = [widget for widget in screen.walk_children(Widget) if widget.can_focus]
        assert places
        for place in places:
            actions: dict[str, str] = {}
            for node in place.ancestors_with_self if not screen.is_modal else place.ancestors_with_self[:-1]:
                for key, bindings in node._bindings.key_to_bindings.items():
                    for binding in bindings if key not in INNERMOST else ():
                        if binding.id:
                            assert actions.setdefault(key, binding.id) == binding.id, (key, place)


def test_an_id_that_was_replaced_is_named() -> None:
    assert keymap_problems({"matrix.filter": "f3"}) == [
        "keys: matrix.filter is now look.filter, on all screens. docs/keys.md lists all ids."
    ]
    known = {binding.id for bindings in bindings_of_app().values() for binding in bindings}
    assert set(REPLACED_IDS.values()) <= known
    assert known.isdisjoint(REPLACED_IDS)


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


@pytest.mark.parametrize("key", ["ctrl+r", "f5", "left_curly_bracket", "{", "ctrl+shift+up", "alt+enter", "ß", "plus"])
def test_a_key_that_exists_is_accepted(key: str) -> None:
    assert keymap_problems({"run.case": key}) == []


@pytest.mark.parametrize("key", ["crtl+r", "nosuchkey", "ctrl+nosuchkey", "[a", "return_key"])
def test_a_key_that_does_not_exist_is_reported(key: str) -> None:
    assert keymap_problems({"run.case": key}) == [f"keys: run.case has an unknown key: {key}."]


async def test_hints_follow_the_keymap_and_its_faults_are_notified(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.config = Config(keymap={"run.case": "ctrl+r", "run.cases": "f9"})
    async with explored(session) as seen:
        await seen.until(lambda: "Press ^r to run this case" in seen.text(0))
        await seen.until(lambda: any("unknown id run.cases" in notice for notice in seen.notices))


_MOVING_OR_DISPLAYING = """
    answer: fold next-match previous-match render
    find: down page-down page-up up
    help: close
    jump: go leave
    list: down first last left page-down page-up right up
    look: back case-before compare diff export figures filter jump matrix models next-case review runs search sort
    look: suites tour
    pane: 1 2 3 4 before in-step next zoom
    search: leave open scope
    tabs: before left next right
    text: down end leave page-down page-up top up
    tour: before leave next
    tree: fold out unfold
"""


def test_a_project_file_sets_only_keys_that_move_or_display(tmp_path: Path) -> None:
    bindings = [*SHARED_KEYS.values(), *(each for known in bindings_of_app().values() for each in known)]
    keys = "".join(f"  {name}: f7\n" for name in sorted({each.id for each in bindings if each.id}))
    (file := tmp_path / ".assay.yaml").write_text(f"keys:\n{keys}")
    lines = (line.split(": ") for line in _MOVING_OR_DISPLAYING.strip().splitlines())
    harmless = {f"{area.strip()}.{name}" for area, names in lines for name in names.split()}
    assert set(load_config(tmp_path, {}, file).keymap) == harmless


if __name__ == "__main__":
    sys.stdout.write(document())
