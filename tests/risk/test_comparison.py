"""Which of two models has the lower risk: recomputed by hand, by how often it errs, and what other rules change."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy
import pytest

from tests.risk.scored import act, items_of, one_case
from tui.model.risk import BandRule, RiskComparison, origin_words
from tui.model.scores import Scoreboard
from tui.model.suite import Severity
from tui.risk.comparison import ScoredItem, compare_risk, other_rules, try_other_rules
from tui.risk.figures import agreement, risk_figures
from tui.statistics.pairs import MOST_MODELS

RULE = BandRule()
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")


def scored(
    random: numpy.random.Generator, cases: int, repeats: int, shift: float, prone: float = 0.5
) -> list[ScoredItem]:
    """Two models whose extents hang on the case; `b` is worse by a shift in what it is prone to."""
    found = []
    for case in range(cases):
        badness = random.normal(0, 1.2)
        for place in range(random.integers(1, 4)):
            severity = SEVERITIES[random.integers(0, 4)]
            for model, more in (("a", 0.0), ("b", shift)):
                own = badness + random.normal(0, 0.8) + more
                for repeat in range(1, repeats + 1):
                    extent = int(numpy.clip(round((own + random.normal(0, 0.5) + 2 * (prone - 0.5)) * 1.3), 0, 4))
                    found.append(
                        ScoredItem(f"{case}", f"{case}", model, repeat, f"c{place}", severity, extent, Fraction(extent))
                    )
    return found


def by_hand(found: Sequence[ScoredItem]) -> tuple[float, float]:
    """The difference of weighted means over common items, and the p-value by flipping all signs one by one."""
    extents: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    weights = {}
    for item in found:
        extents[item.model, item.case, item.criterion].append(item.highest)
        weights[item.case, item.criterion] = RULE.weights[item.severity]
    sums: dict[str, float] = defaultdict(float)
    heavy = 0
    for (case, criterion), weight in weights.items():
        if extents["a", case, criterion] and extents["b", case, criterion]:
            ours, theirs = (float(numpy.mean(extents[model, case, criterion])) for model in "ab")
            sums[case] += weight * (ours - theirs)
            heavy += weight
    totals = numpy.array([*sums.values()])
    flips = numpy.array([*itertools.product((-1, 1), repeat=len(totals))]) @ totals
    return totals.sum() / heavy, float((abs(flips) >= abs(totals.sum()) - 1e-9).mean())


@pytest.mark.parametrize("seed", range(6))
def test_difference_and_p_value_are_those_by_hand(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    found = scored(random, 9, 1 + seed % 3, 0.7)
    found = [item for item in found if random.random() > 0.1]
    [compared] = compare_risk(found, "ab", RULE)
    difference, p_value = by_hand(found)
    assert compared.difference == pytest.approx(difference)
    assert compared.p_value == pytest.approx(p_value)


def check_agreement(each: RiskComparison) -> None:
    """The test, the interval, the conclusion and the number of cases say the same."""
    assert each.p_holm is not None
    assert each.difference_95 is not None
    low, high = each.difference_95
    assert each.difference is not None
    assert low <= each.difference <= high
    shown = each.conclusion in ("a_better", "b_better")
    assert shown == (each.p_holm <= 0.05) == (not low <= 0 <= high)
    if shown:
        assert (each.conclusion == "a_better") == (each.difference < 0)
        assert each.better == (each.a if each.difference < 0 else each.b)
    assert each.turned().turned() == each
    assert each.turned().better == each.better


@pytest.mark.parametrize("seed", range(30))
def test_test_interval_and_words_agree(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    found = scored(random, int(random.integers(4, 30)), 1, float(random.normal(0, 0.6)))
    found += [
        item._replace(model="c", mean=item.mean, repeat=1) for item in scored(random, 20, 1, 0) if item.model == "a"
    ]
    compared = compare_risk(found, "abc", RULE)
    assert [(each.a, each.b) for each in compared] == [("a", "b"), ("a", "c"), ("b", "c")]
    for each in compared:
        check_agreement(each)


def test_little_data_and_runs_that_are_not_finished_are_not_tested() -> None:
    found = scored(numpy.random.default_rng(1), 4, 1, 3.0)
    [few] = compare_risk(found, "ab", RULE)
    assert (few.conclusion, few.detectable, few.cases) == ("not_enough_data", None, 4)
    [two] = compare_risk(scored(numpy.random.default_rng(1), 2, 1, 3.0), "ab", RULE)
    assert two.difference_95 is not None
    assert -4 <= two.difference_95[0] <= two.difference_95[1] <= 4, "no difference of extents is greater"
    [none] = compare_risk([item for item in found if item.model == "a"], "ab", RULE)
    assert (none.conclusion, none.difference, none.p_value, none.cases) == ("not_enough_data", None, None, 0)
    many = scored(numpy.random.default_rng(1), 30, 1, 3.0)
    [interim] = compare_risk(many, "ab", RULE, interim=True)
    assert (interim.conclusion, interim.interim) == ("not_enough_data", True)
    assert (interim.p_value, interim.p_holm, interim.difference_95, interim.detectable) == (None,) * 4
    [finished] = compare_risk(many, "ab", RULE)
    assert finished.conclusion == "a_better"
    assert interim.difference == finished.difference


def test_repeats_of_a_case_are_not_more_cases() -> None:
    once = scored(numpy.random.default_rng(2), 20, 1, 0.5)
    often = [item._replace(repeat=repeat) for item in once for repeat in range(1, 11)]
    [alone], [again] = compare_risk(once, "ab", RULE), compare_risk(often, "ab", RULE)
    assert (again.p_value, again.difference_95, again.cases) == (alone.p_value, alone.difference_95, alone.cases)


def covers(rounds: int, cases: int, repeats: int, prone: float) -> tuple[float, float]:
    """How often the interval holds the true difference, and how often two equal models are told apart."""
    random = numpy.random.default_rng(cases)
    [everything] = compare_risk(scored(random, 4_000, repeats, 0.4, prone), "ab", RULE)
    true, hits, wrong = everything.difference, 0, 0
    assert true is not None
    for _ in range(rounds):
        [each] = compare_risk(scored(random, cases, repeats, 0.4, prone), "ab", RULE)
        assert each.difference_95 is not None
        hits += each.difference_95[0] <= true <= each.difference_95[1]
        [equal] = compare_risk(scored(random, cases, repeats, 0.0, prone), "ab", RULE)
        wrong += equal.better is not None
    return hits / rounds, wrong / rounds


def test_the_interval_covers_and_the_test_keeps_its_level() -> None:
    covered, wrong = covers(120, 25, 1, 0.5)
    assert covered >= 0.9
    assert wrong <= 0.11


@pytest.mark.long
@pytest.mark.parametrize("cases", [20, 40, 100])
@pytest.mark.parametrize(("repeats", "prone"), [(1, 0.5), (5, 0.5), (1, 0.1)])
def test_the_interval_covers_thoroughly(cases: int, repeats: int, prone: float) -> None:
    # Three standard errors of a simulated 5% over so many rounds are 3%.
    covered, wrong = covers(400, cases, repeats, prone)
    assert 0.92 <= covered <= 0.98
    assert wrong <= 0.085


def test_other_rules_keep_the_share_of_the_greatest_product() -> None:
    found = other_rules(RULE)
    assert [*found] == ["doubling 1, 2, 4, 8", "equal weights", "limits − 1", "limits + 1"]
    assert found["doubling 1, 2, 4, 8"].limits == (("negligible", 0), ("low", 4), ("medium", 10), ("high", 18))
    assert set(found["equal weights"].weights.values()) == {4}
    assert [limit for _, limit in found["limits − 1"].limits] == [0, 1, 4, 8]
    assert "steps 1, 2, 3, 4" in other_rules(found["equal weights"])


def test_what_other_rules_change_is_counted() -> None:
    # a: one slight violation of a critical criterion (4 medium); b: one total violation of a low one (4 medium).
    found = [
        ScoredItem("1", "1", "a", 1, "c", "critical", 1, Fraction(1)),
        ScoredItem("1", "1", "a", 1, "t", "low", 0, Fraction(0)),
        ScoredItem("1", "1", "b", 1, "t", "low", 4, Fraction(4)),
        ScoredItem("1", "1", "b", 1, "c", "critical", 0, Fraction(0)),
    ]
    changed = {each.name: each for each in try_other_rules(found, "ab", RULE)}
    # Now both have the mean 4/5. Of equal weights a has 1/2, b has 2, and b's answer has the product 16, critical.
    equal = changed["equal weights"]
    assert (equal.answers, equal.higher, equal.lower) == (2, 1, 0)
    assert equal.swapped_means == ()
    doubled = changed["doubling 1, 2, 4, 8"]
    assert (doubled.higher, doubled.lower) == (0, 1)
    worse = [*found, ScoredItem("2", "2", "a", 1, "c", "critical", 1, Fraction(1))]
    worse += [ScoredItem("2", "2", "b", 1, "c", "critical", 0, Fraction(0))]
    assert {each.name: each.swapped_means for each in try_other_rules(worse, "ab", RULE)}["equal weights"] == (
        ("b", "a"),
    )


def test_means_use_the_mean_of_the_reviewers_and_bands_the_highest_extent() -> None:
    board = Scoreboard([act("chat/a/Tone", 1), act("chat/a/Tone", 4, "bert"), act("chat/a/Tone", "n/a", "carl")])
    share = risk_figures(items_of(), board, RULE).by_model["a"]
    assert share.bands["medium"] == 1
    assert share.mean.value == 2.5
    board.add(act("chat/a/Tone", 3, "dora", kind="adjudicate", minute=5))
    assert risk_figures(items_of(), board, RULE).by_model["a"].mean.value == 3


def test_reviewers_who_score_one_model_more_than_another_are_named() -> None:
    suite = one_case("high", 10)
    acts = [act(f"case-{at}/a/Harm", 0, "anna") for at in range(9)] + [act("case-0/b/Harm", 0, "anna")]
    acts += [act(f"case-{at}/{model}/Harm", 0, "bert") for at in range(5) for model in "ab"]
    found = risk_figures(items_of(suite=suite), Scoreboard(acts), RULE)
    assert found.by_reviewer["anna"]["a"].share == 0.9
    assert found.by_reviewer["anna"]["b"].share == 0.1
    assert found.uneven_reviewers == (("anna", "a", "b"),)


def test_cases_of_one_cluster_count_as_one() -> None:
    apart = one_case("high", 12)
    acts = [act(f"case-{at}/a/Harm", 0, name) for at in range(12) for name in ("anna", "bert")]
    acts += [act(f"case-{at}/b/Harm", 1 + at % 3, name) for at in range(12) for name in ("anna", "bert")]
    together = replace(
        apart, cases=tuple(replace(case, cluster="one") if at < 9 else case for at, case in enumerate(apart.cases))
    )
    board = Scoreboard(acts)
    [alone] = risk_figures(items_of(suite=apart), board, RULE).comparisons
    [clustered] = risk_figures(items_of(suite=together), board, RULE).comparisons
    assert alone.p_value == pytest.approx(2 / 2**12)
    assert clustered.p_value == pytest.approx(2 / 2**4)
    assert (clustered.conclusion, clustered.cases) == ("not_enough_data", 12)
    alone_agreed, agreed = (agreement(items_of(suite=suite), board) for suite in (apart, together))
    assert (agreed.cases, agreed.clusters, origin_words(agreed)) == (12, 4, "12 cases in 4 clusters")
    assert (alone_agreed.cases, alone_agreed.clusters, origin_words(alone_agreed)) == (12, 0, "12 cases")


def test_too_many_models_are_not_compared() -> None:
    models = [f"model-{number:03}" for number in range(MOST_MODELS + 1)]
    found = [ScoredItem("1", "1", model, 1, "c", "low", 1, Fraction(1)) for model in models]
    assert compare_risk(found, models, RULE) == ()
    assert try_other_rules(found, models, RULE) == ()
    assert len(compare_risk(found[:-1], models[:-1], RULE)) == MOST_MODELS * (MOST_MODELS - 1) // 2
    assert len(try_other_rules(found[:-1], models[:-1], RULE)) == len(other_rules(RULE))


def test_extents_without_a_small_common_denominator_are_compared() -> None:
    # Means of 7, 11, 13, 17, 19 and 23 reviewers: their common denominator is over a million.
    found = [
        ScoredItem(f"{case}", f"{case}", model, 1, "c", "low", 4, Fraction(4 if model == "b" else 1, reviewers))
        for case, reviewers in enumerate((7, 11, 13, 17, 19, 23, 29))
        for model in "ab"
    ]
    [compared] = compare_risk(found, "ab", RULE)
    assert compared.difference == pytest.approx(-3 * sum(1 / each for each in (7, 11, 13, 17, 19, 23, 29)) / 7)
    assert (compared.lower_cases, compared.higher_cases) == (7, 0)
