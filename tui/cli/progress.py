"""Progress of a run on stderr: one live line in a terminal, plain lines elsewhere."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from tui.cli.streams import live_line, say
from tui.model.context import PlannedContext, estimate_line
from tui.model.events import (
    ContextRead,
    Event,
    LimitMoved,
    RepositoryCloned,
    RepositoryCloning,
    RequestRetried,
    RunFinished,
    RunStarted,
    StoreRecovered,
    StoreStalled,
    TrialFinished,
)
from tui.model.results import TrialResult, Verdict, counted_as, has_failed_since, has_passed_since, rerun_note
from tui.model.run import Plan
from tui.model.sanitize import sanitize_line

_BETWEEN_SECONDS = 5.0


class LimitLines:
    """Remembers the last printed limit of each provider, so that a line shows the change since then."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[int, float]] = {}
        self._now: dict[str, LimitMoved] = {}
        self._reasons: dict[str, str] = {}

    def line(self, moved: LimitMoved, now: float | None = None) -> str:
        """Return a line such as `openai: concurrency 8 → 6: 429, Retry-After 2 s`.

        Empty if the last line is too recent or the limit is unchanged. `now` is in monotonic seconds.
        """
        now = time.monotonic() if now is None else now
        name = moved.provider
        self._now[name] = moved
        self._reasons[name] = moved.reason or self._reasons.get(name, "")
        if name not in self._shown:
            self._shown[name] = moved.limit, float("-inf")
            return ""
        shown, at = self._shown[name]
        is_back = moved.limit == moved.most
        if moved.limit == shown or (now - at < _BETWEEN_SECONDS and not is_back):
            return ""
        self._shown[name] = moved.limit, now
        why = f": {self._reasons[name]}" if moved.limit < shown and self._reasons[name] else ""
        return sanitize_line(f"{name}: concurrency {shown} → {moved.limit}{why}")

    @property
    def narrowed(self) -> str:
        """The limit of the provider furthest below its ceiling, as `concurrency 6/8`; empty if none is lowered."""
        below = [moved for moved in self._now.values() if moved.limit < moved.most]
        if not below:
            return ""
        least = min(below, key=lambda moved: moved.limit / moved.most)
        whom = f"{least.provider} " if len(self._now) > 1 else ""
        return sanitize_line(f"{whom}concurrency {least.limit}/{least.most}")


_MARKS: Mapping[Verdict, str] = {
    "passed": "✓",
    "failed": "✗",
    "unchecked": "○",
    "incomplete": "◌",
    "error": "!",
    "timed_out": "!",
    "cancelled": "·",
}
_IN_ORDER = "✓✗◐○◌!·"
_REDRAW_SECONDS = 0.1


class Progress(Protocol):
    """A display of a run's events."""

    def take(self, event: Event) -> None:
        """Show the effect of one event."""
        ...

    def close(self) -> None:
        """Finish the display: no more events will come."""
        ...


def open_progress(plan: Plan) -> Progress:
    """Return a live line for a terminal, plain lines for a log."""
    return _LiveProgress(plan) if sys.stderr.isatty() else _PlainProgress(plan)


def describe_result(result: TrialResult) -> str:
    """Return a result as `✓ case · model · 0.9 s`, with the reason if it did not pass."""
    flaky = counted_as(result) == "flaky" and result.verdict == "passed"
    mark = "◐" if flaky else _MARKS[result.verdict]
    seconds = (result.attempts[-1].answer_ms or 0.0) / 1000 if result.attempts else 0.0
    repeat = f" #{result.trial.repeat}" if result.trial.repeat > 1 else ""
    line = f"{mark} {result.trial.case}{repeat} · {result.trial.model} · {seconds:.1f} s"
    if note := rerun_note(result):
        line += f" · {note}"
    elif flaky:
        line += f" · passed {len(result.attempts)}/{len(result.attempts)}"
    elif result.verdict == "unchecked":
        line += " · unchecked: the case has no check"
    return f"{line} · {result.error}" if result.error else line


def describe_clone(event: RepositoryCloned) -> str:
    """Return what was cloned, with notes, and where it stays."""
    kept = [f"Saved clone: {event.kept_folder}"] if event.kept_folder else []
    return "\n".join([f"Cloned {event.url}, branch {event.branch}", *event.notes, *kept])


def _say_context(planned: PlannedContext, plan: Plan) -> None:
    """Print what the prompts of a run will contain, what was left out and why, and what the requests cost."""
    lines = [*planned.lines, estimate_line(planned, plan.trials, plan.subjects)]
    if text := "\n".join(line for line in lines if line):
        say(text)


class _PlainProgress:
    def __init__(self, plan: Plan) -> None:
        self._counts = _Counts(len(plan.trials))
        self._plan = plan
        self._limits = LimitLines()

    def take(self, event: Event) -> None:
        self._counts.take(event)
        match event:
            case ContextRead(planned):
                _say_context(planned, self._plan)
            case TrialFinished(result):
                say(sanitize_line(describe_result(result)))
            case RequestRetried(trial, _, _, reason, wait_ms):
                say(sanitize_line(f"  {trial.case} · {trial.model}: {reason}; retrying in {wait_ms / 1000:.1f} s"))
            case LimitMoved():
                if line := self._limits.line(event):
                    say(line)
            case StoreStalled(reason):
                say(f"Cannot write the run history, retrying: {reason}")
            case StoreRecovered():
                say("The run history is writable again.")
            case RepositoryCloned():
                say(describe_clone(event))
            case RunFinished():
                say(self._counts.line())

    def close(self) -> None:
        pass


class _LiveProgress:
    def __init__(self, plan: Plan) -> None:
        self._counts = _Counts(len(plan.trials))
        self._plan = plan
        self._limits = LimitLines()
        self._show: Callable[[str], None] = live_line()
        self._drawn = 0.0

    def take(self, event: Event) -> None:
        self._counts.take(event)
        match event:
            case ContextRead(planned):
                self._show("")
                _say_context(planned, self._plan)
                return
            case RepositoryCloning(received, total, size):
                self._show(f"Cloning: {received:,} of {total or received:,} objects, {size / 1e6:.1f} MB")
                return
            case RepositoryCloned():
                self._show("")
                say(describe_clone(event))
                return
            case TrialFinished(result) if result.verdict not in ("passed", "unchecked"):
                self._show("")
                say(sanitize_line(describe_result(result)))
            case LimitMoved():
                if line := self._limits.line(event):
                    self._show("")
                    say(line)
            case StoreStalled(reason):
                self._show("")
                say(f"Cannot write the run history, retrying: {reason}")
            case RunFinished():
                self._show("")
                say(self._counts.line())
                return
        if isinstance(event, RunStarted | TrialFinished) or time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._drawn = time.monotonic()
            narrowed = self._limits.narrowed
            self._show(self._counts.line() + (f"  {narrowed}" if narrowed else ""))

    def close(self) -> None:
        self._show("")


class _Counts:
    """The number of finished trials by verdict."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._by_mark: Counter[str] = Counter()
        self._passed_since = self._failed_since = 0
        self._started = time.monotonic()

    def take(self, event: Event) -> None:
        if isinstance(event, TrialFinished):
            self._done += 1
            flaky = counted_as(event.result) == "flaky"
            self._by_mark["◐" if flaky else _MARKS[event.result.first_verdict]] += 1
            self._passed_since += has_passed_since(event.result)
            self._failed_since += has_failed_since(event.result)

    def line(self) -> str:
        marks = "  ".join(f"{mark} {self._by_mark[mark]}" for mark in _IN_ORDER if self._by_mark[mark])
        since = "".join(
            f"  {number} {verdict} on rerun"
            for verdict, number in (("passed", self._passed_since), ("failed", self._failed_since))
            if number
        )
        elapsed = time.monotonic() - self._started
        return f"{self._done}/{self._total}  {marks}{since}  {int(elapsed) // 60}:{int(elapsed) % 60:02}"
