"""Decides checks on answers: finally on the whole, and provisionally while the text arrives."""

from collections.abc import Sequence

from tui.checks.assertions import Answer, decide_assertion, excerpt
from tui.checks.live import Watch, Watched
from tui.checks.messages import words_for_matches
from tui.checks.patterns import find_plain
from tui.checks.pool import Pool
from tui.checks.protocol import Matches, Search
from tui.model.results import CheckResult, CheckState
from tui.model.suite import Check

__all__ = ["Answer", "Checker", "Watch", "Watched"]


class Checker:
    """Patterns are evaluated in worker processes, which start on first use; one that runs longer than 1 s of processor
    time, or crashes, is `timed_out`, and the others are decided all the same, as long as those of one answer take no
    more than 5 s together. Belongs to one event loop."""

    def __init__(self) -> None:
        self._pool = Pool()

    async def decide(self, checks: Sequence[Check], answer: Answer) -> tuple[CheckResult, ...]:
        """One result for each check, in their order. Checks of kind `command` are left out: they are not decided on
        the answer, and who runs the command adds the result."""
        searches = [_search_for(check) for check in checks if _is_pattern(check)]
        found = iter(await self._search(answer.text, searches))
        return tuple(
            _pattern_result(check, next(found), answer.text) if _is_pattern(check) else decide_assertion(check, answer)
            for check in checks
            if check.kind != "command"
        )

    def watch(self, checks: Sequence[Check]) -> Watch:
        """Follow an answer while it arrives."""
        return Watch(checks, self._search)

    async def _search(self, text: str, searches: Sequence[Search]) -> tuple[Matches, ...]:
        """Plain words here, everything that an engine is needed for in a worker."""
        here = [find_plain(text, search) for search in searches]
        asked = [search for search, found in zip(searches, here, strict=True) if found is None]
        there = iter(await self._pool.search(text, asked) if asked else ())
        return tuple(next(there) if found is None else found for found in here)

    @property
    def pids(self) -> tuple[int, ...]:
        """The worker processes that run now."""
        return self._pool.pids

    async def close(self) -> None:
        """End the worker processes; what is being decided is `timed_out`. May be called again."""
        self._pool.close()


def _is_pattern(check: Check) -> bool:
    return check.kind in ("expected_pattern", "forbidden_pattern", "output.matches")


def _search_for(check: Check) -> Search:
    return Search("python" if check.kind == "output.matches" else "javascript", check.target)


def _pattern_result(check: Check, matches: Matches, text: str) -> CheckResult:
    state: CheckState = "passed" if bool(matches.count) == (check.kind != "forbidden_pattern") else "failed"
    if matches.failure:
        state = "timed_out"
    detail = words_for_matches(matches, text)
    if check.kind == "output.matches" and state == "failed":
        detail += f"\nexpected a match of {check.target}\ngot {excerpt(text)}"
    return CheckResult(check.kind, check.target, state, detail, matches.spans)
