"""The rows of recorded answers, and the line that says what would change."""

from pathlib import Path

import pytest

from tests.support.kept_runs import make_result
from tui.app.check_editor.lines import (
    AnswerRows,
    answer_line,
    head_line,
    language_of,
    names_of,
    status_line,
    verdict_words,
)
from tui.app.presentation.pieces import text_of
from tui.model.results import CheckResult, CheckState, TrialKey, Verdict
from tui.model.suite import Case, Check
from tui.session.check_edits import JudgedAnswer, RecordedAnswer

RECORDED: tuple[tuple[TrialKey, Verdict], ...] = (
    (TrialKey("a", "openai/m"), "passed"),
    (TrialKey("a", "local/n", 2), "failed"),
    (TrialKey("b", "openai/m"), "incomplete"),
)
ANSWERS = tuple(
    RecordedAnswer("0193f2a4c6d87000a1b2c3d4e5f60718", key, make_result(key, verdict).attempts[-1], 0)
    for key, verdict in RECORDED
)


def judged(number: int, verdict: Verdict, state: CheckState = "passed", matches: int = 1) -> JudgedAnswer:
    spans = tuple((at, at + 1) for at in range(matches))
    return JudgedAnswer(ANSWERS[number], CheckResult("expected_pattern", "x", state, "", spans), verdict)


def rows_of(*known: JudgedAnswer) -> AnswerRows:
    rows = AnswerRows()
    rows.show(ANSWERS)
    rows.add({ANSWERS.index(each.answer): each for each in known})
    return rows


def status(rows: AnswerRows, *, fault: str = "", searching: bool = False, saved: bool = False, cases: int = 1) -> str:
    return text_of(status_line(rows, fault, searching=searching, is_saved=saved, cases=cases))


def test_changed_verdicts_come_first_when_all_are_judged() -> None:
    rows = rows_of(judged(0, "passed"), judged(1, "passed"))
    assert rows.order == [0, 1, 2]
    rows.add({2: judged(2, "incomplete")})
    assert rows.is_complete
    assert rows.order == [1, 0, 2]
    assert rows.changed == 1
    assert rows.row_of(ANSWERS[0]) == 1
    rows.forget()
    assert (rows.order, rows.judged) == ([1, 0, 2], {})
    assert rows.at(0) == (ANSWERS[1], None)
    assert rows.at(3) is None
    assert rows.at(-1) is None


def test_the_status_counts_what_would_change() -> None:
    done = rows_of(judged(0, "passed"), judged(1, "passed"), judged(2, "incomplete"))
    assert status(done) == "1 of 3 verdicts would change  in this case  not saved"
    assert status(done, saved=True, cases=3) == "1 of 3 verdicts would change  in this case and 2 other cases  saved"
    assert status(rows_of(judged(1, "passed")), searching=True) == "1 of 3 verdicts judged, 1 would change…  not saved"
    assert status(done, fault="unbalanced\x1b[31m") == "Invalid: unbalanced␛[31m  not saved"
    assert status(AnswerRows(), searching=True).startswith("Reading answers…")
    assert status(AnswerRows()).startswith("No recorded answers")
    slow = rows_of(judged(0, "error", "timed_out"), judged(1, "error", "timed_out"), judged(2, "incomplete"))
    assert status(slow).endswith("! the pattern took too long in 2 answers")


@pytest.mark.parametrize(
    ("number", "known", "expected"),
    [
        (0, None, "✓   …  a  m  0193f2a4c6d8"),
        (0, judged(0, "failed"), "✓ → ✗  a  m  0193f2a4c6d8"),
        (1, judged(1, "failed"), "✗      a  n  #2  0193f2a4c6d8"),
        (2, judged(2, "failed"), "◌ → ✗  b  m  0193f2a4c6d8"),
    ],
)
def test_the_row_of_an_answer(number: int, known: JudgedAnswer | None, expected: str) -> None:
    line = answer_line(ANSWERS[number], known, names_of(ANSWERS), 60, with_case=True)
    assert text_of(line) == expected


def test_a_narrow_row_is_cut() -> None:
    assert len(text_of(answer_line(ANSWERS[0], None, names_of(ANSWERS), 14, with_case=True))) == 14


def test_the_words_for_an_answer() -> None:
    assert verdict_words(ANSWERS[0], None) == "passed"
    assert verdict_words(ANSWERS[0], judged(0, "passed")) == "passed · 1 match"
    assert verdict_words(ANSWERS[0], judged(0, "failed", matches=0)) == "passed → failed · 0 matches"
    assert verdict_words(ANSWERS[0], judged(0, "error", "timed_out")) == "passed → error · pattern ran too long"
    assert verdict_words(ANSWERS[0], judged(0, "passed", matches=1_000)) == "passed · 1,000+ matches"


def test_the_title_and_the_language() -> None:
    case, check = Case("a", "A\x1b", "C", ()), Check("output.matches", "x")
    assert text_of(head_line(case, check, Path("x/s.yaml"))) == "Edit check  a · A␛  matches  s.yaml"
    assert "Python" in language_of(check)
    assert "may not match" in language_of(Check("forbidden_pattern", "x"))
