"""An edit changes one value of a file, and no character around it."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tui.documents.json_reader import ExactJson
from tui.documents.source_edits import EditableText, NotEditable, Syntax, change_object, read_editable
from tui.documents.yaml_reader import ExactYaml

FUZZ = settings(max_examples=60, deadline=None)
SUITE = """\
# about the suite
name: S
testCases:
  - id: a   # the id
    name: "A \\u00e9"
    expectedPatterns:
      - '\\bParis\\b'  # keep
      - plain
      - |-
        lit
    forbiddenPatterns: [a, 'b', "c\\n"]

  # about b
  - id: b
    name: B

"""
EXPECTED = ("testCases", 0, "expectedPatterns")
FORBIDDEN = ("testCases", 0, "forbiddenPatterns")


@pytest.mark.parametrize("new", [" foo", "", "bar", "a\nb", "\x85"])
@pytest.mark.parametrize(
    "item",
    [
        "|-   # keep me\n    foo", ">-   # keep me\n    foo", "|2-   # keep me\n     foo",
        "!!str  # keep me\n    foo", "&x  # keep me\n    # keep me\n    'foo'", "&x\n    |  # keep me\n    foo\n",
        "&x !!str foo  # keep me",
    ],
)  # fmt: skip
def test_every_comment_stays(item: str, new: str) -> None:
    text = f"list:\n  - {item}\n  - b\n"
    edited = read_editable(text, "YAML").replace({("list", 0): new})
    assert edited.count("# keep me") == text.count("# keep me")
    assert edited.startswith("list:\n  - ")


@pytest.mark.parametrize(
    ("path", "new", "before", "after"),
    [
        ((*EXPECTED, 0), "it's", r"'\bParis\b'", "'it''s'"),
        ((*EXPECTED, 0), "a\nb", r"'\bParis\b'", '"a\\nb"'),
        ((*EXPECTED, 1), "other", "plain", "other"),
        ((*EXPECTED, 1), r"\d+", "plain", r"\d+"),
        ((*EXPECTED, 1), "x: y", "plain", "'x: y'"),
        ((*EXPECTED, 1), "yes", "plain", "'yes'"),
        ((*EXPECTED, 1), "12", "plain", "'12'"),
        ((*EXPECTED, 1), "", "plain", "''"),
        ((*EXPECTED, 2), "(lit|b)$", "|-\n        lit", "|-\n        (lit|b)$"),
        ((*EXPECTED, 2), "a\nb\n", "|-\n        lit", "|\n        a\n        b"),
        ((*EXPECTED, 2), " a", "|-\n        lit", "' a'"),
        ((*FORBIDDEN, 0), "[a]", "[a,", "['[a]',"),
        ((*FORBIDDEN, 1), '"', "'b'", "'\"'"),
        ((*FORBIDDEN, 2), '"\x85\U0001f600', '"c\\n"', '"\\"\\u0085\U0001f600"'),
        (("name",), "T", "name: S", "name: T"),
    ],
)
def test_a_text_keeps_its_style(path: tuple[str | int, ...], new: str, before: str, after: str) -> None:
    assert SUITE.count(before) == 1
    assert read_editable(SUITE, "YAML").replace({path: new}) == SUITE.replace(before, after)


def test_several_texts_change_at_once() -> None:
    changed = read_editable(SUITE, "YAML").replace({(*FORBIDDEN, 1): "x", (*EXPECTED, 0): "y"})
    assert changed == SUITE.replace("'b'", "'x'").replace(r"'\bParis\b'", "'y'")


def test_the_same_text_changes_nothing() -> None:
    assert read_editable(SUITE, "YAML").replace({("name",): "S"}) is SUITE


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("a: &x [p]\nb: *x\n", ("b", 0), "comes from the alias *x; edit the value at its anchor &x."),
        ("a: &x [p]\nb: *x\n", ("a", 0), "is shared by the anchor &x; edit the file to change all its uses."),
        ("a: &x p\nb: *x\n", ("a",), "is shared by the anchor &x; edit the file to change all its uses."),
        ("a: [p]\n", ("a", 1), "a[1] is not in the file."),
        ("a: [p]\n", ("b",), "b is not in the file."),
        ("a: [1]\n", ("a", 0), "a[0] is not a text."),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, path: tuple[str | int, ...], reason: str) -> None:
    with pytest.raises((NotEditable, IndexError, KeyError)) as refused:
        read_editable(text, "YAML").replace({path: "new"})
    assert isinstance(refused.value, NotEditable)
    assert str(refused.value).endswith(reason)


@pytest.mark.parametrize("text", ["a: 1\n---\nb: 2\n", "a: [", "x: {<<: *a}", "a: &x 1\nb: {<<: *x}"])
def test_files_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(NotEditable, match=r"The file cannot be read: .*\."):
        read_editable(text, "YAML")


def test_an_anchor_without_an_alias_and_a_tag_stay() -> None:
    assert read_editable("a: &x p\nb: !!str q\n", "YAML").replace({("a",): "1", ("b",): "r"}) == (
        "a: &x '1'\nb: !!str r\n"
    )


def test_a_text_over_several_lines_becomes_one_line() -> None:
    text = "a:\n  first\n  second\nb: 'x\n  y'\n"
    assert read_editable(text, "YAML").replace({("a",): "c", ("b",): "z"}) == "a:\n  c\nb: 'z'\n"


LISTS: list[tuple[Syntax, str, str, str]] = [
    (
        "YAML",
        "cases:\n- id: a # one\n  p: x\n# end\n",
        "cases:\n- id: a # one\n  p: x\n- id: c # one\n  p: x\n# end\n",
        "cases:\n- id: a # one\n  p: x\n- id: n\n  p: '#'\n# end\n",
    ),
    (
        "YAML",
        "cases:\r\n  -   id: a\r\n      p: x",
        "cases:\r\n  -   id: a\r\n      p: x\r\n  -   id: c\r\n      p: x\r\n",
        "cases:\r\n  -   id: a\r\n      p: x\r\n  -   id: n\r\n      p: '#'\r\n",
    ),
    (
        "YAML",
        "cases: [{id: a, p: x}] # end\n",
        "cases: [{id: a, p: x},{id: c, p: x}] # end\n",
        'cases: [{id: a, p: x},{"id": "n", "p": "#"}] # end\n',
    ),
    (
        "YAML",
        "cases:\n- {id: a, p: x}\n",
        "cases:\n- {id: a, p: x}\n- {id: c, p: x}\n",
        "cases:\n- {id: a, p: x}\n- id: n\n  p: '#'\n",
    ),
    (
        "YAML",
        "cases:\n- id: a\n  p: |\n    x\n\n    y\n\nend: 1\n",
        "cases:\n- id: a\n  p: |\n    x\n\n    y\n- id: c\n  p: |\n    x\n\n    y\n\nend: 1\n",
        "cases:\n- id: a\n  p: |\n    x\n\n    y\n- id: n\n  p: '#'\n\nend: 1\n",
    ),
    (
        "JSON",
        '{"cases": [\r\n  {\r\n    "id": "a"\r\n  }\r\n]}',
        '{"cases": [\r\n  {\r\n    "id": "a"\r\n  },\r\n  {\r\n    "id": "c"\r\n  }\r\n]}',
        '{"cases": [\r\n  {\r\n    "id": "a"\r\n  },\r\n  {\r\n    "id": "n",\r\n    "p": "#"\r\n  }\r\n]}',
    ),
    (
        "JSON",
        '{"cases":[{"id":"a"}]}',
        '{"cases":[{"id":"a"},{"id":"c"}]}',
        '{"cases":[{"id":"a"},{"id": "n", "p": "#"}]}',
    ),
]


@pytest.mark.parametrize(("syntax", "text", "copied", "added"), LISTS)
def test_a_copy_and_a_new_item_have_the_layout_of_the_item_before(
    syntax: Syntax, text: str, copied: str, added: str
) -> None:
    document = read_editable(text, syntax)
    assert document.copy_item(("cases",), 0, {"id": "c"}, 0) == copied
    assert document.add_item(("cases",), {"id": "n", "p": "#"}, 0) == added


def test_a_blank_line_separates_items_that_are_separated() -> None:
    text = "cases:\n- id: a\n\n# two\n- id: b\n"
    assert read_editable(text, "YAML").copy_item(("cases",), 1, {"id": "c"}, 1) == f"{text}\n- id: c\n"
    assert read_editable(text, "YAML").add_item(("cases",), {"id": "n"}, 0) == (
        "cases:\n- id: a\n\n- id: n\n\n# two\n- id: b\n"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cases:\n- &x {id: a}\n- b: *x\n", "is shared by the anchor|has an anchor|on a line of its own"),
        ("cases:\n- id: &x a\n  b: 1\n", "has an anchor, which cannot be defined twice"),
        ("cases:\n- x\n", "is not an object"),
        ("cases:\n-\n  id: a\n", "does not begin on a line of its own"),
        ("cases: &l\n- id: a\nb: *l\n", "shared by the anchor"),
        ("cases:\n- id: a\n- *b\n", "cannot be read"),
        ("cases:\n- name: a\n", "is not written out in the file"),
    ],
)
def test_items_that_cannot_be_copied_are_refused(text: str, reason: str) -> None:
    with pytest.raises(NotEditable, match=reason):
        read_editable(text, "YAML").copy_item(("cases",), 0, {"id": "c"}, 0)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["", " ", "yes", "1", "-", "- a", "a: b", "#", "a #b", "'", '"', "\\", "[", "{", "a\nb", "a\n", "\n", "&a", "*a",
     "!a", "|", "> ", "%", "@", "`", "~", "null", "2020-01-01", "?", "? a", ", b", "\ufeff", "\u2028", "\t", "a\r\nb"]
)  # fmt: skip
SAFE = st.from_regex(r"[a-z][a-z.|()+]{0,8}[a-z]", fullmatch=True)


@st.composite
def written_texts(draw: st.DrawFn) -> str:
    """Return an item of a YAML block list in any style, with a comment where one is possible."""
    text, comment = draw(SAFE), draw(st.sampled_from(["", " # c"]))
    style = draw(st.sampled_from(["", "'", '"', "|", "|-", "|+", ">", ">-", "|2-", "two", "two'", "!!str"]))
    if style[:1] in ("|", ">"):
        inner = "    " if style == "|2-" else draw(st.sampled_from(["   ", "     "]))
        return f"{style}{comment}\n{inner}{text}{draw(st.sampled_from(['', chr(10)]))}"
    if style == "!!str":
        return f"{style}{comment}\n    {text}"
    if style == "two":
        return f"{text}\n     more{comment}"
    if style == "two'":
        return f"'{text}\n     more'{comment}"
    return f"{style}{text}{style}{comment}"


@FUZZ
@given(
    items=st.lists(written_texts(), min_size=1, max_size=4),
    line_end=st.sampled_from(["\n", "\r\n"]),
    new=TEXTS,
    tail=st.sampled_from(["", "\n", "# c\n", "end: [a, 'b']\n"]),
    data=st.data(),
)
def test_an_edit_of_yaml_changes_one_value_and_no_other_character(
    items: list[str], line_end: str, new: str, tail: str, data: st.DataObject
) -> None:
    text = ("# c\nlist:\n" + "".join(f"  - {item}\n" for item in items) + tail).replace("\n", line_end)
    check_edit(text, "YAML", new, ("list", data.draw(st.integers(0, len(items) - 1))))


@FUZZ
@given(items=st.lists(SAFE, min_size=1, max_size=4), quotes=st.sampled_from(["", "'", '"']), new=TEXTS, data=st.data())
def test_an_edit_in_brackets_changes_one_value_and_no_other_character(
    items: list[str], quotes: str, new: str, data: st.DataObject
) -> None:
    text = "a: {list: [" + ", ".join(f"{quotes}{item}{quotes}" for item in items) + "] , b: c} # d\n"
    check_edit(text, "YAML", new, ("a", "list", data.draw(st.integers(0, len(items) - 1))))


VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def texts_in(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, str):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in texts_in(inner, (*path, key))]


@FUZZ
@given(value=VALUES, indent=st.sampled_from([None, 2, "\t"]), ascii=st.booleans(), new=TEXTS, data=st.data())
def test_an_edit_of_json_changes_one_value_and_no_other_character(
    value: Any, indent: int | str | None, ascii: bool, new: str, data: st.DataObject
) -> None:
    whole = {"a": value, "b": "at least one text"}
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii)
    check_edit(text, "JSON", new, data.draw(st.sampled_from(texts_in(whole))))


@FUZZ
@given(value=VALUES, new=TEXTS, flow=st.sampled_from([None, True, False]), data=st.data())
def test_an_edit_of_yaml_that_a_program_wrote(value: Any, new: str, flow: bool | None, data: st.DataObject) -> None:
    text = yaml.safe_dump({"a": value, "b": "at least one text"}, default_flow_style=flow, allow_unicode=True)
    reader = ExactYaml(text)
    assume(reader.read() and not reader.findings and "? " not in text)
    check_edit(text, "YAML", new, data.draw(st.sampled_from(texts_in(reader.value))))


def check_edit(text: str, syntax: Syntax, new: str, path: tuple[str | int, ...]) -> None:
    document = read_editable(text, syntax)
    changed = document.replace({path: new})
    reader = ExactJson(changed) if syntax == "JSON" else ExactYaml(changed)
    assert reader.read()
    expected: Any = read_editable(text, syntax).value
    holder = expected
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = new
    assert reader.value == expected
    start, end = place_of(document, path)
    assert changed.startswith(text[:start])
    assert changed.endswith(text[end:])


def place_of(document: EditableText, path: tuple[str | int, ...]) -> tuple[int, int]:
    place = document.root
    for step in path:
        below = place.below(step)
        assert below is not None
        place = below
    return place.start, place.end


CASE = """\
cases:
  # the first
  - id: a   # its id
    prompt: p   # why
    tags: [x, 'y']
    # what has to match
    patterns:
      - one  # 1
      # between
      - two
    files:
      - path: a.py
        lines: {start: 1, end: 2}

  - {id: b, prompt: q}
"""


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"prompt": "q"}, "prompt: p ", "prompt: q "),
        ({"prompt": "q\n\n  r: s\n"}, "prompt: p   # why\n", "prompt: |   # why\n      q\n\n        r: s\n"),
        ({"tags": ["x", "z", "y"]}, "[x, 'y']", "[x, z, 'y']"),
        ({"tags": ["y"]}, "[x, 'y']", "['y']"),
        ({"tags": None}, "    tags: [x, 'y']\n", ""),
        ({"patterns": ["one", "2", "three"]}, "      - two\n", "      - '2'\n      - three\n"),
        ({"patterns": ["two"]}, "      - one  # 1\n", ""),
        ({"patterns": ["one", "three"]}, "- two", "- three"),
        ({"patterns": ["1", "two"]}, "- one  # 1", "- '1'  # 1"),
        ({"patterns": ["one", "two", "three"]}, "- two\n", "- two\n      - three\n"),
        ({"files": [{"path": "b.py", "lines": {"start": 1, "end": 2}}]}, "path: a.py", "path: b.py"),
        ({"files": [{"path": "a.py", "lines": {"start": 1, "end": 3}}]}, "end: 2", "end: 3"),
        ({"new": "a\nb"}, "end: 2}\n", "end: 2}\n    new: |-\n      a\n      b\n"),
        ({"new": [{"type": "t", "value": "x"}]}, "end: 2}\n", "end: 2}\n    new: [{type: t, value: x}]\n"),
    ],
)
def test_only_the_changed_entries_of_an_object_are_written(changes: Any, before: str, after: str) -> None:
    document = read_editable(CASE, "YAML")
    value: Any = document.value
    new = {**value["cases"][0], **changes}
    new = {key: value for key, value in new.items() if value is not None}
    assert change_object(document, ("cases", 0), new).text == CASE.replace(before, after, 1)


COMMENTED = """\
checks:
- type: a  # first
- {type: b, value: "#"}
- type: c  # third
  value: x  # its value
- last
"""


@pytest.mark.parametrize(
    ("number", "item", "added", "before", "after"),
    [
        (0, {"type": "A"}, None, "- type: a  #", "- type: A  #"),
        (0, {"type": "A"}, 3, "- type: a  #", "- type: A  #"),
        (2, {"type": "c", "value": "y"}, 1, "value: x  #", "value: y  #"),
        (3, "end", 0, "- last", "- end"),
    ],
)
def test_a_changed_item_keeps_its_comments_beside_an_added_one(
    number: int, item: Any, added: int | None, before: str, after: str
) -> None:
    document = read_editable(COMMENTED, "YAML")
    value: Any = document.value
    checks = [item if each == number else old for each, old in enumerate(value["checks"])]
    expected = COMMENTED.replace(before, after)
    if added is not None:
        lines = expected.splitlines(keepends=True)
        at = [lines.index(line) for line in lines if line.startswith("- ")][added]
        expected = "".join([*lines[:at], "- new\n", *lines[at:]])
        checks.insert(added, "new")
    assert change_object(document, (), {"checks": checks}).text == expected


def test_a_changed_item_with_a_comment_right_beside_an_added_one_is_refused() -> None:
    document = read_editable(COMMENTED, "YAML")
    value: Any = document.value
    first, *others = value["checks"]
    with pytest.raises(NotEditable, match="A changed item beside one that was added or removed has a comment"):
        change_object(document, (), {"checks": [{"type": "A"}, "new", *others]})
    block = read_editable("checks:\n- |-  # first\n  a\n  #b\n- last\n", "YAML")
    with pytest.raises(NotEditable, match="has a comment"):
        change_object(block, (), {"checks": ["A\n#b", "new", "last"]})
    plain = read_editable("checks:\n- |-\n  a\n  #b\n- last\n", "YAML")
    assert change_object(plain, (), {"checks": ["A", "new", "last"]}).text == "checks:\n- A\n- new\n- last\n"
    assert change_object(document, (), {"checks": [first, *others[:-1], "end", "new"]}).text == COMMENTED.replace(
        "- last\n", "- end\n- new\n"
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_of_json_is_changed_in_its_layout(indent: int | None) -> None:
    value: Any = read_editable(CASE, "YAML").value
    text = json.dumps(value, indent=indent)
    new = {**value["cases"][0], "prompt": "ä\nb", "tags": ["x", "z"], "patterns": ["two"], "new": [{"type": "t"}]}
    del new["files"]
    changed = change_object(read_editable(text, "JSON"), ("cases", 0), new).text
    assert json.loads(changed) == {"cases": [new, value["cases"][1]]}
    if indent:
        assert '"prompt": "ä\\nb",\n      "tags": [\n        "x",\n        "z"\n      ]' in changed
        assert '\n      ],\n      "new": [{"type": "t"}]\n    },\n' in changed
    assert change_object(read_editable(changed, "JSON"), ("cases", 0), value["cases"][0]).value == value


def test_a_new_item_may_have_lists_and_several_lines() -> None:
    added = read_editable(CASE, "YAML").add_item(("cases",), {"id": "n", "prompt": "a\nb", "tags": ["x"]}, 0)
    item = "\n  - id: n\n    prompt: |-\n      a\n      b\n    tags: [x]\n"
    assert added == CASE.replace("\n  - {id: b", f"{item}\n  - {{id: b")


_VALUES = st.text(max_size=30) | st.lists(st.text(max_size=8), min_size=1, max_size=4)
OBJECTS = st.dictionaries(st.sampled_from("abc"), _VALUES)


@given(OBJECTS, OBJECTS, st.sampled_from(("YAML", "JSON")))
def test_any_object_becomes_any_other_one(old: Any, new: Any, syntax: Syntax) -> None:
    value = {"list": [{"id": 1, **old}, {"id": 2}]}
    text = yaml.safe_dump(value, allow_unicode=True) if syntax == "YAML" else json.dumps(value)
    try:
        changed = change_object(read_editable(text, syntax), ("list", 0), {"id": 1, **new})
    except NotEditable:
        return
    assert changed.value == {"list": [{"id": 1, **new}, {"id": 2}]}
