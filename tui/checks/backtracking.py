"""Warnings about patterns that take exponential time, found by trying them on short texts derived from them."""

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple

from tui.checks.engine import Engine
from tui.checks.patterns import engine_of_this_thread
from tui.model.suite import CheckKind

# Only a repeated group can be exponential; patterns without one are not tried.
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{\d)")
_LONGEST = 2_000
_MOST_SAMPLES = 6
_MOST_PUMPS = 60
_MOST_SECONDS = 0.25
_UNTRIED = "was not tried for exponential time, like others of the suite: too many patterns take long"
_REPEATS = 64
# From the first of these times to the second, the text of a polynomial grows by more than this factor, up to the fifth
# degree.
_NOTICED_SECONDS, _SLOW_SECONDS = 0.0003, 0.008
_STEEPEST = 1.75

_QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})\??")
_OPENING = re.compile(r"\((?:\?(?:<(?![=!])[^>]*>|:|(<?[=!])))?")
_CLASS = re.compile(r"\[(\^?)((?:\\.|[^\]\\])*)\]", re.DOTALL)
_MEMBER = re.compile(r"\\.|[^\\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|k<[^>]*>|\d+|.)", re.DOTALL)
_OF_ESCAPE = {
    "\\w": "a",
    "\\W": "-",
    "\\d": "1",
    "\\D": "a",
    "\\s": " ",
    "\\S": "a",
    "\\t": "\t",
    "\\n": "\n",
    "\\r": "\r",
}


def pattern_warning(kind: CheckKind, pattern: str) -> str | None:
    """Return a warning if a pattern takes exponential time, with the text that shows it, or None.

    A Python pattern is tried as the JavaScript pattern with the same source, if there is one. Takes some 50 ms for an
    exponential pattern, usually less than 1 ms otherwise.
    """
    return _warning(pattern) if _may_be_exponential(kind, pattern) else None


class PatternWarnings:
    """Warn about the patterns of one suite, with at most some seconds of processor time for all of them.

    One of the patterns that are not tried any more gets a warning that says so.
    """

    def __init__(self, most_seconds: float = 2.0) -> None:
        self._most, self._spent = most_seconds, 0.0
        self._tried: dict[str, str | None] = {}
        self._untried = ""

    def warning(self, kind: CheckKind, pattern: str) -> str | None:
        """Return a warning about a pattern, or None; the same if it is asked for again."""
        if not _may_be_exponential(kind, pattern):
            return None
        if pattern not in self._tried:
            if self._spent > self._most:
                self._untried = self._untried or pattern
                return _UNTRIED if pattern == self._untried else None
            began = time.thread_time()
            self._tried[pattern] = _warning(pattern)
            self._spent += time.thread_time() - began
        return self._tried[pattern]


def _may_be_exponential(kind: CheckKind, pattern: str) -> bool:
    is_pattern = kind in ("expected_pattern", "forbidden_pattern", "output.matches")
    return is_pattern and len(pattern) <= _LONGEST and _REPEATED_GROUP.search(pattern) is not None


@lru_cache(maxsize=4_096)
def _warning(pattern: str) -> str | None:
    engine = engine_of_this_thread()
    if engine.fault(pattern):
        return None
    try:
        probes = list(islice(dict.fromkeys(_probes(pattern)), _MOST_PUMPS))
    except RecursionError:  # groups within groups, hundreds deep
        return None
    began = time.thread_time()
    for probe in probes:
        if time.thread_time() - began > _MOST_SECONDS:
            break
        if _is_exponential(engine, pattern, probe):
            return f"needs exponential time on an answer such as {probe.text(_REPEATS // 2)!a}"
    return None


class _Probe(NamedTuple):
    """A text that repeats what a group matches, and ends with what it does not match."""

    before: str
    repeated: str
    after: str

    def text(self, number: int) -> str:
        """Return the text with this number of repeats."""
        return self.before + self.repeated * number + self.after


def _is_exponential(engine: Engine, pattern: str, probe: _Probe) -> bool:
    if _seconds(engine, pattern, probe.text(_REPEATS)) < _SLOW_SECONDS:
        return False
    noticed = 0
    for number in range(2, _REPEATS):
        text = probe.text(number)
        seconds = _seconds(engine, pattern, text)
        if noticed and number > noticed * _STEEPEST:
            return False
        if seconds >= _NOTICED_SECONDS:
            # A short search takes long once in a while for reasons of the machine.
            seconds = min(seconds, _seconds(engine, pattern, text), _seconds(engine, pattern, text))
        if seconds >= _SLOW_SECONDS:
            return noticed > 0
        if not noticed and seconds >= _NOTICED_SECONDS:
            noticed = number
    return False


def _seconds(engine: Engine, pattern: str, text: str) -> float:
    """Return the processor time of a search in this thread, which is ended after 20 ms."""
    began = time.thread_time()
    for _ in engine.search(text, [(pattern, 0)], lambda: 0.0):
        pass
    return time.thread_time() - began


def _probes(pattern: str) -> Iterator[_Probe]:
    sampler = _Sampler(pattern)
    sampler.alternatives("")
    for before, samples in sampler.repeated:
        for repeated, after in product(samples, ("\0", "\n", *sampler.excluded)):
            if repeated:
                yield _Probe(before, repeated, after)


class _Sampler:
    """Derives short texts from a pattern that each of its parts matches.

    Approximate: an exponential group for which it derives a wrong text is not found. `repeated` maps each repeated
    group to a text that leads to it and a text that it matches; `excluded` are characters that a class excludes.
    """

    def __init__(self, pattern: str) -> None:
        self.repeated: list[tuple[str, list[str]]] = []
        self.excluded: list[str] = []
        self._pattern, self._at = pattern, 0

    def alternatives(self, before: str) -> list[str]:
        """Read up to the end of the group that is open; `before` is a text that leads to it."""
        found = self._sequence(before)
        while self._pattern.startswith("|", self._at):
            self._at += 1
            found += self._sequence(before)
        self._at += 1
        return list(dict.fromkeys(found))[:_MOST_SAMPLES]

    def _sequence(self, before: str) -> list[str]:
        found = [""]
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            samples = self._part(before + found[0])
            found = ["".join(pair) for pair in islice(product(found, samples), _MOST_SAMPLES)]
        return found

    def _part(self, before: str) -> list[str]:
        opening = _OPENING.match(self._pattern, self._at)
        if opening:
            self._at = opening.end()
            samples = self.alternatives(before)
            if opening[1]:
                samples = [""]
        else:
            samples = self._atom()
        quantifier = _QUANTIFIER.match(self._pattern, self._at)
        if quantifier is None:
            return samples
        self._at = quantifier.end()
        sign, least, comma, most = quantifier.groups()
        if opening and sign != "?":
            self.repeated.append((before, samples))
        number = min(int(least), 30) if least else int(sign == "+")
        repeated = [sample * max(1, number) for sample in samples]
        return repeated if number or most == "0" or (least and not comma) else [*repeated, ""]

    def _atom(self) -> list[str]:
        if found := _CLASS.match(self._pattern, self._at):
            self._at = found.end()
            members = [_character(member) for member in _MEMBER.findall(found[2])]
            if not found[1]:
                return list(dict.fromkeys(members))[:3] or [""]
            self.excluded += members[:1]
            return [next((sign for sign in "a1 -!z" if sign not in members), "é")]
        escape = _ESCAPE.match(self._pattern, self._at)
        part = escape[0] if escape else self._pattern[self._at]
        self._at += len(part)
        if part in ("^", "$", "\\b", "\\B") or re.fullmatch(r"\\(?:k<.*|\d+)", part):
            return [""]
        return ["a"] if part == "." else [_character(part)]


def _character(part: str) -> str:
    """Return a character that an escape, or the character itself, matches."""
    if part in _OF_ESCAPE:
        return _OF_ESCAPE[part]
    if part[:2] in ("\\x", "\\u") and len(part) > 2:
        return chr(int(part[2:], 16))
    return part[-1]
