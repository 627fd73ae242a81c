"""The config's `risk:` and `reviewer:`, and every way of getting them wrong, with its place."""

from pathlib import Path

import pytest

from tests.config.test_load import loaded, problems
from tui.model.risk import BandRule, rule_sentence

WHOLE = """\
reviewer: Anna Blum
risk:
  weights: {low: 1, medium: 3, high: 5, critical: 8}
  limits: {negligible: 0, low: 3, medium: 8, high: 15}
  guidance: [no sign, " a trace ", some, much, all]
"""


def test_a_whole_section(tmp_path: Path) -> None:
    config = loaded(tmp_path, WHOLE)
    assert config.reviewer == "Anna Blum"
    assert config.guidance == ("no sign", "a trace", "some", "much", "all")
    assert config.rule.weights == {"low": 1, "medium": 3, "high": 5, "critical": 8}
    assert config.rule.limits == (("negligible", 0), ("low", 3), ("medium", 8), ("high", 15))
    assert config.warnings == ()
    assert "9–15 high, 16–32 critical" in rule_sentence(config.rule)


@pytest.mark.parametrize("text", ["", "theme: night\n", "risk:\n", "risk: {}\n", "risk: {weights: {}, limits: }\n"])
def test_what_is_left_out_is_as_published(tmp_path: Path, text: str) -> None:
    config = loaded(tmp_path, text)
    assert (config.rule, config.guidance, config.reviewer, config.warnings) == (BandRule(), (), None, ())


def test_a_part_is_laid_over_the_published_rule(tmp_path: Path) -> None:
    rule = loaded(tmp_path, "risk: {weights: {critical: 6}, limits: {high: 11}}").rule
    assert rule.weights == {"low": 1, "medium": 2, "high": 3, "critical": 6}
    assert rule.limits == (("negligible", 0), ("low", 2), ("medium", 5), ("high", 11))


WRONG = [
    ("risk: 5", "1:7", "risk: expected a mapping"),
    ("risk: {wieghts: {}}", "1:8", "risk.wieghts: unknown key. Did you mean weights?"),
    ("risk: {weights: {high: 0}}", "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: -1}}", "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: 101}}", "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: 1.5}}", "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ('risk: {weights: {high: "3"}}', "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: true}}", "1:24", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: }}", "1:23", "risk.weights.high: expected a whole number from 1 to 100"),
    ("risk: {weights: {high: [3]}}", "1:24", "risk.weights.high: expected a single value, got a list"),
    ("risk: {weights: {hihg: 5}}", "1:18", "risk.weights.hihg: unknown key. Did you mean high?"),
    ("risk: {weights: [1, 2]}", "1:17", "risk.weights: expected a mapping of names to values, got a list"),
    ("risk: {limits: {none: 5}}", "1:17", "risk.limits.none: unknown key."),
    ("risk: {limits: {critical: 20}}", "1:17", "risk.limits.critical: has no limit"),
    ("risk: {limits: {low: -2}}", "1:22", "risk.limits.low: expected a whole number from 0 to 400"),
    (
        "risk: {limits: {low: 5}}",
        "1:22",
        "risk.limits.low: limits have to increase: medium ends at 5, low already at 5",
    ),
    (
        "risk: {limits: {medium: 9}}",
        "1:25",
        "risk.limits.medium: limits have to increase: high ends at 9, medium",
    ),
    (
        "risk:\n  limits:\n    low: 4\n    medium: 3\n",
        "4:13",
        "risk.limits.medium: limits have to increase: medium ends at 3",
    ),
    ("risk: {limits: {low: x, medium: 1}}", "1:22", "risk.limits.low: expected a whole number from 0 to 400"),
    ("risk: {guidance: no}", "1:18", "risk.guidance: expected a list, got a single value"),
    ("risk: {guidance: }", "1:17", "risk.guidance: expected a list, got a single value"),
    ("risk: {guidance: [a, b, c, d]}", "1:18", "risk.guidance: expected 5 lines, one per extent (none, slight,"),
    ("risk: {guidance: [a, b, c, d, e, f]}", "1:18", "risk.guidance: expected 5 lines"),
    ("risk: {guidance: [a, b, c, d, 4]}", "1:31", "risk.guidance[4]: expected a string; put it in quotes"),
    ('risk: {guidance: [a, b, c, d, ""]}', "1:31", "risk.guidance[4]: expected a string that is not empty"),
    ("risk: {guidance: [a, b, c, d, [e]]}", "1:31", "risk.guidance[4]: expected a single value, got a list"),
    ('risk: {guidance: [a, b, c, d, "e\\nf"]}', "1:31", "risk.guidance[4]: expected a single line"),
    (f"risk: {{guidance: [a, b, c, d, {'e' * 501}]}}", "1:31", "risk.guidance[4]: is longer than 500 characters"),
    ("reviewer: ", "1:10", "reviewer: expected a string that is not empty"),
    ("reviewer: 7", "1:11", "reviewer: expected a string; put it in quotes"),
    ("reviewer: [anna]", "1:11", "reviewer: expected a single value, got a list"),
    ('reviewer: "an\\u202ena"', "1:11", "reviewer: contains a character that cannot be displayed"),
    (f"reviewer: {'a' * 81}", "1:11", "reviewer: is longer than 80 characters"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG)
def test_a_problem_is_reported_with_its_place(tmp_path: Path, text: str, place: str, message: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.startswith(f"{place}: error: {message}")


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    text = "risk:\n  guidance: [a]\n  weights: {low: 0, high: x}\n  limits: {low: 5}\nreviewer: 1\n"
    found = [problem.split(": ", 1)[0] for problem in problems(tmp_path, text)]
    assert found == ["2:13", "3:18", "3:27", "4:17", "5:11"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("risk: {weights: {high: 1}}", "risk.weights.high: high has weight 1, less than medium (2)"),
        (
            "risk: {limits: {high: 16}}",
            "risk.limits.high: no score can be critical: the greatest weight × extent is 16",
        ),
        ("risk: {weights: {critical: 3, high: 2}, limits: {high: 12}}", "risk.limits.high: no score can be critical"),
    ],
)
def test_what_is_doubtful_is_a_warning(tmp_path: Path, text: str, message: str) -> None:
    (warning,) = loaded(tmp_path, text).warnings
    assert warning.level == "warning"
    assert message in str(warning)


def test_names_to_be_masked(tmp_path: Path) -> None:
    assert loaded(tmp_path, "review: {mask: [Zorro, Acme Labs]}").mask == ("Zorro", "Acme Labs")
    for text in ("", "review:\n", "review: {}\n", "review: {mask: []}\n"):
        assert loaded(tmp_path, text).mask == ()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("review: {musk: [a]}", "1:10", "review.musk: unknown key. Did you mean mask?"),
        ("review: {mask: Zorro}", "1:16", "review.mask: expected a list"),
        ("review: {mask: [Zorro, a]}", "1:24", "review.mask[1]: expected a name of 2 to 80 printable characters"),
        (f"review: {{mask: [{', '.join(['name'] * 101)}]}}", "1:16", "review.mask: has 101 names; the limit is 100"),
    ],
)
def test_names_that_cannot_be_masked(tmp_path: Path, text: str, place: str, words: str) -> None:
    assert any(found.startswith(f"{place}: ") and words in found for found in problems(tmp_path, text))


def test_repeats_of_a_blind_review(tmp_path: Path) -> None:
    assert loaded(tmp_path, "review: {repeats: 10}\n").repeats == 10
    assert loaded(tmp_path, "review: {}\n").repeats == 0
    for wrong in ("-1", "31", "ten", "true", "0.1"):
        assert "expected a whole number from 0 to 30" in str(problems(tmp_path, f"review: {{repeats: {wrong}}}\n"))
