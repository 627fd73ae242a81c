"""Entries of a YAML object are set and removed, and no character around them changes."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.documents.source_edits import NotEditable, read_editable
from tui.model.values import JsonValue

CONFIG = """\
# mine
theme: dark  # at night
keys: {run.case: f5, 'look.jump': f6}

risk:
  # how bad
  weights:
    low: 1   # one
    high: 3

  limits:
review:
  mask:
    - acme  # us
    - "b c"
    - third
# the end
"""


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (("theme",), "light", "theme: dark  #", "theme: light  #"),
        (("theme",), "yes", "theme: dark  #", "theme: 'yes'  #"),
        (("keys", "run.case"), "f7,ctrl+r", "run.case: f5,", "run.case: 'f7,ctrl+r',"),
        (("keys", "run.suite"), "f8", "'look.jump': f6}", "'look.jump': f6, run.suite: f8}"),
        (("risk", "weights", "low"), 2, "low: 1   # one", "low: 2   # one"),
        (("risk", "weights", "critical"), 9, "    high: 3\n", "    high: 3\n    critical: 9\n"),
        (("risk", "limits", "high"), 7, "  limits:\n", "  limits:\n    high: 7\n"),
        (("risk", "guidance"), ["a", "b: c"], "  limits:\n", "  limits:\n  guidance: [a, 'b: c']\n"),
        (("review", "repeats"), 10, "    - third\n", "    - third\n  repeats: 10\n"),
        (("review", "mask"), ["acme", "B", "third"], '- "b c"', "- B"),
        (("review", "mask"), ["Acme", "b c", "third"], "- acme  # us", "- Acme  # us"),
        (("review", "mask"), ["acme", "third"], '    - "b c"\n', ""),
        (("review", "mask"), ["acme", "b c", "third", "x"], "- third\n", "- third\n    - x\n"),
        (("review", "mask"), ["x", "acme", "b c", "third"], "    - acme", "    - x\n    - acme"),
        (("reviewer",), "Ada", "# the end\n", "# the end\nreviewer: Ada\n"),
        (("rules", "qwen*"), "mine", "# the end\n", "# the end\nrules:\n  qwen*: mine\n"),
        (
            ("models", "warm"),
            {"id": "m", "temperature": 0.8},
            "# the end\n",
            "# the end\nmodels:\n  warm:\n    id: m\n    temperature: 0.8\n",
        ),
    ],
)
def test_a_value_is_set(path: tuple[str, ...], value: JsonValue, before: str, after: str) -> None:
    assert CONFIG.count(before) == 1
    assert read_editable(CONFIG, "YAML").put(path, value) == CONFIG.replace(before, after)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (("theme",), "theme: dark  # at night\n", ""),
        (("keys", "run.case"), "run.case: f5, ", ""),
        (("keys", "look.jump"), ", 'look.jump': f6", ""),
        (("keys",), "keys: {run.case: f5, 'look.jump': f6}\n", ""),
        (("risk", "weights", "low"), "    low: 1   # one\n", ""),
        (("risk", "weights"), "  weights:\n    low: 1   # one\n    high: 3\n", ""),
        (("risk", "limits"), "  limits:\n", ""),
    ],
)
def test_an_entry_is_removed(path: tuple[str, ...], before: str, after: str) -> None:
    assert CONFIG.count(before) == 1
    assert read_editable(CONFIG, "YAML").remove(path) == CONFIG.replace(before, after)


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        ("risk: {weights: {low: 2}}\ntheme: x\n", ("risk", "weights", "low"), "theme: x\n"),
        ("risk:\n  weights:\n    low: 2\ntheme: x\n", ("risk", "weights", "low"), "theme: x\n"),
        ("risk:\n  # why\n  weights:\n    low: 2\n", ("risk", "weights", "low"), "risk:\n  # why\n"),
        ("theme: x", ("theme",), ""),
        ("# a\ntheme: x # b\n# c\n", ("theme",), "# a\n# c\n"),
        ("a: |\n  text\n  more\n\nb: 1\n", ("a",), "\nb: 1\n"),
        ("{a: 1, b: 2}", ("b",), "{a: 1}"),
    ],
)
def test_objects_that_become_empty_are_removed(text: str, path: tuple[str, ...], after: str) -> None:
    assert read_editable(text, "YAML").remove(path) == after


@pytest.mark.parametrize(
    ("text", "path", "value", "after"),
    [
        ("", ("theme",), "x", "theme: x\n"),
        ("# only a comment", ("theme",), "x", "# only a comment\ntheme: x\n"),
        ("theme:\n", ("theme",), "x", "theme: x\n"),
        ("theme: # none yet\n", ("theme",), "x", "theme: x # none yet\n"),
        ("theme: x\r\nkeys:\r\n", ("keys", "a"), "b", "theme: x\r\nkeys:\r\n  a: b\r\n"),
        ("keys: {}\n", ("keys", "a"), "b", "keys: {a: b}\n"),
        ("risk: {}\n", ("risk", "weights", "low"), 2, "risk: {weights: {low: 2}}\n"),
        ("mask: [a, b]  # c\n", ("mask",), ["a", "x, y"], "mask: [a, 'x, y']  # c\n"),
        ("mask: [a, b,\n  c, d]\n", ("mask",), ["a", "b", "c", "d", "e"], "mask: [a, b,\n  c, d, e]\n"),
        ("mask: [a,\n  b, c, a]\n", ("mask",), ["b", "c", "a", "b"], "mask: [b, c, a,\n  b]\n"),
        ("mask:\n- a\n- b\n", ("mask",), ["c"], "mask:\n- c\n"),
        ("mask:\n- a", ("mask",), ["a", "c"], "mask:\n- a\n- c\n"),
        ("low: 3\n", ("low",), 4, "low: 4\n"),
        ("low: 0x3\n", ("low",), 4, "low: 4\n"),
        ("t: |\n  a\n  b\nu: 1\n", ("t",), "c", "t: |-\n  c\nu: 1\n"),
    ],
)
def test_the_layout_of_small_files_stays(text: str, path: tuple[str, ...], value: JsonValue, after: str) -> None:
    assert read_editable(text, "YAML").put(path, value) == after


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("- a\n", ("theme",), "x"),
        ("theme: x\n", ("theme", "deep"), "x"),
        ("{theme: x}\n", ("keys",), "x"),
        ("mask:\n- a\n", ("mask",), []),
        ("mask: [a, # why\n  b]\n", ("mask",), ["a"]),
        ("mask:\n- a # why\n- b\n", ("mask",), ["A", "new", "b"]),
        ("mask: [a, b, # why\n  c, d]\n", ("mask",), ["a", "b", "c", "d", "e"]),
        ("keys: {a: b}\n", ("keys",), "x"),
        ("a: &one {b: 1}\nc: *one\n", ("a", "b"), 2),
        ("a: &one {b: 1}\nc: *one\n", ("c", "b"), 2),
        ("theme: x\n...\n", ("keys",), "x"),
    ],
)
def test_what_cannot_be_set_is_refused(text: str, path: tuple[str, ...], value: JsonValue) -> None:
    with pytest.raises(NotEditable):
        read_editable(text, "YAML").put(path, value)


@pytest.mark.parametrize(("text", "path"), [("theme: x\n", ("none",)), ("? theme\n: x\n", ("theme",))])
def test_what_cannot_be_removed_is_refused(text: str, path: tuple[str, ...]) -> None:
    with pytest.raises(NotEditable):
        read_editable(text, "YAML").remove(path)


NAMES = st.text("abcXYZ .:#-*'\"é", min_size=1, max_size=6)
VALUES = NAMES | st.integers() | st.booleans() | st.lists(NAMES, min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=4), st.booleans(), NAMES, VALUES)
def test_a_value_that_was_set_is_read_and_can_be_removed(
    held: dict[str, Any], flow: bool, name: str, value: Any
) -> None:
    text = yaml.safe_dump({"first": 1, "held": held}, default_flow_style=flow or None, allow_unicode=True)
    text = text if not flow else "first: 1\nheld: " + yaml.safe_dump(held, default_flow_style=True, allow_unicode=True)
    document = read_editable(text, "YAML")
    try:
        changed = document.put(("held", name), value)
        again = read_editable(changed, "YAML").remove(("held", name))
    except NotEditable:
        return
    assert yaml.safe_load(changed)["held"] == {**held, name: value}
    without = {key: each for key, each in held.items() if key != name}
    assert (yaml.safe_load(again).get("held") or {}) == without
