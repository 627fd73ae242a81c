"""The config's `risk:` and `review:`: what severities weigh, where bands end, what the extents mean, which names
are masked; and the reviewer's name."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

from tui.config.nodes import Place
from tui.model.bands import EXTENTS, Band, BandRule
from tui.model.name_mask import MOST_NAMES, mask_fault
from tui.model.suite import Severity

_GREATEST_WEIGHT = 100
_GREATEST_EXTENT = len(EXTENTS) - 1
_LONGEST_LINE = 500
_LONGEST_NAME = 80
_MOST_REPEATS = 30  # percent: repeats are taken from the first third of the answers
_Name = TypeVar("_Name", Severity, Band, str)


def read_risk(section: Place | None) -> tuple[BandRule, tuple[str, ...]]:
    """The rule, and the five lines of guidance (none where the file has none). What is not given is as published;
    problems are noted at their place."""
    if section is None:
        return BandRule(), ()
    fields = section.fields(("weights", "limits", "guidance"))
    rule = BandRule()
    weights = _read_weights(fields["weights"], rule) if "weights" in fields else dict(rule.weights)
    limits = _read_limits(fields["limits"], rule, weights) if "limits" in fields else rule.limits
    return BandRule(weights, limits), _read_guidance(fields["guidance"]) if "guidance" in fields else ()


def read_review(section: Place | None) -> tuple[tuple[str, ...], int]:
    """Return the names that `review: {mask: […]}` adds to those that are masked in blind review, and how many percent
    of the answers such a session shows twice, by `review: {repeats: …}`."""
    if section is None:
        return (), 0
    fields = section.fields(("mask", "repeats"))
    repeats = dict(_numbers(fields, ("repeats",), 0, _MOST_REPEATS)).get("repeats", 0)
    return _read_mask(fields["mask"]) if "mask" in fields else (), repeats


def _read_mask(place: Place) -> tuple[str, ...]:
    elements = place.elements()
    if len(elements) > MOST_NAMES:
        place.complain(f"has {len(elements)} names; at most {MOST_NAMES} can be added")
    names = [element.text(mask_fault) for element in elements[:MOST_NAMES]]
    return tuple(name for name in names if name is not None)


def name_fault(name: str) -> str | None:
    """What is wrong with a reviewer's name."""
    if len(name) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    return None if name.isprintable() else "holds a character that cannot be shown"


def _read_weights(place: Place, rule: BandRule) -> dict[Severity, int]:
    weights = dict(rule.weights)
    given = place.fields(weights)
    weights |= _numbers(given, tuple(weights), 1, _GREATEST_WEIGHT)
    for lighter, heavier in pairwise(weights):
        if weights[lighter] > weights[heavier]:
            what = f"{heavier} weighs {weights[heavier]}, less than {lighter} ({weights[lighter]})"
            given.get(heavier, given.get(lighter, place)).complain(what, level="warning")
    return weights


def _read_limits(place: Place, rule: BandRule, weights: dict[Severity, int]) -> tuple[tuple[Band, int], ...]:
    limits = dict(rule.limits)
    given = place.fields((*limits, "critical"))
    if "critical" in given:
        given.pop("critical").complain_of_name("has no limit: it is what exceeds the others; remove it")
    problems = len(place.findings.problems)
    limits |= _numbers(given, tuple(limits), 0, _GREATEST_WEIGHT * _GREATEST_EXTENT)
    if len(place.findings.problems) > problems:
        return rule.limits
    for lower, higher in pairwise(limits):
        if limits[lower] >= limits[higher]:
            what = f"limits must rise: {higher} ends at {limits[higher]}, {lower} already at {limits[lower]}"
            given.get(higher, given.get(lower, place)).complain(what)
    greatest, last = max(weights.values()) * _GREATEST_EXTENT, list(limits)[-1]
    if limits[last] >= greatest:
        what = f"nothing can be critical: the greatest weight × extent is {greatest}, and {last} ends at {limits[last]}"
        given.get(last, place).complain(what, level="warning")
    return tuple(limits.items())


def _numbers(given: dict[str, Place], names: tuple[_Name, ...], least: int, most: int) -> Iterator[tuple[_Name, int]]:
    for name in names:
        place = given.get(name)
        if place is None:
            continue
        problems = len(place.findings.problems)
        number = place.value()
        if isinstance(number, int) and not isinstance(number, bool) and least <= number <= most:
            yield name, number
        elif len(place.findings.problems) == problems:
            place.complain(f"must be a whole number from {least} to {most}")


def _read_guidance(place: Place) -> tuple[str, ...]:
    problems = len(place.findings.problems)
    elements = place.elements()
    lines = [element.text(_line_fault) for element in elements]
    if len(lines) != len(EXTENTS) and len(place.findings.problems) == problems:
        what = f"needs {len(EXTENTS)} lines, one for each extent ({', '.join(EXTENTS)}), and has {len(lines)}"
        place.complain(what)
    return tuple(line for line in lines if line is not None)


def _line_fault(line: str) -> str | None:
    if "\n" in line or "\r" in line:
        return "must be a single line"
    return f"is longer than {_LONGEST_LINE} characters" if len(line) > _LONGEST_LINE else None
