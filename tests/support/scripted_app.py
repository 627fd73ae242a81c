"""The app as its own process over a scripted session: `python -m tests.support.scripted_app FOLDER [KIND]`.

KIND `plain` answers at once, `endless` streams until it is stopped and writes the number of words to the file `words`,
`hostile` puts hostile text into every field that is text.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from tests.support.histories import run_history
from tests.support.scripted_session import Opened, ScriptedSession, case_of, prompt_of, result_of, step_of, suite_of
from tui.app.app import AssayApp
from tui.app.main import run_and_close
from tui.model.errors import Problem
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    Event,
    ReasoningArrived,
    RequestRetried,
    RequestSent,
    RunFinished,
    RunStarted,
    StepStarted,
    StoreStalled,
    TextArrived,
    TrialFinished,
    TrialStarted,
)
from tui.model.results import Attempt, CheckResult, IncludedFile, LeftOutFile, Message, Prompt, Retry, ToolUse, TrialKey
from tui.model.run import Plan
from tui.model.subjects import Config, Variant
from tui.model.suite import Check, RiskCriterion, Step
from tui.runner.control import Control
from tui.store.sqlite import SqliteStore

CANARY = (
    "\x1b[31mred \x1b]0;owned\x07 \x1b]52;c;b3duZWQ=\x07 \x9b31m \x9d0;c1\x9c \x07 \x08 \x7f "
    "\u202eright\u2066left \u200bzero [/foo] [bold]b[/] [link=x]l[/link] \x1b]8;;http://x\x1b\\link \ud800 canary"
)


class _Session(ScriptedSession):
    endless = False
    progress_file = Path("words")
    text = "Here is the answer."

    async def run(self, plan: Plan, control: Control) -> AsyncGenerator[Event, None]:
        yield RunStarted(plan.run_id, plan.trials, "2026-11-20T09:00:00+00:00", plan.continues)
        for key in plan.trials:
            async for event in self._ask(key, control):
                yield event
        self.ended.append(control.outcome)
        (Path(plan.suite.path).parent / "ended").write_text(control.outcome)
        yield RunFinished(plan.run_id, control.outcome, "2026-11-20T10:00:00+00:00")

    async def _ask(self, key: TrialKey, control: Control) -> AsyncGenerator[Event, None]:
        prompt = replace(prompt_of(self.text, self.text), included=(IncludedFile(self.text, 3),))
        yield TrialStarted(key)
        yield AttemptStarted(key, 1, 1)
        yield StepStarted(key, 1, 0, replace(prompt, left_out=(LeftOutFile(self.text, self.text),)))
        yield RequestRetried(key, 1, 0, self.text, 10)
        yield RequestSent(key, 1, 0)
        yield ReasoningArrived(key, 1, 0, self.text)
        words = 0
        while words < 5 or (self.endless and not control.should_stop(key)):
            words += 1
            yield TextArrived(key, 1, 0, f"{self.text} word{words} ")
            if self.endless:
                self.progress_file.write_text(str(words))
            await asyncio.sleep(0.002)
        yield CheckMoved(key, 1, 0, 0, "found", ((0, 4),))
        check = CheckResult(
            "expected_pattern", self.text, "failed", f"expected: {self.text}\ngot: {self.text}", ((0, 4),)
        )
        step = step_of(f"{self.text} done", check, retries=[Retry(self.text, 10)])
        calls = (ToolUse(self.text, self.text, self.text, 3.0, "agent"), ToolUse(self.text, self.text, parent=0))
        step = replace(step, reasoning=self.text, tools_used=(self.text,), tool_calls=calls)
        step = replace(step, prompt=Prompt(self.text, (Message("user", self.text),)))
        first = Attempt(1, "failed", self.text, (step,))
        if control.outcome != "interrupted":
            yield StoreStalled(self.text)
            yield TrialFinished(result_of(key, "error", step, error=self.text, earlier=[first]))


def session_at(folder: Path, kind: str, canary: str = CANARY) -> ScriptedSession:
    """Return a session of that kind, with its files."""
    session = _Session(endless_of(kind))
    text = canary if kind == "hostile" else "quickstart"
    session.text = canary if kind == "hostile" else _Session.text
    session.keeps = run_history(SqliteStore(folder / "runs.sqlite"), folder, session.resolve)
    session.endless, session.progress_file = kind == "endless", folder / "words"
    path = folder / "a.yaml"
    path.write_text("")
    case = case_of("one", name=f"one {text}", category=text, prompt=text, severity="critical", tags=[text])
    check = Check("expected_pattern", text)
    case = replace(
        case,
        steps=(Step(text, (check,)),),
        expected_behavior=text,
        risk_criteria=(RiskCriterion(text, text, "critical"),),
    )
    steps = replace(case_of("two", category=text), steps=(Step(text, (check,)), Step(text)))
    suite = replace(suite_of(path, case, steps, models=(f"a {text}", f"b {text}")), name=text, description=text)
    session.suites[path] = Opened(suite, (Problem(text, 1, 2, "warning", text, text),))
    if kind == "hostile":
        bad = folder / "b.yaml"
        bad.write_text("")
        session.suites[bad] = Opened(None, (Problem(text, 1, 2, "error", text, text),))
        session.unresolved[f"b {text}"] = text
        session.notices = (text,)
        session.config = Config(variants={text: Variant(text)})
    return session


def endless_of(kind: str) -> dict[Path, Opened]:
    """Return no suites. Raises ValueError for an unknown kind."""
    if kind not in ("plain", "endless", "hostile"):
        raise ValueError(kind)
    return {}


if __name__ == "__main__":
    folder, kind = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "plain"
    sys.exit(asyncio.run(run_and_close(AssayApp(lambda: session_at(folder, kind), [folder]))))
