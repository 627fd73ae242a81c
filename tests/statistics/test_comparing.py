"""Which of two models does better, with the cases behind each number."""

import pytest

from tui.statistics.comparing import Comparison, compare_models
from tui.statistics.pairs import mcnemar_exact
from tui.statistics.shares import Passes, difference_interval

PASS, FAIL = Passes(1, 1), Passes(0, 1)


def compared(a: str, b: str) -> Comparison:
    """One letter for each case: p a pass, anything else none; a space is not asked."""

    def passes(letters: str) -> dict[str, Passes]:
        return {f"case-{at}": PASS if letter == "p" else FAIL for at, letter in enumerate(letters) if letter != " "}

    (comparison,) = compare_models({"a": passes(a), "b": passes(b)})
    return comparison


def test_cases_stand_behind_each_number() -> None:
    comparison = compared("pffpp p", "fpfppp ")
    assert comparison.win_cases == ("case-0",)
    assert comparison.loss_cases == ("case-1",)
    assert comparison.tie_cases == ("case-2", "case-3", "case-4")
    assert (comparison.wins, comparison.losses, comparison.ties) == (1, 1, 3)
    assert comparison.method == "mcnemar-exact"
    assert comparison.difference == 0.0


def test_a_difference_and_its_interval() -> None:
    comparison = compared("p" * 9 + "f", "f" * 8 + "pp")
    assert comparison.difference == pytest.approx(0.7)
    assert comparison.difference_95 == difference_interval([1.0] * 8 + [0.0, -1.0])
    assert comparison.p_value == mcnemar_exact(8, 1)


@pytest.mark.parametrize(
    ("a", "b", "finding", "missing"),
    [
        ("", "", "nothing in common", 6),
        ("p ", " p", "nothing in common", 6),
        ("ppppp", "fffff", "not enough data", 1),
        ("pppppp", "ffffff", "a", 0),
        ("ffffff", "pppppp", "b", 0),
        ("pppfff", "fffppp", "no difference shown", 0),
        ("pppppppp", "pppppppp", "not enough data", 6),
    ],
)
def test_what_can_be_said(a: str, b: str, finding: str, missing: int) -> None:
    comparison = compared(a, b)
    assert (comparison.finding, comparison.missing) == (finding, missing)


def test_several_pairs_need_more() -> None:
    better = {f"case-{at}": PASS for at in range(6)}
    worse = dict.fromkeys(better, FAIL)
    pairs = compare_models({"a": better, "b": worse, "c": worse})
    assert [(pair.finding, pair.missing) for pair in pairs] == [("not enough data", 1)] * 2 + [("not enough data", 7)]
    assert [pair.p_holm for pair in pairs] == pytest.approx([6 / 64, 6 / 64, 1.0])


def test_repeats_are_compared_by_exact_shares() -> None:
    ours = {"win": Passes(2, 3), "tie": Passes(1, 3), "alike": Passes(2, 4), "unasked": Passes(0, 0)}
    theirs = {"win": Passes(3, 5), "tie": Passes(2, 6), "alike": Passes(3, 6), "unasked": Passes(1, 1)}
    (comparison,) = compare_models({"a": ours, "b": theirs})
    assert comparison.win_cases == ("win",)
    assert comparison.tie_cases == ("tie", "alike")
    assert comparison.method == "paired-bootstrap"
    assert comparison.p_value == 1.0
    assert comparison.difference == pytest.approx((2 / 3 - 3 / 5) / 3)


def test_fewer_cases_won_by_more() -> None:
    ours = {f"far-{at}": Passes(10, 10) for at in range(9)} | {f"near-{at}": Passes(4, 10) for at in range(12)}
    theirs = {f"far-{at}": Passes(0, 10) for at in range(9)} | {f"near-{at}": Passes(5, 10) for at in range(12)}
    (comparison,) = compare_models({"a": ours, "b": theirs})
    assert (comparison.wins, comparison.losses, comparison.finding) == (9, 12, "they differ")
    assert comparison.p_value < 0.01


def test_nothing_heavy_is_loaded_where_nobody_was_asked_twice() -> None:
    import subprocess
    import sys

    code = (
        "import sys, tui.statistics.preferences, tui.statistics.quantiles\n"
        "from tui.statistics.comparing import compare_models\n"
        "from tui.statistics.shares import Passes, clustered_interval\n"
        "compare_models({'a': {'x': Passes(1, 1)}, 'b': {'x': Passes(0, 1)}})\n"
        "clustered_interval([Passes(1, 1)])\n"
        "assert not {'numpy', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
