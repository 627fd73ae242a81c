"""Short YAML files as trees of nodes: places, problems, and the rules of each kind of file."""

from dataclasses import replace

import pytest

from tui.documents.yaml_nodes import FileRules, Findings, YamlNode, read_nodes

RULES = FileRules(
    most_bytes=60,
    most_depth=3,
    sentences={
        "size": "too large",
        "encoding": "byte {}",
        "syntax": "not YAML",
        "characters": "odd characters",
        "depth": "too deep",
        "alias": "no aliases",
        "tag": "no tags",
        "duplicate": "twice",
    },
)


def tree(text: str) -> tuple[YamlNode, Findings]:
    findings = Findings("FILE", RULES)
    root = read_nodes(text.encode(), findings)
    assert root is not None, findings.problems
    return root, findings


def test_every_node_knows_its_place_and_its_path() -> None:
    root, findings = tree("a:\n  b: [1, x]\n")
    (a,) = dict(root.entries()).values()
    (b,) = dict(a.entries()).values()
    first, second = b.elements()
    second.add_problem("second")
    first.add_problem("first")
    b.add_key_problem("key")
    assert first.value() == 1
    assert list(map(str, findings.in_order())) == [
        "FILE:2:3: error: a.b: key",
        "FILE:2:7: error: a.b[0]: first",
        "FILE:2:10: error: a.b[1]: second",
    ]


def test_a_scalar_is_read_as_text_truth_or_as_it_is_written() -> None:
    root, findings = tree("{a: ' x ', b: yes, c: 012, d: [], e: }")
    nodes = dict(root.entries())
    assert nodes["a"].text() == "x"
    assert (nodes["b"].truth, nodes["c"].truth, nodes["d"].truth) == (True, None, None)
    assert (nodes["c"].written, nodes["d"].written) == ("012", None)
    assert nodes["e"].is_null
    assert [name for name, node in nodes.items() if node.is_empty] == ["e"]
    assert findings.problems == []


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a" * 61, "FILE: error: too large"),
        (b"a: \xff", "FILE: error: byte 3"),
        (b"a: \x07", "FILE: error: odd characters"),
        (b"a: b: c", "FILE:1:5: error: not YAML"),
        (b"[[[[1]]]]", "FILE:1:4: error: too deep"),
        (b"a: &x 1\nb: *x", "FILE:2:4: error: no aliases"),
        (b"a: !x 1", "FILE:1:4: error: no tags"),
    ],
)
def test_a_file_against_the_rules_has_one_problem_and_no_tree(data: bytes, problem: str, native: bool) -> None:
    findings = Findings("FILE", replace(RULES, native=native))
    assert read_nodes(data, findings) is None
    assert list(map(str, findings.problems)) == [problem]


def test_tags_are_allowed_where_the_rules_have_no_sentence_for_them() -> None:
    sentences = dict(RULES.sentences)
    del sentences["tag"]
    findings = Findings("FILE", replace(RULES, sentences=sentences))
    root = read_nodes(b"!x a", findings)
    assert root is not None
    assert (root.written, findings.problems) == ("a", [])


def test_a_second_entry_of_the_same_name_is_a_problem_and_left_out() -> None:
    root, findings = tree("{a: 1, a: 2}")
    assert [(name, node.value()) for name, node in root.entries()] == [("a", 1)]
    assert list(map(str, findings.problems)) == ["FILE:1:8: error: a: twice"]


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 4_000, "1" + ":00" * 80_000, "9" * 5_000], ids=["hex", "base 60", "decimal"]
)
def test_a_number_with_too_many_digits_is_a_problem_in_every_notation(number: str) -> None:
    findings = Findings("FILE", replace(RULES, most_bytes=300_000))
    root = read_nodes(f"a: {number}".encode(), findings)
    assert root is not None
    assert [node.value() for _, node in root.entries()] == [None]
    assert [problem.what for problem in findings.problems] == [
        f"a number of {len(number):,} characters is too long; write a smaller one, or put it in quotes"
    ]
