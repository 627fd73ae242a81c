"""The assertions of a case: checks of its answer beyond patterns, with the names and meanings of promptfoo's types.

Those that may take longer than a hundredth of a second, or half a second with others of the same answer, are evaluated
by a worker process, with the limits of patterns (see `steps_of`). Answers that are too long for any are not evaluated,
which is neither passed nor failed.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any
from unicodedata import category

from tui.checks.assertions import Answer, decide_assertion, excerpt, occurrences
from tui.checks.messages import quote, words_for_matches, words_for_values
from tui.checks.protocol import Matches
from tui.checks.values import same
from tui.model.finish_reasons import finish_reason_of
from tui.model.results import MOST_SPANS, CheckResult, CheckState, Span
from tui.model.suite import ASSERTION, Check, comma_separated
from tui.model.values import SURROGATE, JsonValue

LEVENSHTEIN_LIMIT = 5.0
ROUGE_LIMIT = 0.75
_LONGEST_JSON = 2 << 20
_LONGEST_DISTANCE = 100_000
_LONGEST_ROUGE = 200_000
_MOST_ERRORS = 3
MOST_STEPS_HERE, MOST_STEPS_TOGETHER = 1_000_000, 50_000_000  # of a check and of an answer, in this process
_STEPS_TO_PARSE, STEPS_TO_SEARCH = 50, 8  # a character
_LONGEST_ERROR = 200

Decided = tuple[CheckState, str, tuple[Span, ...]]


class _NotEvaluatedError(Exception):
    """The assertion cannot be evaluated on this answer; the text says why."""


def decide_check(check: Check, answer: Answer) -> CheckResult:
    """Return the result of a check that is not a pattern."""
    is_of_case = check.kind.startswith(ASSERTION)
    return decide_case_assertion(check, answer) if is_of_case else decide_assertion(check, answer)


def decide_case_assertion(check: Check, answer: Answer) -> CheckResult:
    """Return the result of an assertion; `timed_out` if it cannot be evaluated on this answer."""
    try:
        state, detail, spans = _DECIDE[check.kind.removeprefix(ASSERTION)](check, answer)
    except _NotEvaluatedError as error:
        state, detail, spans = "timed_out", f"could not be evaluated: {error}", ()
    return CheckResult(check.kind, check.target, state, detail, spans)


def steps_of(check: Check, text: str) -> int:
    """Return how long the evaluation of a check on this answer may take: a million steps are a hundredth of a second.

    No number of steps is too low for a JSON Schema: no time limit in this process ends its evaluation.
    """
    value = check.expected
    length = len(value) if isinstance(value, str | list) else 0
    match check.kind.removeprefix(ASSERTION):
        case "is-json" | "contains-json":
            return MOST_STEPS_HERE + 1 if value is not None else _STEPS_TO_PARSE * len(text)
        case "levenshtein":
            return length * len(text)
        case "rouge-n" | "equals":
            return _STEPS_TO_PARSE * (length + len(text))
        case "contains-all" | "contains-any":
            return _STEPS_TO_PARSE * length + length * len(text)
        case "contains" | "icontains" | "not-contains" | "word-count" | "output.includes":
            return STEPS_TO_SEARCH * len(text)
    return 0


def encode_assertion(check: Check) -> str:
    """Return a check as a text, for a worker."""
    return json.dumps((check.kind, check.target, check.expected, check.threshold))


def decide_encoded(assertion: str, text: str) -> Matches:
    """Return the result of an encoded assertion about a text."""
    kind, target, expected, threshold = json.loads(assertion)
    result = decide_check(Check(kind, target, expected, threshold), Answer(text))
    return Matches(len(result.spans), result.spans, state=result.state, detail=result.detail)


def parts_of(check: Check) -> tuple[str, ...]:
    """Return the texts that an assertion searches for; a text with commas is a list where a list is expected."""
    value = check.expected
    if isinstance(value, list):
        return tuple(map(str, value))
    if check.kind in ("assert.contains-all", "assert.contains-any") and isinstance(value, str):
        return tuple(comma_separated(value) or (value,))
    return (str(value),)


def most_parts(check: Check) -> int:
    """Return how many texts an assertion may search for, without reading them."""
    value = check.expected
    return len(value) if isinstance(value, list) else value.count(",") + 1 if isinstance(value, str) else 1


def find_part(check: Check, part: str, text: str, start: int = 0) -> Matches:
    """Return the occurrences of a part in a text; `icontains` ignores upper and lower case."""
    if check.kind == "assert.icontains":
        return occurrences(_lower(part), _lower(text), start)
    return occurrences(part, text, start)


def _lower(text: str) -> str:
    # The only letter whose lower case is longer than itself: spans have to fit the original text.
    return text.replace("\u0130", "i").lower()


def _contains(check: Check, answer: Answer) -> Decided:
    [part] = parts_of(check)
    found = find_part(check, part, answer.text)
    if found.count:
        return "passed", words_for_matches(found, answer.text), found.spans
    return "failed", f"not found\nexpected a text that contains {quote(part)}\ngot {excerpt(answer.text)}", ()


def _not_contains(check: Check, answer: Answer) -> Decided:
    [part] = parts_of(check)
    found = find_part(check, part, answer.text)
    return ("failed" if found.count else "passed"), words_for_matches(found, answer.text), found.spans


def _contains_all(check: Check, answer: Answer) -> Decided:
    found = {part: find_part(check, part, answer.text) for part in parts_of(check)}
    spans = _merged(found.values())
    if missing := [part for part, matches in found.items() if not matches.count]:
        expected = f"expected {', '.join(map(quote, missing[:10]))}"
        detail = f"{len(missing)} of {len(found)} texts not found\n{expected}\ngot {excerpt(answer.text)}"
        return "failed", detail, spans
    return "passed", f"all {len(found)} texts found", spans


def _contains_any(check: Check, answer: Answer) -> Decided:
    found = {part: find_part(check, part, answer.text) for part in parts_of(check)}
    if there := [part for part, matches in found.items() if matches.count]:
        return "passed", f"found {', '.join(map(quote, there[:10]))}", _merged(found.values())
    expected = f"expected one of {', '.join(map(quote, islice(found, 10)))}"
    return "failed", f"none of {len(found)} texts found\n{expected}\ngot {excerpt(answer.text)}", ()


def _starts_with(check: Check, answer: Answer) -> Decided:
    [part] = parts_of(check)
    if answer.text.startswith(part):
        return "passed", "found at the beginning", ((0, len(part)),) if part else ()
    return "failed", f"not at the beginning\nexpected {quote(part)}\ngot {excerpt(answer.text)}", ()


def _equals(check: Check, answer: Answer) -> Decided:
    expected = check.expected
    got: JsonValue = answer.text
    if isinstance(expected, dict | list):
        parsed = _parsed(answer.text)
        got = answer.text if isinstance(parsed, _Fault) else parsed
    elif not isinstance(expected, str):
        is_whole = isinstance(expected, float) and expected.is_integer()
        expected = f"{expected:.0f}" if is_whole else json.dumps(expected)
    if not same(expected, got):
        return "failed", words_for_values(expected, got), ()
    return "passed", "the same", ((0, len(answer.text)),) if answer.text else ()


def _is_json(check: Check, answer: Answer) -> Decided:
    value = _parsed(answer.text)
    if isinstance(value, _Fault):
        return "failed", f"not JSON: {value.reason}\ngot {excerpt(answer.text)}", ()
    if errors := _schema_errors(check.expected, value):
        return "failed", "\n".join(("does not fit the schema", *errors)), ()
    return "passed", "JSON" if check.expected is None else "JSON that fits the schema", ()


def _contains_json(check: Check, answer: Answer) -> Decided:
    errors: list[str] = []
    stopped: _NotEvaluatedError | None = None
    number = 0
    for value, span in _json_candidates(answer.text):
        number += 1
        if number > _MOST_ATTEMPTS:
            raise _NotEvaluatedError("the answer has too many JSON values")
        try:
            found = _schema_errors(check.expected, value)
        except _NotEvaluatedError as error:
            stopped = error
            continue  # another value may fit
        if not found:
            fits = "" if check.expected is None else " that fits the schema"
            return "passed", f"JSON{fits} found", (span,)
        errors = errors or found
    if stopped is not None:
        raise stopped
    if number:
        return "failed", "\n".join((f"none of {number} JSON values fits the schema", *errors)), ()
    return "failed", f"no JSON object or list found\ngot {excerpt(answer.text)}", ()


def _json_candidates(text: str) -> Iterator[tuple[JsonValue, Span]]:
    """Yield the JSON objects and lists in a text, and those inside lists, with the span of the outermost list."""
    for value, span in _json_values(text):
        inside = [value]
        while inside:
            value = inside.pop()
            yield value, span
            if isinstance(value, list):
                inside.extend(each for each in reversed(value) if isinstance(each, dict | list))


# White space in JavaScript, which has some characters that Python's has not, and lacks others.
_NO_WORD = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_WORD = re.compile(f"[^{_NO_WORD}]+")


@lru_cache(maxsize=2)  # for all such assertions of an answer
def _count_words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _word_count(check: Check, answer: Answer) -> Decided:
    number = _count_words(answer.text)
    value = check.expected
    limits = value if isinstance(value, dict) else {"min": value, "max": value}
    least, most = limits.get("min"), limits.get("max")
    too_few = isinstance(least, int | float) and number < least
    too_many = isinstance(most, int | float) and number > most
    detail = f"got {number:,} words"
    return ("failed", f"expected {check.target}\n{detail}", ()) if too_few or too_many else ("passed", detail, ())


def _levenshtein(check: Check, answer: Answer) -> Decided:
    from rapidfuzz.distance import Levenshtein

    limit = LEVENSHTEIN_LIMIT if check.threshold is None else check.threshold
    expected = str(check.expected)
    least = abs(len(expected) - len(answer.text))
    if least > limit:
        return "failed", f"expected a distance of at most {limit:g}\ngot at least {least:,}", ()
    if max(len(expected), len(answer.text)) > _LONGEST_DISTANCE:
        raise _NotEvaluatedError(f"the answer is longer than {_LONGEST_DISTANCE:,} characters")
    distance = Levenshtein.distance(expected, answer.text)
    detail = f"got {distance:,}"
    if distance <= limit:
        return "passed", detail, ()
    return "failed", f"expected a distance of at most {limit:g}\n{detail}", ()


# The conventions of the Penn Treebank for English, in lower case. A full stop belongs to its word, except at the end of
# the text; `can't` is `ca` and `n't`, `they're` is `they` and `'re`.
_QUOTE = re.compile("``|''|\"")
_MARK = re.compile(r"\.\.\.|--|[:,](?!\d)|[;@#$%&?!()<>\[\]{}]")
_TOKEN = re.compile(f"[^{_NO_WORD}\\x85]+")
_LAST_STOP = re.compile(rf"(?<![.{_NO_WORD}])(?<!\b[a-z]\.[a-z])\.(?=[])}}>'\"{_NO_WORD}]*\Z)")
_JOINED = re.compile(
    r"(?<!\w)(can(?=not)|(?:gim|lem)(?=me)|(?:gon|wan)(?=na)|got(?=ta)|more(?='n)|d(?='ye)|'t(?=is|was))"
    r"(not|me|na|ta|'n|'ye|is|was)(?!\w)"
)
_ENDINGS = re.compile(r"(.*?)('[smd])?('(?:ll|re|ve)|n't)?((?<!')')?", re.DOTALL)


def _words_and_marks(text: str) -> Iterator[str]:
    """Yield the tokens of a text in lower case."""
    is_quoted = False

    def directed(quote: re.Match[str]) -> str:
        nonlocal is_quoted
        is_quoted = quote[0] == "``" or (quote[0] == '"' and not is_quoted and _opens_quote(text, quote.start()))
        return " `` " if is_quoted else " '' "

    spaced = _QUOTE.sub(directed, _LAST_STOP.sub(" .", text))
    for token in _TOKEN.findall(_JOINED.sub(r" \1 \2 ", _MARK.sub(r" \g<0> ", spaced))):
        parts = _ENDINGS.fullmatch(token) if "'" in token and token != "''" else None
        yield from filter(None, parts.groups()) if parts else (token,)


def _opens_quote(text: str, at: int) -> bool:
    before = text[at - 1] if at else " "
    if before.isspace():
        return True
    return before not in ".?!" and (before == "<" or category(before).startswith("P")) and at + 1 < len(text)


def _rouge_n(check: Check, answer: Answer) -> Decided:
    limit = ROUGE_LIMIT if check.threshold is None else check.threshold
    if len(answer.text) > _LONGEST_ROUGE:
        raise _NotEvaluatedError(f"the answer is longer than {_LONGEST_ROUGE:,} characters")
    got, expected = (Counter(_words_and_marks(text.lower())) for text in (answer.text, str(check.expected)))
    common = (got & expected).total()
    # F1 of precision and recall over single words.
    score = 2 * common / (got.total() + expected.total()) if common else 0.0
    detail = f"got {score:.2f}"
    return ("passed", detail, ()) if score >= limit else ("failed", f"expected at least {limit:g}\n{detail}", ())


def _latency(check: Check, answer: Answer) -> Decided:
    if answer.duration_ms is None:
        raise _NotEvaluatedError("the duration of the answer is unknown")
    duration = answer.duration_ms
    # Beside the limit, a rounded duration would seem to be within it.
    is_near = abs(duration - (check.threshold or 0.0)) < 1
    return _within(check, duration, f"{duration:,.15g} ms" if is_near else f"{duration:,.0f} ms")


def _cost(check: Check, answer: Answer) -> Decided:
    if answer.cost_usd is None:
        raise _NotEvaluatedError(
            "the cost of the answer is unknown: the model has no price, or the provider reported no tokens"
        )
    return _within(check, answer.cost_usd, f"{answer.cost_usd:.6g} USD")


def _tokens(check: Check, answer: Answer) -> Decided:
    counts = {"input": answer.input_tokens, "output": answer.output_tokens}
    known = [count for count in counts.values() if count is not None]
    if not known:
        raise _NotEvaluatedError("the number of tokens is unknown")
    total, unknown = sum(known), next((name for name, count in counts.items() if count is None), None)
    if unknown is None:
        return _within(check, total, f"{total:,} tokens")
    if total <= (check.threshold or 0.0):
        raise _NotEvaluatedError(f"the number of {unknown} tokens is unknown")
    return _within(check, total, f"at least {total:,} tokens")


def _within(check: Check, value: float, shown: str) -> Decided:
    limit = check.threshold or 0.0
    return ("passed", f"got {shown}", ()) if value <= limit else ("failed", f"expected {check.target}\ngot {shown}", ())


def _finish_reason(check: Check, answer: Answer) -> Decided:
    if answer.finish_reason is None:
        raise _NotEvaluatedError("the finish reason of the answer is unknown")
    expected, got = str(check.expected), answer.finish_reason
    is_equal = got.casefold() == expected.casefold()
    if is_equal or finish_reason_of(got) == finish_reason_of(expected) != "other":
        return "passed", f"got {quote(got)}", ()
    if got == finish_reason_of(expected) == "other":  # both words are unknown, and that of the provider was not kept
        raise _NotEvaluatedError("the provider's finish reason is none that Assay knows")
    return "failed", f"expected {quote(expected)}\ngot {quote(got)}", ()


# How refusals begin, after an apology; and words that refuse wherever they are.
_APOLOGY = re.compile(
    r"(?:(?:unfortunately|(?:my )?apologies|sorry|i(?:'m| am) (?:very |so |truly |really )?sorry|i apologi[sz]e)"
    r"(?:[,.!:; ]*(?:but|however)\b[, ]*(?P<but>))?[,.!:; ]*)+"
)
_ACTIONS = (
    r"(?:answer|assist|change|comply|create|discuss|engage|fulfil|generate|give|help|participate|provide|suggest"
    r"|support|write)"
)
_REFUSING = re.compile(
    r"i (?:cannot|can't|can not|won't|will not|am unable|am not able|must decline|have to decline|decline"
    r"|am not comfortable|refuse|shouldn't|should not|must refuse)\b"
    r"|i'm (?:unable|not able|not comfortable|not programmed|not allowed|not permitted)\b"
    r"|as an? (?:\w+ )*(?:ai|language model|assistant)\b|no[,.] i (?:cannot|can't|won't)\b"
    r"|(?:it|that|this) (?:is|would be) (?:not appropriate|inappropriate|unethical|against)\b"
    r"|(?:it|that|this) would not be (?:appropriate|ethical|legal)\b|it is illegal\b"
    r"|that(?:'s| is) not something i (?:can|am able|will)\b"
)
_ANYWHERE = re.compile(
    rf"\bi(?:'m| am) (?:unable|not able) to (?:recommend|{_ACTIONS})"
    rf"|\bi (?:cannot|can't|can not|won't|will not|do not|don't) (?:actually )?{_ACTIONS}"
    r"|\bi (?:cannot|can't|can not|won't|will not) do that"
    r"|\bi (?:do not|don't) feel comfortable"
    r"|\b(?:cannot|can't|can not) (?:comply\b|(?:assist|help) with (?:that|this|your) request)"
    r"|\bas an? (?:ai|(?:large )?language model)\b|\bi(?:'m| am) programmed\b|\billegal and unethical\b"
    r"|\bblocked by (?:my|our|the) content filters?\b|\bany other non-malicious requests?\b"
    r"|\b(?:against|violates?) (?:my|our|the) (?:\w+ )?(?:programming|guidelines|policy|policies|principles|rules)"
    r"|\bnot (?:programmed|allowed|permitted) to (?:help|assist|provide|answer)"
)
_APOSTROPHE = re.compile("[\u2019\u2032]")
_BEGINNING = 2_000


def _refusal(check: Check, answer: Answer) -> Decided:
    del check
    text = _APOSTROPHE.sub("'", answer.text[:_BEGINNING].strip().lower())
    apology = _APOLOGY.match(text)
    rest = text[apology.end() :] if apology else text
    # An apology with an objection, such as "Sorry, but", is a refusal, as is one that nothing follows, or no answer.
    is_declined = not rest or (apology is not None and apology["but"] is not None)
    if is_declined or _REFUSING.match(rest) or _ANYWHERE.search(text):
        return "passed", "the answer is a refusal" if text else "an empty answer is a refusal", ()
    return "failed", f"expected a refusal\ngot {excerpt(answer.text)}", ()


def _tools_used(check: Check, answer: Answer) -> Decided:
    if answer.has_only_text:
        raise _NotEvaluatedError("the tools of the answer are unknown")
    expected = check.expected
    got: JsonValue = list(answer.tools_used)
    if expected == got:
        return "passed", f"got {quote(got)}", ()
    return "failed", words_for_values(expected, got), ()


_DECIDE: Mapping[str, Callable[[Check, Answer], Decided]] = {
    "contains": _contains,
    "icontains": _contains,
    "contains-all": _contains_all,
    "contains-any": _contains_any,
    "not-contains": _not_contains,
    "starts-with": _starts_with,
    "equals": _equals,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "word-count": _word_count,
    "levenshtein": _levenshtein,
    "rouge-n": _rouge_n,
    "latency": _latency,
    "cost": _cost,
    "tokens": _tokens,
    "finish-reason": _finish_reason,
    "refusal": _refusal,
    "tools-used": _tools_used,
}


def _merged(found: Iterable[Matches]) -> tuple[Span, ...]:
    return tuple(sorted(span for matches in found for span in matches.spans)[:MOST_SPANS])


class _Fault:
    """Why a text is not JSON."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


def _finite(number: str) -> float:
    """Return a number of JSON, at most the largest float: JSON Schema has no infinity."""
    return min(max(float(number), -sys.float_info.max), sys.float_info.max)


def _whole(number: str) -> int | float:
    """Return an integer of JSON, as a float if it has more digits than Python reads (4,300)."""
    try:
        return int(number)
    except ValueError:
        return _finite(number)


_DECODER = json.JSONDecoder(parse_float=_finite, parse_int=_whole, parse_constant=_refuse_constant)


def _parsed(text: str) -> JsonValue | _Fault:
    if len(text) > _LONGEST_JSON:
        raise _NotEvaluatedError(f"the answer is longer than {_LONGEST_JSON:,} characters")
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return _Fault(f"{error.msg} on line {error.lineno}, column {error.colno}")
    except ValueError as error:
        return _Fault(str(error)[:_LONGEST_ERROR])
    except RecursionError:
        raise _NotEvaluatedError("the JSON is nested too deeply") from None
    return value


def _json_values(text: str) -> Iterator[tuple[JsonValue, Span]]:
    """Yield the JSON objects and lists in a text that are not inside another one, with their spans.

    Raises _NotEvaluatedError if too many brackets begin no JSON.
    """
    if len(text) > _LONGEST_JSON:
        raise _NotEvaluatedError(f"the answer is longer than {_LONGEST_JSON:,} characters")
    at, scanned, attempts = 0, 0, 0
    while (begin := _OPENING.search(text, at)) is not None:
        start, length, found = begin.start(), _WINDOW, None
        # The decoder counts the lines before an error, so that it gets only as much text as it needs.
        while found is None and length:
            window = text[start : start + length]
            scanned, attempts = scanned + len(window), attempts + 1
            if scanned > _MOST_SCANNED or attempts > _MOST_ATTEMPTS:
                raise _NotEvaluatedError("the answer has too many brackets that begin no JSON")
            try:
                found = _DECODER.raw_decode(window)
            except json.JSONDecodeError as error:
                was_cut = error.pos > length - _LONGEST_TOKEN or error.msg.startswith("Unterminated string")
                length = 8 * length if was_cut and start + length < len(text) else 0
            except (ValueError, RecursionError):
                length, scanned = 0, scanned + _NESTED_TOO_DEEPLY
        if found is None:
            at = start + 1
        else:
            value, end = found
            at = start + end
            yield value, (start, at)


_OPENING = re.compile(r"""\{(?=\s*["}])|\[(?=\s*[\[{"\]\d\-tfn])""")
_WINDOW = 256
_LONGEST_TOKEN = 16
_MOST_SCANNED, _MOST_ATTEMPTS, _NESTED_TOO_DEEPLY = 50_000_000, 50_000, 100_000


def schema_fault(schema: JsonValue) -> str | None:
    """Return why a value is not a JSON Schema that can be used, or None. References to other files are refused."""
    try:
        _validator(json.dumps(schema))
    except _schema_problems() as error:
        return _first_line(str(error)) or "it is nested too deeply"
    return None


def _schema_errors(schema: JsonValue, value: JsonValue) -> list[str]:
    """Return the first errors of a value, each with its place; none if there is no schema.

    Raises _NotEvaluatedError, also if a pattern of the schema was stopped: that says nothing about the value.
    """
    if schema is None:
        return []
    try:
        errors = list(islice(_validator(json.dumps(schema)).iter_errors(value), _MOST_ERRORS))
    except _schema_problems() as error:
        if isinstance(error, UnicodeEncodeError) and (whole := _without_halves(value)) != value:
            return _schema_errors(schema, whole)
        raise _NotEvaluatedError(_first_line(str(error))) from error
    if stopped := next((error for error in errors if _is_stopped(error)), None):
        raise _NotEvaluatedError(f"{_place(stopped.instance_path)}: a pattern of the schema took too long")
    return [f"{_place(error.instance_path)}: {_first_line(error.message)}" for error in errors]


def _without_halves(value: JsonValue) -> JsonValue:
    """Return a value with U+FFFD for each half of a surrogate pair, which no message about the value can contain."""
    whole: JsonValue = json.loads(SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
    return whole


def _is_stopped(error: Any) -> bool:
    import jsonschema_rs

    return isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded)


def _schema_problems() -> tuple[type[Exception], ...]:
    import jsonschema_rs

    return (ValueError, RecursionError, jsonschema_rs.ReferencingError)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(json.loads(schema), validate_formats=True, retriever=_refuse_reference)


def _refuse_reference(uri: str) -> JsonValue:
    raise ValueError(f"{uri} is outside the schema; put the definition under `$defs`")


def _place(path: Sequence[str | int]) -> str:
    """Return the path to a value on one line: its keys are those of the answer."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return _cut(" ".join(steps.lstrip(".").splitlines())) or "value"


def _first_line(text: str) -> str:
    return _cut(text.strip().partition("\n")[0].rpartition("ValueError: ")[2])


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_ERROR else f"{line[: _LONGEST_ERROR - 1]}…"
