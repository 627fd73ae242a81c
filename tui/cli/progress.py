"""How a run goes, on stderr: one live line in a terminal, plain lines elsewhere."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from tui.cli.narration import live_line, say
from tui.cli.pacing import LimitLines
from tui.model.context import SentContext, merge_sent, sent_with, wants_context
from tui.model.events import (
    Event,
    LimitMoved,
    RepositoryCloned,
    RepositoryCloning,
    RequestRetried,
    RunFinished,
    RunStarted,
    StepStarted,
    StoreRecovered,
    StoreStalled,
    TrialFinished,
)
from tui.model.results import TrialResult, Verdict, counted_as, has_passed_since, rerun_note
from tui.model.run import Plan
from tui.model.sanitize import show_line
from tui.model.suite import Suite

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
    """Something that follows the events of a run."""

    def take(self, event: Event) -> None:
        """Follow one event."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


def open_progress(plan: Plan) -> Progress:
    """The live line where a person watches, plain lines where a log is written."""
    return _LiveProgress(plan) if sys.stderr.isatty() else _PlainProgress(plan)


def describe_result(result: TrialResult) -> str:
    """`✓ case · model · 0.9 s`, with what was wrong."""
    flaky = counted_as(result) == "flaky" and result.verdict == "passed"
    mark = "◐" if flaky else _MARKS[result.verdict]
    seconds = result.attempts[-1].answer_ms / 1000 if result.attempts else 0.0
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
    """What was cloned, what is worth saying about it, and where it stays."""
    kept = [f"Kept: {event.kept_folder}"] if event.kept_folder else []
    return "\n".join([f"Cloned {event.url}, branch {event.branch}", *event.notes, *kept])


class ContextLines:
    """What goes along with the prompts: said with the first prompt, and at the run's end where others differ."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._wanted = wants_context(suite)
        self._by_case: dict[str, SentContext] = {}

    def line(self, event: Event) -> str:
        """What is to be said after an event; empty where that is nothing."""
        match event:
            case StepStarted(trial, prompt=prompt) if self._wanted and trial.case not in self._by_case:
                is_first = not self._by_case
                self._by_case[trial.case] = sent_with(prompt)
                return self._describe() if is_first else ""
            case RunFinished() if len(set(self._by_case.values())) > 1:
                return self._describe()
        return ""

    def _describe(self) -> str:
        sent = merge_sent(self._by_case.values())
        assert sent is not None
        lines = [f"Context: {sent.words}"]
        if not sent.files[1] and self._suite.repository_context:
            lines = ["Warning: repositoryContext gives no file to send along; see its path and its filters"]
        if sent.left_out:
            lines.append(f"Left out: {sent.left_out_words}")
        return "\n".join(lines)


class _PlainProgress:
    def __init__(self, plan: Plan) -> None:
        self._counts = _Counts(len(plan.trials))
        self._context = ContextLines(plan.suite)
        self._limits = LimitLines()

    def take(self, event: Event) -> None:
        self._counts.take(event)
        if line := self._context.line(event):
            say(line)
        match event:
            case TrialFinished(result):
                say(show_line(describe_result(result)))
            case RequestRetried(trial, _, _, reason, wait_ms):
                say(show_line(f"  {trial.case} · {trial.model}: {reason}; asks again in {wait_ms / 1000:.1f} s"))
            case LimitMoved():
                if line := self._limits.line(event):
                    say(line)
            case StoreStalled(reason):
                say(f"The history cannot be written, trying again: {reason}")
            case StoreRecovered():
                say("The history can be written again.")
            case RepositoryCloned():
                say(describe_clone(event))
            case RunFinished():
                say(self._counts.line())

    def close(self) -> None:
        pass


class _LiveProgress:
    def __init__(self, plan: Plan) -> None:
        self._counts = _Counts(len(plan.trials))
        self._context = ContextLines(plan.suite)
        self._limits = LimitLines()
        self._show: Callable[[str], None] = live_line()
        self._drawn = 0.0

    def take(self, event: Event) -> None:
        self._counts.take(event)
        if line := self._context.line(event):
            self._show("")
            say(line)
        match event:
            case RepositoryCloning(received, total, size):
                self._show(f"Cloning: {received:,} of {total or received:,} objects, {size / 1e6:.1f} MB")
                return
            case RepositoryCloned():
                self._show("")
                say(describe_clone(event))
                return
            case TrialFinished(result) if result.verdict not in ("passed", "unchecked"):
                self._show("")
                say(show_line(describe_result(result)))
            case LimitMoved():
                if line := self._limits.line(event):
                    self._show("")
                    say(line)
            case StoreStalled(reason):
                self._show("")
                say(f"The history cannot be written, trying again: {reason}")
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
    """How many are over, and what they count as."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._by_mark: Counter[str] = Counter()
        self._passed_since = 0
        self._started = time.monotonic()

    def take(self, event: Event) -> None:
        if isinstance(event, TrialFinished):
            self._done += 1
            flaky = counted_as(event.result) == "flaky"
            self._by_mark["◐" if flaky else _MARKS[event.result.first_verdict]] += 1
            self._passed_since += has_passed_since(event.result)

    def line(self) -> str:
        marks = "  ".join(f"{mark} {self._by_mark[mark]}" for mark in _IN_ORDER if self._by_mark[mark])
        since = f"  {self._passed_since} passed on a rerun" if self._passed_since else ""
        elapsed = time.monotonic() - self._started
        return f"{self._done}/{self._total}  {marks}{since}  {int(elapsed) // 60}:{int(elapsed) % 60:02}"
