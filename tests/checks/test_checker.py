"""Each kind of check, passing and failing, with what is said about it."""

import asyncio
import json

import pytest

from tui.checks.checker import Answer, Checker
from tui.model.results import CheckResult, CheckState, Span
from tui.model.secrets import REMOVED, Secrets
from tui.model.suite import Check
from tui.model.values import JsonValue

TEXT = "Flying from Gatwick\nto Berlin 😀 é.\nBerlin it is!"
ANSWER = Answer(TEXT, ("Skyscanner", "Mail"), {"trip": {"to": "Berlin", "seats": 2}, "v1.2": True})


async def decide(checker: Checker, check: Check, answer: Answer = ANSWER) -> CheckResult:
    (result,) = await checker.decide([check], answer)
    assert (result.kind, result.target) == (check.kind, check.target)
    return result


@pytest.mark.parametrize(
    ("check", "state", "detail", "spans"),
    [
        (Check("expected_pattern", "BERLIN"), "passed", "found 2 times, starting on line 2", ((23, 29), (35, 41))),
        (Check("expected_pattern", "gatwick$"), "failed", "not found", ()),
        (Check("expected_pattern", "[^\\x00-\\x7f] é"), "passed", "found on line 2", ((30, 33),)),
        (Check("forbidden_pattern", "paris"), "passed", "not found", ()),
        (Check("forbidden_pattern", "it is!$"), "failed", "found on line 3", ((42, 48),)),
        (Check("output.includes", "Berlin"), "passed", "found 2 times, starting on line 2", ((23, 29), (35, 41))),
        (Check("output.includes", ""), "passed", "found on line 1", ((0, 0),)),
        (Check("output.matches", ".*Berlin.*"), "passed", "found 2 times, starting on line 2", ((20, 34), (35, 48))),
        (Check("output.matches", "(?i)GATWICK"), "passed", "found on line 1", ((12, 19),)),
        (Check("output.equals", TEXT), "passed", "the same", ((0, 48),)),
        (Check("tools_used", "", ["Skyscanner", "Mail"]), "passed", 'got ["Skyscanner", "Mail"]', ()),
        (Check("memory", "trip.to", "Berlin"), "passed", 'got "Berlin"', ()),
        (Check("memory", "trip.seats", 2.0), "passed", "got 2", ()),
        (Check("memory", "v1.2", True), "passed", "got true", ()),
        (Check("memory", "trip.from", None), "passed", "missing, which equals null", ()),
        (
            Check("recorded", "llm-rubric: is polite"),
            "timed_out",
            "this check was evaluated by another tool and cannot be repeated here",
            (),
        ),
        (Check("memory", "trip.from", "X"), "failed", 'expected "X"\ngot missing', ()),
        (Check("memory", "trip.seats", "2"), "failed", 'expected "2"\ngot 2', ()),
        (Check("memory", "v1.2", 1), "failed", "expected 1\ngot true", ()),
    ],
)
async def test_a_check_is_decided(
    checker: Checker, check: Check, state: CheckState, detail: str, spans: tuple[Span, ...]
) -> None:
    assert await decide(checker, check) == CheckResult(check.kind, check.target, state, detail, spans)


async def test_a_missing_text_is_reported_with_the_answer(checker: Checker) -> None:
    result = await decide(checker, Check("output.includes", "berlin"))
    assert result.state == "failed"
    assert result.detail.split("\n") == [
        "not found",
        'expected a text that includes "berlin"',
        'got "Flying from Gatwick\\nto Berlin 😀 é.\\nBerlin it is!"',
        "the text occurs with different case; output.includes is case-sensitive",
    ]


async def test_a_python_pattern_minds_capitals_and_says_what_came(checker: Checker) -> None:
    result = await decide(checker, Check("output.matches", "berlin"), Answer(""))
    assert (result.state, result.detail) == ("failed", "not found\nexpected a match of berlin\ngot an empty answer")


async def test_an_unequal_text_of_several_lines_is_shown_as_a_diff(checker: Checker) -> None:
    result = await decide(checker, Check("output.equals", "a\nb\nc\nd\ne\nf\ng\nh"), Answer("a\nb\nc\nd\ne\nf\nG\nh"))
    assert result.detail.split("\n") == [
        'expected "a\\nb\\nc\\nd\\ne\\nf\\ng\\nh"',
        'got "a\\nb\\nc\\nd\\ne\\nf\\nG\\nh"',
        "--- got",
        "+++ expected",
        "@@ -4,5 +4,5 @@",
        " d",
        " e",
        " f",
        "-G",
        "+g",
        " h",
    ]


@pytest.mark.parametrize("used", [(), ("Mail", "Skyscanner"), ("Skyscanner", "Mail", "Mail"), ("skyscanner", "Mail")])
async def test_the_list_of_tools_is_exact(checker: Checker, used: tuple[str, ...]) -> None:
    result = await decide(checker, Check("tools_used", "", ["Skyscanner", "Mail"]), Answer("", used))
    assert result.state == "failed"
    assert result.detail.startswith('expected ["Skyscanner", "Mail"]\ngot [')
    assert "\n--- got\n+++ expected\n" in result.detail


EXPECTED: dict[str, JsonValue] = {"output": "ok", "tools_used": ["T"], "memory": {"a": 1}}


@pytest.mark.parametrize(
    ("answer", "unequal"),
    [
        (Answer("ok", ("T",), {"a": 1}), []),
        (Answer("no", ("T",), {"a": 1}), ["output"]),
        (Answer("ok", (), {"a": 1}), ["tools_used"]),
        (Answer("ok", ("T",), {"a": True}), ["memory"]),
        (Answer("ok", ("T",), {"a": 1, "b": None}), ["memory"]),
        (Answer("", ("U",), None), ["output", "tools_used", "memory"]),
    ],
)
async def test_expected_wants_all_three_fields(checker: Checker, answer: Answer, unequal: list[str]) -> None:
    result = await decide(checker, Check("expected", "", EXPECTED), answer)
    assert result.state == ("failed" if unequal else "passed")
    lines = result.detail.split("\n")
    assert [line.split()[1] for line in lines if line.startswith("expected ")] == unequal
    assert [line.split()[1] for line in lines if line.startswith("got ")] == unequal


async def test_a_field_that_expected_leaves_out_is_empty(checker: Checker) -> None:
    check = Check("expected", "", {"output": "ok"})
    assert (await decide(checker, check, Answer("ok", (), {}))).state == "passed"
    assert (await decide(checker, check, Answer("ok", (), None))).state == "passed"
    assert (await decide(checker, check, Answer("ok", ("T",), {}))).state == "failed"


async def test_results_keep_the_order_and_leave_commands_to_the_caller(checker: Checker) -> None:
    checks = [
        Check("tools_used"),
        Check("command", "make"),
        Check("forbidden_pattern", "x"),
        Check("output.equals", ""),
    ]
    results = await checker.decide(checks, Answer(""))
    assert [result.kind for result in results] == ["tools_used", "forbidden_pattern", "output.equals"]
    assert await checker.decide([], ANSWER) == ()


async def test_more_than_a_thousand_matches_are_counted_and_the_first_thousand_marked(checker: Checker) -> None:
    for kind in ("expected_pattern", "output.matches", "output.includes"):
        result = await decide(checker, Check(kind, "é"), Answer("é\n" * 12_345))
        assert result.detail == "found 12,345 times (only 1,000 are marked), starting on line 1"
        assert result.spans == tuple((2 * number, 2 * number + 1) for number in range(1_000))


async def test_a_pattern_that_cannot_be_compiled_is_no_pass(checker: Checker) -> None:
    checks = [Check("forbidden_pattern", "("), Check("output.matches", "("), Check("forbidden_pattern", "a")]
    results = await checker.decide(checks, Answer("b"))
    assert [result.state for result in results] == ["timed_out", "timed_out", "passed"]
    assert all("invalid pattern" in result.detail for result in results[:2])


async def test_half_a_surrogate_pair_in_an_answer_changes_no_place(checker: Checker) -> None:
    for kind in ("expected_pattern", "output.matches"):
        assert (await decide(checker, Check(kind, "b"), Answer("é\ud800😀\udc00b"))).spans == ((4, 5),)


async def test_an_answer_of_200_kb_is_checked_whole(checker: Checker) -> None:
    text = "Résumé of a function 😀;\n" * 10_000 + "eval (x)"
    checks = [
        Check("forbidden_pattern", r"eval\s*\("),
        Check("expected_pattern", "function"),
        Check("output.matches", "e$"),
    ]
    results = await checker.decide(checks, Answer(text))
    assert [result.state for result in results] == ["failed", "passed", "failed"]
    assert results[0].spans == ((240_000, 240_006),)
    assert results[0].detail == "found on line 10001"


async def test_assertions_alone_start_no_process(checker: Checker) -> None:
    await asyncio.gather(*(checker.decide([Check("output.includes", "a")], ANSWER) for _ in range(3)))
    assert checker.pids == ()


KEY = "sk-QWERTYUIOPasdfghjkl1234567890ZXCVBNM"


@pytest.mark.parametrize(
    "before",
    [
        0,
        170,
        100_000 - 10,
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in (90, *range(150, 170, 5), *range(175, 192, 5), 100_000 - 40)
        ),
    ],
)
async def test_a_key_in_the_escapes_of_json_is_in_no_detail(before: int) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    answer = Answer(f'{{"capital": "{"-" * before}{escaped}{"-" * before}", "{escaped}": 1}}')
    assert KEY in json.loads(answer.text)["capital"]
    town: JsonValue = {"properties": {"capital": {"enum": ["Paris"]}}}
    checks = [
        Check("assert.equals", "", {"capital": "Paris", "x": 1}),
        Check("assert.is-json", "", town),
        Check("assert.is-json", "", {"propertyNames": {"maxLength": 9}}),
        Check("assert.contains-json", "", town),
    ]
    checker = Checker(Secrets([KEY]))
    try:
        results = await checker.decide(checks, answer)
    finally:
        await checker.close()
    for result in results:
        assert result.state == "failed"
        assert [part for start in range(len(KEY) - 6) if (part := KEY[start : start + 7]) in result.detail] == []
    assert before or all(REMOVED in result.detail for result in results)


@pytest.mark.parametrize(
    "check",
    [
        Check("expected_pattern", "z"),
        Check("expected_pattern", "z+"),
        Check("output.matches", "z"),
        Check("output.includes", "z"),
        Check("assert.contains", "z", "z"),
    ],
    ids=str,
)
async def test_the_places_of_all_checks_of_an_answer_are_limited_together(
    checker: Checker, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    monkeypatch.setattr("tui.checks.protocol.MOST_SPANS_TOGETHER", 5)
    results = await checker.decide([check] * 4, Answer("z z z "))
    assert [len(result.spans) for result in results] == [3, 2, 1, 1]
    assert {(result.state, result.spans[0]) for result in results} == {("passed", (0, 1))}
    assert all(result.detail.startswith("found 3 times") for result in results)
