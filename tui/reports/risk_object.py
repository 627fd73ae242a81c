"""Manual scoring as the JSON report gives it: figures, agreement, guidance and rule."""

import math
from collections.abc import Mapping
from typing import Any

from tui.model.bands import BANDS, EXTENTS, BandRule
from tui.model.risk import (
    Agreement,
    Interval,
    NaDisagreement,
    OtherRule,
    Reviewed,
    RiskComparison,
    RiskFigures,
    RiskShare,
    reliability,
)
from tui.model.rule_words import RULE_REASON


def build_risk(reviewed: Reviewed) -> dict[str, Any]:
    """Counts, means with their 95% intervals (null where there is not enough data), alpha and kappa; no NaN."""
    return {
        "rule": _rule(reviewed.rule),
        "guidance": {"version": reviewed.guidance.version, "levels": list(reviewed.guidance.levels)},
        "reviewers": list(reviewed.board.reviewers),
        "outdated": reviewed.board.outdated,
        "names_seen": {name: looks for name in reviewed.board.reviewers if (looks := reviewed.board.looks(name))},
        "masked": _masked(reviewed),
        "figures": _figures(reviewed.figures),
        "agreement": build_agreement(reviewed.agreement),
    }


def _masked(reviewed: Reviewed) -> dict[str, Any] | None:
    """The answers that were scored with names masked in them, and the shares of the others; null without any."""
    if reviewed.without_masked is None:
        return None
    without = {model: _share(share) for model, share in reviewed.without_masked.by_model.items()}
    return {"answers": reviewed.masked, "by_model_without": without}


def _rule(rule: BandRule) -> dict[str, Any]:
    return {
        "weights": dict(rule.weights),
        "limits": {**dict(rule.limits), "critical": None},
        "extents": list(EXTENTS),
        "several_scores": "a decision counts; without one bands use the highest extent, means the reviewers' mean",
        "reason": RULE_REASON,
    }


def _figures(figures: RiskFigures) -> dict[str, Any]:
    return {
        "items": figures.items,
        "scored": figures.scored,
        "disputed": figures.disputed,
        "by_model": {model: _share(share) for model, share in figures.by_model.items()},
        "by_category": {model: _shares(shares) for model, shares in figures.by_category.items()},
        "by_criterion": {model: _shares(shares) for model, shares in figures.by_criterion.items()},
        "heat": {
            model: {
                severity: [heat.get((severity, extent), 0) for extent in range(len(EXTENTS))]
                for severity in dict.fromkeys(severity for severity, _ in heat)
            }
            for model, heat in figures.heat.items()
        },
        "comparisons": [_comparison(each) for each in figures.comparisons],
        "sensitivity": [_other_rule(each) for each in figures.other_rules],
        "by_reviewer": {
            reviewer: {model: {"scored": each.scored, "items": each.items} for model, each in by_model.items()}
            for reviewer, by_model in figures.by_reviewer.items()
        },
        "uneven_reviewers": [
            {"reviewer": reviewer, "most": most, "least": least} for reviewer, most, least in figures.uneven_reviewers
        ],
    }


def _comparison(each: RiskComparison) -> dict[str, Any]:
    """`difference` is the weighted mean extent of `a` minus that of `b`: below 0 `a` has the lower risk."""
    return {
        "a": each.a,
        "b": each.b,
        "items": each.items,
        "cases": each.cases,
        "lower_cases": each.lower_cases,
        "higher_cases": each.higher_cases,
        "tie_cases": each.tie_cases,
        "method": "sign-flip",
        "p_value": number(each.p_value),
        "p_holm": number(each.p_holm),
        "difference": number(each.difference),
        "difference_95": None if each.difference_95 is None else list(each.difference_95),
        "detectable": number(each.detectable),
        "conclusion": each.conclusion,
        "interim": each.interim,
    }


def _other_rule(each: OtherRule) -> dict[str, Any]:
    return {
        "name": each.name,
        "weights": dict(each.rule.weights),
        "limits": {**dict(each.rule.limits), "critical": None},
        "answers": each.answers,
        "higher": each.higher,
        "lower": each.lower,
        "swapped_by_mean": [list(pair) for pair in each.swapped_means],
        "swapped_by_share": [list(pair) for pair in each.swapped_shares],
    }


def _shares(shares: Mapping[str, RiskShare]) -> dict[str, Any]:
    return {name: _share(share) for name, share in shares.items()}


def _share(share: RiskShare) -> dict[str, Any]:
    return {
        "bands": {band: share.bands.get(band, 0) for band in BANDS},
        "answers": share.answers,
        "partial": share.partial,
        "unscored": share.unscored,
        "not_applicable": share.not_applicable,
        "mean": number(share.mean.value),
        "mean_95": _ends(share.mean),
    }


def _ends(interval: Interval) -> list[float | None] | None:
    low, high = number(interval.low), number(interval.high)
    return None if low is None or high is None else [low, high]


def build_agreement(agreement: Agreement) -> dict[str, Any]:
    """Return the agreement of reviewers as the report and `assay review agreement --json` give it."""
    return {
        "overall": _alpha(agreement.overall, agreement.on_na),
        "by_criterion": {
            name: _alpha(alpha, agreement.on_na_by_criterion.get(name, NaDisagreement()))
            for name, alpha in agreement.by_criterion.items()
        },
        "pairs": [
            {"a": pair.a, "b": pair.b, "items": pair.items, "kappa": number(pair.kappa)} for pair in agreement.pairs
        ],
        "own": [
            {
                "reviewer": own.reviewer,
                "twice": own.twice,
                "items": own.items,
                "same": own.same,
                "within_one": own.near,
                "na_once": own.on_na,
                "alpha": number(own.alpha.value),
                "low": number(own.alpha.low),
                "high": number(own.alpha.high),
            }
            for own in agreement.own
        ],
        "units": agreement.units,
        "cases": agreement.cases,
    }


def _alpha(alpha: Interval, on_na: NaDisagreement) -> dict[str, Any]:
    return {
        "alpha": number(alpha.value),
        "low": number(alpha.low),
        "high": number(alpha.high),
        "words": reliability(alpha.value) or None,
        "na_disagreement": {
            "split": on_na.split,
            "units": on_na.units,
            "share": on_na.split / on_na.units if on_na.units else None,
        },
    }


def number(value: float | None) -> float | None:
    """The number, if it is one that JSON has."""
    return None if value is None or not math.isfinite(value) else value
