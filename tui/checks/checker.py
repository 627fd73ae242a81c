"""Evaluating checks on answers: finally on the whole answer, and provisionally while it streams."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tui.checks.assertions import Answer, excerpt
from tui.checks.case_assertions import (
    MOST_STEPS_HERE,
    MOST_STEPS_TOGETHER,
    STEPS_TO_SEARCH,
    decide_check,
    encode_assertion,
    steps_of,
)
from tui.checks.live import Watch, Watched
from tui.checks.messages import words_for_matches
from tui.checks.patterns import find_plain
from tui.checks.pool import Pool
from tui.checks.protocol import Matches, Search, SpanRoom
from tui.checks.turns import Turn
from tui.model.results import CheckResult, CheckState
from tui.model.secrets import Secrets
from tui.model.suite import RUN_KINDS, Check

__all__ = ["Answer", "Checker", "Watch", "Watched"]


class Checker:
    """Evaluates checks, with patterns in worker processes that are started on first use.

    A pattern that takes longer than 1 s of processor time, or crashes, is `timed_out`; the other patterns are still
    evaluated, as long as those of one answer take no more than 5 s together. Belongs to one event loop.

    The details of the results are without `secrets`: an answer without them may contain one in the escapes of JSON,
    which assertions decode.
    """

    def __init__(self, secrets: Secrets | None = None) -> None:
        self._pool, self._secrets = Pool(), secrets or Secrets()

    async def decide(
        self, checks: Sequence[Check], answer: Answer, secrets: Secrets | None = None
    ) -> tuple[CheckResult, ...]:
        """Return one result for each check, in their order; without the `secrets` of a run, if it has its own.

        Checks that run a command are ignored: whoever runs it adds the result.
        """
        checks = [check for check in checks if check.kind not in RUN_KINDS]
        searches = list(_searches_for(checks, answer.text))
        found = iter(await self._search(answer.text, [search for search in searches if search]))
        hide = (self._secrets if secrets is None else secrets).hide
        results, turn, room = [], Turn(), SpanRoom()
        for check, search in zip(checks, searches, strict=True):
            await turn.end_if_long()
            result = decide_check(check, answer) if search is None else _result(check, search, next(found), answer.text)
            results.append(replace(result, detail=hide(result.detail), spans=room.cut(result.spans)))
        return tuple(results)

    def watch(self, checks: Sequence[Check]) -> Watch:
        """Return a watch that evaluates the checks while an answer streams."""
        return Watch(checks, self._search)

    async def _search(self, text: str, searches: Sequence[Search]) -> tuple[Matches, ...]:
        """Search for the first plain texts in this process, and for all other patterns in a worker."""
        local, turn, room = list[Matches | None](), Turn(), SpanRoom()
        most = MOST_STEPS_TOGETHER // (STEPS_TO_SEARCH * len(text) or 1)
        for number, search in enumerate(searches):
            await turn.end_if_long()
            found_here = find_plain(text, search) if number < most else None
            local.append(found_here and room.cut_matches(found_here))
        remaining = [search for search, found in zip(searches, local, strict=True) if found is None]
        replies = iter(await self._pool.search(text, remaining) if remaining else ())
        return tuple(next(replies) if found is None else found for found in local)

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the running worker processes."""
        return self._pool.pids

    async def close(self) -> None:
        """End the worker processes; checks in progress are `timed_out`. May be called repeatedly."""
        self._pool.close()


def _is_pattern(check: Check) -> bool:
    return check.kind in ("expected_pattern", "forbidden_pattern", "output.matches")


def _searches_for(checks: Sequence[Check], text: str) -> Iterator[Search | None]:
    """Yield the search of each check that is decided by a worker, None for one that is decided in this process."""
    room = MOST_STEPS_TOGETHER
    for check in checks:
        if _is_pattern(check):
            yield Search("python" if check.kind == "output.matches" else "javascript", check.target)
        elif (steps := steps_of(check, text)) > min(room, MOST_STEPS_HERE):
            yield Search("assertion", encode_assertion(check))
        else:
            room -= steps
            yield None


def _result(check: Check, search: Search, found: Matches, text: str) -> CheckResult:
    is_assertion = search.engine == "assertion"
    return _assertion_result(check, found) if is_assertion else _pattern_result(check, found, text)


def _assertion_result(check: Check, found: Matches) -> CheckResult:
    if found.state:
        return CheckResult(check.kind, check.target, found.state, found.detail, found.spans)
    reason = found.failure.replace("pattern", "assertion")
    return CheckResult(check.kind, check.target, "timed_out", f"could not be evaluated: {reason}")


def _pattern_result(check: Check, matches: Matches, text: str) -> CheckResult:
    state: CheckState = "passed" if bool(matches.count) == (check.kind != "forbidden_pattern") else "failed"
    if matches.failure:
        state = "timed_out"
    detail = words_for_matches(matches, text)
    if check.kind == "output.matches" and state == "failed":
        detail += f"\nexpected a match of {check.target}\ngot {excerpt(text)}"
    return CheckResult(check.kind, check.target, state, detail, matches.spans)
