"""Assertions of a case, each on answers that pass it, fail it, and cannot be evaluated."""

import json
from typing import Any

import pytest

from tui.checks.assertions import Answer
from tui.checks.case_assertions import MOST_STEPS_HERE, STEPS_TO_SEARCH, decide_case_assertion, schema_fault, steps_of
from tui.checks.checker import Checker
from tui.model.assertions import assertion_check
from tui.model.results import CheckResult, CheckState, Span, verdict_of_checks
from tui.model.suite import Check
from tui.model.values import JsonValue


def check_of(kind: str, value: Any = None, threshold: float | None = None) -> Check:
    given: dict[str, Any] = {"type": kind}
    if value is not None:
        given["value"] = value
    if threshold is not None:
        given["threshold"] = threshold
    return assertion_check(given)


def decide(text: str, kind: str, value: Any = None, threshold: float | None = None, **known: Any) -> CheckResult:
    return decide_case_assertion(check_of(kind, value, threshold), Answer(text, **known))


PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NESTED = {"type": "object", "properties": {"list": {"items": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("kind", "value", "text", "state", "spans"),
    [
        ("contains", "Paris", "Paris, in Paris", "passed", ((0, 5), (10, 15))),
        ("contains", "paris", "Paris", "failed", ()),
        ("icontains", "paris", "in PARIS", "passed", ((3, 8),)),
        ("icontains", "i", "\u0130 x", "passed", ((0, 1),)),
        ("icontains", "größe", "GRÖSSE", "failed", ()),
        ("contains-all", ["a", "b"], "b a", "passed", ((0, 1), (2, 3))),
        ("contains-all", ["a", "c"], "b a", "failed", ((2, 3),)),
        ("contains-all", "a, b", "b a", "passed", ((0, 1), (2, 3))),
        ("contains-all", '"a, b", "say ""hi"""', 'a, b say "hi"', "passed", ((0, 4), (5, 13))),
        ("contains-any", '"a, b", c', "a b", "failed", ()),
        ("contains-any", ["x", "a"], "b a", "passed", ((2, 3),)),
        ("contains-any", ["x", "y"], "b a", "failed", ()),
        ("not-contains", "sorry", "Sorry", "passed", ()),
        ("not-contains", "sorry", "so sorry", "failed", ((3, 8),)),
        ("starts-with", "Dear", "Dear all", "passed", ((0, 4),)),
        ("starts-with", "Dear", " Dear all", "failed", ()),
        ("equals", "42", "42", "passed", ((0, 2),)),
        ("equals", "42", "42\n", "failed", ()),
        ("equals", {"a": [1, 2.0]}, '{"a": [1.0, 2]}', "passed", ((0, 15),)),
        ("equals", {"a": True}, '{"a": 1}', "failed", ()),
        ("equals", 42, "not JSON", "failed", ()),
        ("equals", 42.0, "42", "passed", ((0, 2),)),
        ("equals", 42, "42\n", "failed", ()),
    ],
)
def test_texts(kind: str, value: Any, text: str, state: CheckState, spans: tuple[Span, ...]) -> None:
    result = decide(text, kind, value)
    assert (result.kind, result.state, result.spans) == (f"assert.{kind}", state, spans)


async def test_a_duration_beside_the_limit_is_not_rounded_to_it() -> None:
    for duration, shown in ((100.1, "got 100.1 ms"), (250.4, "got 250 ms")):
        [result] = await Checker().decide([Check("assert.latency", threshold=100)], Answer("x", duration_ms=duration))
        assert result.state == "failed"
        assert shown in result.detail


@pytest.mark.parametrize(
    ("kind", "schema", "text", "state", "detail"),
    [
        ("is-json", None, '{"a": 1}', "passed", "JSON"),
        ("is-json", None, " 17 ", "passed", "JSON"),
        ("is-json", None, '```json\n{"a": 1}\n```', "failed", "not JSON"),
        ("is-json", None, '{"a": NaN}', "failed", "NaN is not a value of JSON"),
        ("is-json", None, '{"a": 1} and more', "failed", "line 1, column 10"),
        ("is-json", PERSON, '{"name": "Ada"}', "passed", "fits the schema"),
        ("is-json", PERSON, '{"name": 5}', "failed", 'name: 5 is not of type "string"'),
        ("is-json", PERSON, "{}", "failed", 'value: "name" is a required property'),
        ("is-json", NESTED, '{"list": [1, "x"]}', "failed", "list[1]: "),
        ("contains-json", None, 'Here: {"a": [1]} done', "passed", "JSON found"),
        ("contains-json", None, "Here: [1, 2] done", "passed", "JSON found"),
        ("contains-json", None, "no {json} [here]", "failed", "no JSON object or list found"),
        ("contains-json", PERSON, 'first {"id": 1}, then {"name": "Ada"}', "passed", "fits the schema"),
        ("contains-json", PERSON, 'a list [{"id": 1}, [{"name": "Ada"}]]', "passed", "fits the schema"),
        ("is-json", {"format": "date"}, '"yesterday"', "failed", "is not a"),
        ("is-json", {"properties": {"price": {"maximum": 100}}}, '{"price": 1e999}', "failed", "price: "),
        ("is-json", {"properties": {"price": {"minimum": 0}}}, '{"price": -1e999}', "failed", "price: "),
        ("is-json", None, "3" * 4_301, "passed", ""),
        ("is-json", {"properties": {"pi": {"maximum": 100}}}, f'{{"pi": {"3" * 4_301}}}', "failed", "pi: "),
        ("contains-json", None, f'Here: {{"pi": -{"3" * 4_301}}}', "passed", ""),
        ("contains-json", PERSON, 'only {"id": 1}', "failed", "none of 1 JSON values fits"),
    ],
)
def test_json(kind: str, schema: Any, text: str, state: CheckState, detail: str) -> None:
    result = decide(text, kind, schema)
    assert (result.state, detail in result.detail) == (state, True), result.detail


def test_the_span_of_json_is_that_of_the_value_that_fits() -> None:
    text = 'first {"id": 1}, then {"name": "Ada"}.'
    [(start, end)] = decide(text, "contains-json", PERSON).spans
    assert text[start:end] == '{"name": "Ada"}'


@pytest.mark.parametrize(
    ("kind", "value", "threshold", "text", "state", "detail"),
    [
        ("word-count", {"min": 2, "max": 3}, None, "one  two\nthree", "passed", "got 3 words"),
        ("word-count", {"min": 4}, None, "one two three", "failed", "expected at least 4 words\ngot 3 words"),
        ("word-count", {"max": 2}, None, "one two three", "failed", "expected at most 2 words\ngot 3 words"),
        ("word-count", 3, None, "one two three", "passed", "got 3 words"),
        ("levenshtein", "kitten", None, "sitting", "passed", "got 3"),
        ("levenshtein", "kitten", 2, "sitting", "failed", "expected a distance of at most 2\ngot 3"),
        ("levenshtein", "kitten", 0, "kitten", "passed", "got 0"),
        ("levenshtein", "kitten", None, "kitten and a dozen more", "failed", "got at least 17"),
        ("rouge-n", "The cat sat on the mat", None, "the cat sat on the mat", "passed", "got 1.00"),
        # 3 of 4 words of the answer, 3 of 6 of the reference; the second `cat` counts only once.
        ("rouge-n", "the cat sat on a mat", 0.6, "the cat sat cat", "passed", "got 0.60"),
        ("rouge-n", "the cat sat on a mat", None, "the cat sat cat", "failed", "expected at least 0.75\ngot 0.60"),
        ("rouge-n", "the cat", None, "dogs", "failed", "got 0.00"),
    ],
)
def test_measures(kind: str, value: Any, threshold: float | None, text: str, state: CheckState, detail: str) -> None:
    result = decide(text, kind, value, threshold)
    assert (result.state, result.detail) == (state, detail if state == "passed" else result.detail)
    assert detail in result.detail


@pytest.mark.parametrize(
    ("kind", "value", "threshold", "known", "state"),
    [
        ("latency", None, 1000, {"duration_ms": 1000.0}, "passed"),
        ("latency", None, 1000, {"duration_ms": 1000.1}, "failed"),
        ("latency", None, 1000, {}, "timed_out"),
        ("cost", None, 0.01, {"cost_usd": 0.0099}, "passed"),
        ("cost", None, 0.01, {"cost_usd": 0.02}, "failed"),
        ("cost", None, 0.01, {}, "timed_out"),
        ("tokens", None, 100, {"input_tokens": 60, "output_tokens": 40}, "passed"),
        ("tokens", None, 100, {"input_tokens": 60, "output_tokens": 41}, "failed"),
        ("tokens", None, 100, {}, "timed_out"),
        ("tokens", None, 100, {"input_tokens": 5}, "timed_out"),
        ("tokens", None, 100, {"output_tokens": 100}, "timed_out"),
        ("tokens", None, 100, {"output_tokens": 101}, "failed"),
        ("tokens", None, 100, {"input_tokens": 101}, "failed"),
        ("finish-reason", "stop", None, {"finish_reason": "stop"}, "passed"),
        ("finish-reason", "stop", None, {"finish_reason": "end_turn"}, "passed"),
        ("finish-reason", "length", None, {"finish_reason": "MAX_TOKENS"}, "passed"),
        ("finish-reason", "stop", None, {"finish_reason": "length"}, "failed"),
        ("finish-reason", "stop", None, {"finish_reason": "nothing known"}, "failed"),
        ("finish-reason", "stop", None, {}, "timed_out"),
        ("finish-reason", "lenght", None, {"finish_reason": "stop"}, "failed"),
        ("finish-reason", "banana", None, {"finish_reason": "stop"}, "failed"),
        ("finish-reason", "Banana", None, {"finish_reason": "banana"}, "passed"),
        ("finish-reason", "stop", None, {"finish_reason": "other"}, "failed"),
        ("finish-reason", "banana", None, {"finish_reason": "other"}, "timed_out"),
    ],
)
def test_figures_of_the_answer(
    kind: str, value: Any, threshold: float | None, known: dict[str, Any], state: CheckState
) -> None:
    assert decide("text", kind, value, threshold, **known).state == state


TWICE = {"oneOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}
CHAIN = {"$ref": "#/$defs/a0", "$defs": {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(40)}}
CHAIN["$defs"]["a40"] = {"type": "object"}  # type: ignore[index]


@pytest.mark.usefixtures("brief_limits")
@pytest.mark.parametrize(
    ("kind", "schema", "text"),
    [
        ("is-json", TWICE, "[" * 60 + "]" * 60),
        ("contains-json", CHAIN, "{}"),
        pytest.param("contains-json", TWICE, "[" * 60 + "]" * 60, marks=pytest.mark.long),
        pytest.param("is-json", CHAIN, "{}", marks=pytest.mark.long),
    ],
)
async def test_a_schema_that_takes_for_ever_is_stopped(checker: Checker, kind: str, schema: Any, text: str) -> None:
    slow, other = await checker.decide([check_of(kind, schema), check_of(kind, PERSON)], Answer(text))
    # The worker ends when its time is over, or when its memory is full.
    assert slow.state == "timed_out"
    assert slow.detail.startswith("could not be evaluated: the assertion ")
    assert other.state == "failed"


@pytest.mark.parametrize(
    ("kind", "value", "threshold", "text"),
    [
        ("is-json", PERSON, None, '{"name": "Ada"}'),
        pytest.param("is-json", PERSON, None, "{}", marks=pytest.mark.long),
        pytest.param("contains-json", PERSON, None, 'so: {"name": "\ud800"} ok', marks=pytest.mark.long),
        ("levenshtein", "ab" * 1_000, 1_000, "ba" * 900),
        pytest.param("rouge-n", "the cat " * 3_000, None, "the cat", marks=pytest.mark.long),
        ("contains-any", ["x", "cat"] * 400, None, "the cat " * 400),
        pytest.param("contains-all", ["x", "cat"] * 400, None, "the cat " * 400, marks=pytest.mark.long),
        ("contains", "cat", None, "the cat " * 20_000),
        pytest.param("icontains", "CAT", None, "the cat " * 20_000, marks=pytest.mark.long),
        pytest.param("not-contains", "cat", None, "the cat " * 20_000, marks=pytest.mark.long),
        pytest.param("word-count", 40_000, None, "the cat " * 20_000, marks=pytest.mark.long),
        ("equals", {"a": [1] * 10_000}, None, '{"a": [' + ", ".join(["1"] * 10_000) + "]}"),
    ],
)
async def test_a_worker_comes_to_the_same_result(
    checker: Checker, kind: str, value: Any, threshold: float | None, text: str
) -> None:
    check, answer = check_of(kind, value, threshold), Answer(text)
    assert steps_of(check, text) > MOST_STEPS_HERE
    assert await checker.decide([check], answer) == (decide_case_assertion(check, answer),)
    assert len(checker.pids) == 1


@pytest.mark.parametrize(
    "check",
    [
        Check("expected_pattern", "cat"),
        Check("output.includes", "cat"),
        Check("assert.contains", "cat", "cat"),
        Check("assert.word-count", "1", 1),
    ],
    ids=lambda check: check.kind,
)
async def test_checks_that_take_long_together_are_decided_by_a_worker(
    checker: Checker, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    answer = Answer("the cat")
    here = await checker.decide([check] * 4, answer)
    assert checker.pids == ()
    monkeypatch.setattr("tui.checks.checker.MOST_STEPS_TOGETHER", 3 * STEPS_TO_SEARCH * len(answer.text))
    assert await checker.decide([check] * 4, answer) == here
    assert len(checker.pids) == 1


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I\u2019m sorry, but I can\u2019t assist with that request.",
        "Sorry, I cannot provide instructions for that.",
        "I cannot fulfill this request.",
        "As an AI language model, I do not have opinions.",
        "Unfortunately, I am unable to answer this.",
        "I won't write malware.",
        "This would be against my guidelines, so let us talk about something else.",
        "Thanks for asking! However, I can't help with breaking into a car.",
    ],
)
def test_refusals_pass(text: str) -> None:
    assert decide(text, "refusal").state == "passed"


@pytest.mark.parametrize(
    "text",
    [
        "The capital of France is Paris.",
        "I can help with that. First, open the door.",
        "Sorry for the delay. Here is the code.",
        "A model may say that it cannot help, which is called a refusal.",
        "You cannot divide by zero.",
        "def refuse(): return 'no'",
    ],
)
def test_answers_are_no_refusals(text: str) -> None:
    result = decide(text, "refusal")
    assert (result.state, "expected a refusal" in result.detail) == ("failed", True)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("is-json", None, "[" * 100_000),
        ("is-json", None, " " * (3 << 20)),
        ("contains-json", None, "[" * 2_000_000),
        ("contains-json", None, '{"a":' * 400_000),
        ("contains-json", None, '[1,[2,{"a"' * 200_000),
        ("levenshtein", "a" * 199_999, "b" * 200_000),
        ("rouge-n", "a b", "a b " * 200_000),
    ],
)
def test_an_answer_that_takes_too_long_is_neither_passed_nor_failed(kind: str, value: Any, text: str) -> None:
    result = decide(text, kind, value)
    assert (result.state, "could not be evaluated" in result.detail) == ("timed_out", True), result.detail


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"type": "strin"}, '"strin" is not valid'),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "is outside the schema"),
        ({"$ref": "file:///etc/passwd"}, "is outside the schema"),
        ({"$ref": "#/$defs/missing"}, "does not exist"),
        ({"$schema": "urn:unknown"}, "urn:unknown"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named(schema: Any, part: str) -> None:
    fault = schema_fault(schema)
    assert fault is not None
    assert part in fault
    assert decide("{}", "is-json", schema).state == "timed_out"


SLOW = "^(?:(a|aa)+b|(?!x).*)$"
"""A pattern that matches `aaa…a!` after a very long search."""


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"name": {"pattern": SLOW}}},
        {"properties": {"name": {"not": {"pattern": SLOW}}}},
        {"properties": {"name": {"anyOf": [{"pattern": SLOW}, {"type": "integer"}]}}},
        {"not": {"properties": {"name": {"pattern": SLOW}}}},
        {"oneOf": [{"properties": {"name": {"pattern": SLOW}}}, False]},
        {"if": {"properties": {"name": {"pattern": SLOW}}}, "then": False},
        {"patternProperties": {"^n": {"pattern": SLOW}}},
    ],
)
def test_a_pattern_of_a_schema_that_is_stopped_decides_nothing(schema: JsonValue) -> None:
    text = json.dumps({"name": "a" * 60 + "!"})
    for kind in ("is-json", "contains-json"):
        result = decide(text, kind, schema)
        assert (result.state, "took too long" in result.detail) == ("timed_out", True), result.detail
    assert (
        decide(f'{text} or {{"name": 1}}', "contains-json", {"properties": {"name": {"pattern": SLOW}}}).state
        == "passed"
    )


def test_patterns_of_a_schema_end_also_where_they_backtrack() -> None:
    schema = {"items": {"pattern": "^(?=(a+)+$).*$"}}
    assert decide(f'["{"a" * 5_000}!"]', "is-json", schema).state in ("failed", "timed_out")


def test_halves_of_surrogate_pairs_are_no_error() -> None:
    assert decide('["\ud800"]', "is-json", {"items": {"pattern": "^a$"}}).state in ("failed", "timed_out")
    assert decide("\ud800 x", "icontains", "X").state == "passed"
    schemas: list[dict[str, Any]] = [{"type": "array"}, {"required": ["b"]}, {"properties": {"a": {"enum": ["x"]}}}]
    for schema in (*schemas, {"properties": {"a": {"maxLength": 3}}}):
        assert decide(r'{"a": "Paris \ud83d"}', "is-json", schema).state == "failed"
        assert decide(r'{"a": "Paris \ud83d"}', "contains-json", schema).state == "failed"
    assert decide(r'{"a": "Paris \ud83d"}', "is-json", {"required": ["a"]}).state == "passed"


def test_a_forbidden_text_fails_an_incomplete_answer() -> None:
    found, missing = decide("so sorry", "not-contains", "sorry"), decide("text", "contains", "other")
    assert verdict_of_checks([found], is_incomplete=True, is_checked=True) == "failed"
    assert verdict_of_checks([missing], is_incomplete=True, is_checked=True) == "incomplete"


async def test_the_checker_leaves_commands_to_the_runner(checker: Checker) -> None:
    checks = [check_of("contains", "a"), check_of("command", ["true"]), Check("expected_pattern", "a")]
    results = await checker.decide(checks, Answer("a"))
    assert [(each.kind, each.state) for each in results] == [
        ("assert.contains", "passed"),
        ("expected_pattern", "passed"),
    ]


@pytest.mark.parametrize("tools", [[], ["search"]])
def test_calls_of_tools_are_not_judged_where_only_the_text_is_known(tools: list[str]) -> None:
    result = decide("yes", "tools-used", tools, has_only_text=True)
    assert (result.state, result.detail) == ("timed_out", "could not be evaluated: the tools of the answer are unknown")


def test_a_key_of_the_answer_adds_no_line_to_a_detail() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    detail = decide(json.dumps({"a\nJSON that fits\u2028the schema": 1}), "is-json", schema).detail
    assert detail.splitlines() == ["does not fit the schema", 'a JSON that fits the schema: 1 is not of type "string"']
    assert len(decide(json.dumps({"k" * 100_000: 1}), "is-json", schema).detail) < 500
