"""The filter language, word by word."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType

import pytest

from tests.support.scripted_session import case_of
from tui.model.filter import (
    CASE_FILTER,
    MOST_COMPLETIONS,
    DataColumns,
    StatusWord,
    case_values,
    parse_filter,
    rename_saved_filter,
    severity_of,
)
from tui.model.suite import Case, DataRow, RiskCriterion, Step

CASE = Case(
    "sql-1",
    "Query by e-mail",
    "Bug Fixing",
    (Step("Write an SQL query."), Step("Now for users.")),
    tags=("security", "database"),
    test_type="bug-fix",
    risk_criteria=(RiskCriterion("Injection", "", "critical"), RiskCriterion("Style", "", "low")),
)
STATUSES: Mapping[str, StatusWord] = {"gpt-5.2": "failed", "gpt-mini": "passed", "claude": "timed_out"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("sql", True),
        ("SQL users", True),
        ('"sql query"', True),
        ('"query sql"', False),
        ("mail", True),
        ("nothing", False),
        ("!nothing", True),
        ("!sql", False),
        ("tag:security", True),
        ("tag:secur*", True),
        ("tag:web", False),
        ("!tag:security", False),
        ("sev:critical", True),
        ("sev:crit", True),
        ("severity:high", False),
        ("type:bug-fix", True),
        ("type:bug*", True),
        ("type:refactoring", False),
        ('cat:"Bug Fixing"', True),
        ('category:"bug fix', True),
        ("cat:Security", False),
        ("id:sql-*", True),
        ("id:py", False),
        ("status:fail", True),
        ("status:failed", True),
        ("status:error", False),
        ("status:timeout", True),
        ("status:timed-out", True),
        ("status:unasked", False),
        ("!status:fail", False),
        ("!status:error", True),
        ("model:gpt* status:pass", True),
        ("model:claude status:pass", False),
        ("model:claude !status:pass", True),
        ("!model:gpt* status:fail", False),
        ("model:other", False),
        ("tag:security sql status:fail", True),
        ("tag:security sql status:running", False),
        ("status:", True),
        ("tag:", True),
    ],
)
def test_terms_select_cases(text: str, expected: bool) -> None:
    assert parse_filter(text).matches(CASE, STATUSES) is expected


@pytest.mark.parametrize("word", ["not_run", "not-run", "unasked"])
def test_cases_that_were_not_run_are_selected_by_the_former_word_too(word: str) -> None:
    assert parse_filter(f"status:{word}").matches(CASE, {"gpt": "not_run"})


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tags:x", "unknown filter tags:; did you mean tag:?"),
        ("zzz:x", "unknown filter zzz:; available: status: tag: sev: model: type: cat: id: differs:"),
        ("differs:maybe", "unknown value differs:maybe; available: yes, no"),
        ("differs:y", ""),
        ("sev:severe", "unknown severity severe; available: low, medium, high, critical"),
        ("status:", ""),
        ("stat", ""),
    ],
)
def test_what_makes_no_sense_is_hinted_at(text: str, hint: str) -> None:
    assert parse_filter(text).hint == hint


def test_a_status_that_is_none_names_those_there_are() -> None:
    assert parse_filter("status:green").hint.startswith("unknown status green; available: passed, failed")


def test_an_unknown_key_is_searched_for_as_text() -> None:
    case = case_of("web", prompt="Fetch http://x")
    assert parse_filter("http://x").matches(case, {})
    assert not parse_filter("ftp://x").matches(case, {})


@pytest.mark.parametrize(
    ("shares", "differ", "agree"),
    [
        ((1.0, 0.0), True, False),
        ((1.0, 1.0), False, True),
        ((0.0, 0.0), False, True),
        ((2 / 3, 1 / 3), True, False),
        ((1.0, -1.0), False, False),
        ((1.0, -1.0, 0.0), True, False),
        ((-1.0, -1.0), False, False),
        ((1.0,), False, False),
        ((), False, False),
    ],
)
def test_models_differ_or_agree_as_far_as_they_have_answered(
    shares: tuple[float, ...], differ: bool, agree: bool
) -> None:
    known = {f"model-{number}": share for number, share in enumerate(shares)}
    statuses: dict[str, StatusWord] = dict.fromkeys(known, "passed")
    for text, expected in {"differs:yes": differ, "differs:no": agree}.items():
        assert parse_filter(text).matches(CASE, statuses, known) is expected
        assert parse_filter(f"!{text}").matches(CASE, statuses, known) is not expected
    assert parse_filter("differs:yes").needs_shares
    assert parse_filter("differs:yes").needs_statuses


def test_only_the_models_that_are_looked_at_can_differ() -> None:
    shares = {"gpt-5.2": 0.0, "gpt-mini": 1.0, "claude": 0.0}
    assert parse_filter("model:gpt* differs:yes").matches(CASE, STATUSES, shares)
    assert not parse_filter("!model:mini differs:yes").matches(CASE, STATUSES, shares)
    assert parse_filter("!model:mini differs:no").matches(CASE, STATUSES, shares)
    assert not parse_filter("differs:yes tag:web").matches(CASE, STATUSES, shares)


def test_a_case_is_as_severe_as_its_worst_criterion() -> None:
    assert severity_of(CASE) == "critical"
    assert severity_of(case_of("plain")) is None


VALUES = {"tag": ["security", "data base", "se[x]", "web"], "model": ["gpt-5.2", "GPT-mini", "claude"]}


def completed(text: str, cursor: int | None = None) -> list[str]:
    """Return the whole filter after each completion."""
    found = CASE_FILTER.complete(text, len(text) if cursor is None else cursor, lambda key: VALUES.get(key, []))
    assert all(each.cursor <= len(each.text) for each in found)
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("st", ["status:"]),
        ("!st", ["!status:"]),
        ("sql mo", ["sql model:"]),
        ("zzz", []),
        ("sql ", []),
        ('"st', []),
        ("tags:", []),
        ("sev:", ["sev:low ", "sev:medium ", "sev:high ", "sev:critical "]),
        ("severity:h", ["severity:high "]),
        ("tag:se", ["tag:security ", "tag:se?x] ", 'tag:"data base" ']),
        ("tag:SEC", ["tag:security "]),
        ('tag:"data b', ['tag:"data base" ']),
        ('tag:"data base"', []),
        ("status:not", ["status:not_run "]),
        ("!model:g", ["!model:gpt-5.2 ", "!model:GPT-mini "]),
        ("differs:", ["differs:yes ", "differs:no "]),
    ],
)
def test_a_term_is_completed_with_keys_and_values(text: str, expected: list[str]) -> None:
    assert completed(text) == expected


def test_an_empty_filter_is_completed_with_every_key() -> None:
    assert completed("") == [f"{key}" for key in CASE_FILTER.keys_in_words.split()]


def test_the_term_at_the_cursor_is_completed_and_the_rest_stays() -> None:
    assert completed("stat tag:web", 4) == ["status: tag:web"]
    assert completed("sev:cr tag:web", 6) == ["sev:critical tag:web"]
    assert completed("status:fail", 3) == [], "inside of a word"


@pytest.mark.parametrize("value", ["a b", 'a "b" c', "[x] *y?", "plain", "ünï"])
def test_a_completed_value_selects_that_value(value: str) -> None:
    [completion] = CASE_FILTER.complete("cat:", 4, lambda _: [value])
    case = replace(CASE, category=value)
    assert parse_filter(completion.text).matches(case, {})
    assert not parse_filter(completion.text).matches(CASE, {})


def test_many_values_are_cut_and_repeated_ones_listed_once() -> None:
    assert len(CASE_FILTER.complete("id:", 3, lambda _: (f"case-{n % 500}" for n in range(2000)))) == MOST_COMPLETIONS


SAVED = {"flaky": "status:flaky tag:slow", "one": "sev:high", "deep": "@flaky id:x", "runs": "state:finished"}


def terms_of(text: str, saved: Mapping[str, str] = MappingProxyType(SAVED)) -> tuple[list[tuple[str, str, bool]], str]:
    terms, hint = CASE_FILTER.parse(text, saved)
    return [(term.key, term.value, term.inverted) for term in terms], hint


def test_a_saved_filter_is_replaced_by_its_terms() -> None:
    flaky = [("status", "flaky", False), ("tag", "slow", False)]
    assert terms_of("@flaky") == (flaky, "")
    assert terms_of("word @FLAKY sev:low") == ([("", "word", False), *flaky, ("sev", "low", False)], "")
    assert terms_of("@deep") == ([*flaky, ("id", "x", False)], "")
    assert terms_of("!@one") == ([("sev", "high", True)], "")
    assert terms_of('"@flaky" !"@one"') == ([("", "@flaky", False), ("", "@one", True)], "")
    assert terms_of("@ ") == ([], ""), "the name is still being typed"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("@flakky sev:high", "unknown saved filter @flakky; did you mean @flaky?"),
        ("!@flaky sev:high", "!@flaky: only a saved filter with one term can be inverted"),
        ("@a sev:high", "saved filter @a contains itself: @a → @b → @a"),
        ("@wide0 sev:high", "a filter contains at most 100 saved filters and 500 terms"),
    ],
)
def test_a_saved_filter_that_cannot_be_used_is_ignored_with_a_hint(text: str, hint: str) -> None:
    wide = {f"wide{number}": f"@wide{number + 1} @wide{number + 1}" for number in range(60)}
    saved = {**SAVED, "a": "@b", "b": "@a", **wide, "wide60": "@one"}
    found, given = terms_of(text, saved)
    assert given == hint
    assert found[-1] == ("sev", "high", False)


def test_saved_filters_are_proposed_first() -> None:
    def labels(text: str) -> list[str]:
        return [each.label for each in CASE_FILTER.complete(text, len(text), lambda _: (), SAVED)]

    assert labels("")[:4] == ["@flaky", "@one", "@deep", "status:"], "one for runs is not valid here"
    assert labels("tag:x @la") == ["@flaky"]
    assert labels("!@") == ["@one"], "only one with a single term can be inverted"
    assert labels("f") == []
    [completion] = CASE_FILTER.complete("tag:x @fl", 9, lambda _: (), SAVED)
    assert (completion.text, completion.description) == ("tag:x @flaky ", "status:flaky tag:slow")


def test_a_renamed_filter_is_renamed_where_it_is_used() -> None:
    text = '@one "@one" !@ONE tag:@one @ones'
    assert rename_saved_filter(text, "one", "two") == '@two "@one" !@two tag:@one @ones'


def test_only_the_first_columns_of_data_sets_that_can_be_typed_are_keys() -> None:
    rows = [{f"K{row}x{at}": "v" for at in range(200)} for row in range(30)]
    cases = [Case("long", "n", "c", (Step("p"),), row=DataRow("a", "long", {"k" * 401: "v"}))]
    cases += [Case(str(at), "n", "c", (Step("p"),), row=DataRow("a", str(at), row)) for at, row in enumerate(rows)]
    columns = DataColumns().of([cases])
    assert columns == tuple(name for row in rows[:10] for name in row)
    assert len(CASE_FILTER.with_columns(columns).keys_in_words) < 600
    assert parse_filter("k9x199:v", columns=columns).matches(cases[10], {})
    assert parse_filter("other_key:v", columns=columns).hint.endswith("…")


def test_a_column_in_any_of_its_spellings_is_found_in_a_row_with_few_columns() -> None:
    spellings = ["".join(letters) for letters in product(*zip("abcdefgh", "ABCDEFGH", strict=True))]
    case = Case("a", "n", "c", (Step("p"),), row=DataRow("a", "x", {"first": "1", spellings[-1]: "found"}))
    assert parse_filter("abcdefgh:found", columns=spellings).matches(case, {})
    assert list(case_values("abcdefgh", [case], spellings)) == ["found"]


def test_the_rows_of_data_sets_are_filtered_by_row_and_by_column() -> None:
    values = {"Country": "France", "tag": "x", "long name": "y"}
    case = Case("a.fr", "n", "c", (Step("p"),), row=DataRow("a", "fr", values))
    plain = Case("b", "n", "c", (Step("p"),))
    found_columns = DataColumns()
    columns = found_columns.of([[case, plain]])
    assert columns == ("Country", "tag", "long name")
    other = replace(case, row=DataRow("a", "fr", {"COUNTRY": "Spain"}))
    assert found_columns.of([[other], [case]]) == ("COUNTRY", *columns)
    assert parse_filter("country:sp", columns=("Country", "COUNTRY")).matches(other, {})
    for text in ("row:fr", "country:fran", "var.country:F*", "var.tag:x", "!row:de"):
        found = parse_filter(text, columns=columns)
        assert (found.hint, found.matches(case, {})) == ("", True), text
    assert not parse_filter("tag:x", columns=columns).matches(case, {})
    assert not parse_filter("country:fran", columns=columns).matches(plain, {})
    language = CASE_FILTER.with_columns(columns)
    assert [each.label for each in language.complete("cou", 3, lambda _: ())] == ["country:"]
    labels = [
        each.label for each in language.complete("country:", 8, lambda key: case_values(key, [case, plain], columns))
    ]
    assert labels == ["France"]
