"""The suite tree as rows: what is unfolded, what is counted, what the filter leaves."""

from dataclasses import replace
from pathlib import Path

from tests.support.scripted_session import case_of, suite_of
from tui.app.explore.answer_panes import arrange
from tui.app.explore.suite_rows import Row, ancestors, case_key, outline, row_line, small_data_sets, suite_key
from tui.app.open_suites import CaseMarks, OpenSuite
from tui.app.presentation.marks import tally
from tui.app.presentation.pieces import cut, cut_middle, spread, text_of, width_of
from tui.app.widgets.footer import Key, fit_keys, keys_that_fit
from tui.model.errors import Problem
from tui.model.filter import StatusWord
from tui.model.suite import Case, DataRow, Step, Suite

PATH = Path("suites/a.yaml")
CASES = (
    case_of("one", category="Code"),
    case_of("two", category="Security", severity="critical"),
    case_of("three", category="Code", steps=[Step("first"), Step("second")]),
)
OPEN_SUITE = OpenSuite(PATH, "suites", suite_of(PATH, *CASES), read=True)


def names(rows: list[Row]) -> list[tuple[int, str, str]]:
    return [(row.depth, row.kind, row.name) for row in rows]


def test_nothing_below_a_folded_row_is_made() -> None:
    assert names(outline([OPEN_SUITE], ())) == [(0, "suite", "a")]


def test_categories_stand_in_the_order_of_the_file_with_their_cases_below() -> None:
    key = suite_key(OPEN_SUITE)
    unfolded = {key, (*key, "Code"), case_key(OPEN_SUITE, CASES[2])}
    assert names(outline([OPEN_SUITE], unfolded)) == [
        (0, "suite", "a"),
        (1, "category", "Code"),
        (2, "case", "one"),
        (2, "case", "three"),
        (3, "step", "first"),
        (3, "step", "second"),
        (1, "category", "Security"),
    ]


def test_cases_without_a_category_stand_right_below_their_suite() -> None:
    open_suite = OpenSuite(PATH, "suites", suite_of(PATH, case_of("one", category="")), read=True)
    assert names(outline([open_suite], {suite_key(open_suite)})) == [(0, "suite", "a"), (1, "case", "one")]


def test_folders_are_rows_where_there_are_several() -> None:
    other = OpenSuite(Path("more/b.yaml"), "more", suite_of(Path("b.yaml"), CASES[0]), read=True)
    rows = names(outline([OPEN_SUITE, other], {("suites",)}))
    assert rows == [(0, "folder", "suites"), (1, "suite", "a"), (0, "folder", "more")]


def test_the_filter_leaves_what_is_requested_and_unfolds_down_to_it() -> None:
    rows = outline([OPEN_SUITE], (), lambda _, case: case.id == "two")
    assert names(rows) == [(0, "suite", "a"), (1, "category", "Security"), (2, "case", "two")]
    assert outline([OPEN_SUITE], (), lambda *_: False) == []


def test_a_row_knows_those_above_it() -> None:
    key = case_key(OPEN_SUITE, CASES[0])
    assert list(ancestors(key)) == [("suites",), ("suites", str(PATH)), ("suites", str(PATH), "Code")]


def test_a_case_shows_a_mark_for_each_model_and_its_severity() -> None:
    key = suite_key(OPEN_SUITE)
    row = outline([OPEN_SUITE], {key, (*key, "Security")})[-1]
    assert text_of(row_line(row, lambda _: CaseMarks(["passed", "running"]), 24)) == "  ✓● two            crit"
    line = text_of(row_line(row, lambda _: CaseMarks(["passed", "running"]), 30))
    assert line.startswith("    ✓● two ")
    assert line.endswith(" crit")
    assert len(line) == 30


def test_a_rerun_with_another_verdict_is_marked_on_its_row_and_counted_on_a_folded_one() -> None:
    key = suite_key(OPEN_SUITE)
    row = outline([OPEN_SUITE], {key, (*key, "Security")})[-1]
    assert text_of(row_line(row, lambda _: CaseMarks(["passed", "passed"], 1), 24)) == "  ✓✓↻ two           crit"
    folded = outline([OPEN_SUITE], ())[0]
    reruns = {"one": 1, "two": 2, "three": 0}
    line = row_line(folded, lambda case: CaseMarks(["passed", "passed"], reruns[case.id]), 30)
    assert text_of(line).endswith(" ✓6 ↻3")


def test_a_long_name_in_the_tree_keeps_its_end() -> None:
    case = replace(CASES[1], name="A question about security number 12")
    row = Row("case", (), 2, case.name, None, OPEN_SUITE, (case,))
    assert text_of(row_line(row, lambda _: CaseMarks(["passed", "failed"]), 24)) == "  ✓✗ A quest…ber 12 crit"


def test_a_folded_row_counts_what_is_below_it() -> None:
    row = outline([OPEN_SUITE], ())[0]
    assert text_of(row_line(row, lambda _: CaseMarks(["not_run", "not_run"]), 30)) == "▸ a                    3 cases"
    statuses: dict[str, list[StatusWord]] = {
        "one": ["passed", "failed"],
        "two": ["flaky", "passed"],
        "three": ["error", "waiting"],
    }
    assert text_of(row_line(row, lambda case: CaseMarks(statuses[case.id]), 30)).endswith(" ✓2 ◐1 ✗1 !1")


def test_a_broken_suite_says_how_many_problems_it_has() -> None:
    problem = Problem("b.json", 1, 1, "error", "", "no")
    row = outline([OpenSuite(Path("b.json"), "", None, (problem, problem), read=True)], ())[0]
    line = text_of(row_line(row, lambda _: CaseMarks([]), 30))
    assert line.startswith("! b.json ")
    assert line.endswith("2 problems")


def test_lines_are_cut_to_the_room_there_is() -> None:
    assert cut("日本語です", 5) == "日本…"
    assert cut("abc", 0) == ""
    line = spread([("a long name that does not fit", "plain")], [("crit", "failed")], 12)
    assert (text_of(line), width_of(text_of(line))) == ("a long… crit", 12)
    assert text_of(spread([("name", "plain")], [("crit", "failed")], 5)) == "name "


def test_a_long_name_keeps_its_end() -> None:
    assert [cut_middle("abcdef", width) for width in (0, 1, 3, 5, 6)] == ["", "…", "ab…", "ab…ef", "abcdef"]


def test_a_tally_leaves_out_what_was_not_asked() -> None:
    assert tally(["not_run", "waiting"]) == ()


def test_panes_stand_beside_each_other_where_they_can_be_read() -> None:
    assert arrange(2, 120, 30) == (2, 1, False)
    assert arrange(4, 160, 30) == (4, 1, False)
    assert arrange(4, 120, 30) == (2, 2, False)
    assert arrange(4, 120, 10) == (1, 1, True)
    assert arrange(2, 50, 12) == (1, 1, True)
    assert arrange(2, 50, 30) == (1, 2, False)
    assert arrange(1, 1, 1) == (1, 1, False)
    assert arrange(3, 0, 0) == (1, 1, True)


def test_the_keys_that_lead_on_are_always_there() -> None:
    keys = [Key("r", "run", "run"), Key("R", "run all", "all"), Key("x", "cancel", "x")]
    last = [Key("?", "help", "help")]
    assert [key.shown for key in keys_that_fit(keys, last, 200)] == ["r", "R", "x", "?"]
    assert [key.shown for key in keys_that_fit(keys, last, 18)] == ["r", "?"]
    assert keys_that_fit(keys, last, 3) == []


def test_descriptions_are_shortened_before_keys_are_left_out() -> None:
    keys = [Key("R", "run all", "all"), Key("f", "rerun failed", "failed"), Key("z", "zoom", "zoom")]
    last = [Key("?", "help", "help"), Key("^p", "commands", "palette")]

    def footer(width: int) -> str:
        found, gap = fit_keys(keys, last, width)
        return (" " * gap).join(f"{key.shown} {key.does}" for key in found)

    assert footer(120) == "R run all  f rerun failed  z zoom  ? help  ^p commands"
    assert footer(50) == "R all  f failed  z zoom  ? help  ^p menu"
    assert footer(40) == "R all f failed z zoom ? help ^p menu"
    assert footer(36) == "R all f failed ? help ^p menu"
    many = [Key(letter, "rerun failed", "failed") for letter in "abcdefghijkl"]
    assert fit_keys(many, last, 110)[1] == 2, "the gap is smaller in a narrow terminal only"


def test_the_rows_of_a_data_set_are_below_a_row_for_their_case() -> None:
    cases = [Case(f"a.{n}", "Capital", "Know", (Step("p"),), row=DataRow("a", str(n))) for n in range(6)]
    suite = Suite("n", "d", "s.yaml", "", "schema-1.0.0", (*cases, Case("b", "Plain", "Know", (Step("p"),))))
    open_suite = OPEN_SUITE._replace(suite=suite)
    key = suite_key(open_suite)
    rows = outline([open_suite], {key, (*key, "Know")})
    assert [(row.kind, row.name, row.unfolded) for row in rows[2:]] == [
        ("rows", "Capital", False),
        ("case", "Plain", None),
    ]
    assert rows[2].cases == tuple(cases)
    assert rows[2].displays("a.3")
    unfolded = outline([open_suite], {key, (*key, "Know"), rows[2].key})
    assert [row.name for row in unfolded[3:6]] == ["a.0", "a.1", "a.2"]
    assert unfolded[3].key == case_key(open_suite, cases[0])
    assert small_data_sets(open_suite) == set()
    few = OPEN_SUITE._replace(suite=Suite("n", "d", "s.yaml", "", "schema-1.0.0", tuple(cases[:5])))
    assert small_data_sets(few) == {rows[2].key}


def test_a_folded_data_set_has_the_worst_mark_of_its_rows() -> None:
    cases = [Case(f"a.{n}", "Capital", "Know", (Step("p"),), row=DataRow("a", str(n))) for n in range(3)]
    row = Row("rows", ("k",), 2, "Capital", False, OPEN_SUITE._replace(suite=None), tuple(cases))
    statuses: dict[str, StatusWord] = {"a.0": "passed", "a.1": "error", "a.2": "flaky"}

    def marks_of(case: Case) -> CaseMarks:
        return CaseMarks([statuses[case.id]])

    read = row._replace(open_suite=OPEN_SUITE)
    assert text_of(row_line(read, marks_of, 40)).split() == ["▸", "!", "Capital", "✓1", "◐1", "!1"]
    statuses["a.0"] = "failed"
    assert text_of(row_line(read, marks_of, 40)).split()[:2] == ["▸", "✗"]
    statuses.update(dict.fromkeys(statuses, "not_run"))
    assert text_of(row_line(read, marks_of, 40)).split() == ["▸", "·", "Capital", "3", "cases"]
