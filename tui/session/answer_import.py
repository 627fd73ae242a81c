"""Plain answers as a run: judged by the checks of a suite, or kept for people to judge."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tui.checks.checker import Answer, Checker
from tui.imports.answers import PlainAnswer, answer_file, cases_of, read_answers
from tui.imports.imported import ImportedRun, most_repeats, run_id_of
from tui.imports.result_file import MOST_PROBLEMS, ResultFile
from tui.model.current_folder import absolute_path
from tui.model.errors import Problem, SuiteError
from tui.model.results import (
    CHECK_NOT_EVALUATED,
    OTHER_PROMPT,
    Attempt,
    CheckResult,
    Message,
    Prompt,
    StepResult,
    Timing,
    TrialKey,
    TrialResult,
    Verdict,
    verdict_of_checks,
)
from tui.model.run import Plan, RunOptions
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suggest import did_you_mean
from tui.model.suite import RUN_KINDS, Case, Suite
from tui.session.session import open_suite

PROVIDER = "imported"
_NOT_RUN = "could not be evaluated: imported answers run no command"


async def read_answer_run(
    path: Path, secrets: Secrets, *, lines: bool, name: str | None = None, suite_file: Path | None = None
) -> ImportedRun:
    """Read a file of plain answers as a run; the checks of a suite judge them if its file is given.

    Without a suite each case that the answers name is a case without checks. The end of the run's id is derived from
    the content. Raises SuiteError with all problems, and ConfigError.
    """
    file = answer_file(path, secrets)
    content = file.read()
    answers, digest = read_answers(file, content, lines=lines), hashlib.sha256(content).hexdigest()
    suite = _suite_at(suite_file) if suite_file else _suite_of(path, name, answers, digest)
    cases = {case.id: case for case in suite.cases}
    if suite_file and (problems := _problems(file, answers, cases)):
        raise file.refusal(problems)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    checker = Checker(secrets)
    try:
        results = [await _judged(answer, cases[answer.case], now, checker) for answer in answers]
    finally:
        await checker.close()
    order = {case.id: number for number, case in enumerate(suite.cases)}
    models = dict.fromkeys(answer.model for answer in answers)
    at = {model: number for number, model in enumerate(models)}
    results.sort(key=lambda each: (order[each.trial.case], at[each.trial.model], each.trial.repeat))
    plan = Plan(
        run_id=run_id_of(None, _digest(digest, suite)),
        suite=suite,
        subjects=tuple(Subject(model, PROVIDER, model, how=IMPORTED) for model in models),
        options=RunOptions(repeats=most_repeats(results), delay_ms=0),
        trials=tuple(result.trial for result in results),
        command=f"assay import {path.name}",
    )
    others = sum(result.attempts[0].has_another_prompt for result in results)
    what = f"{others:,} answer{'s' * (others != 1)} to another prompt than that of the case"
    warnings = (Problem(str(path), None, None, "warning", "prompt", what),) if others else ()
    return ImportedRun(plan, tuple(results), now, now, warnings, is_named_by_content=True)


def _suite_at(file: Path) -> Suite:
    loaded = open_suite(file)
    if loaded.suite is None:
        raise SuiteError("The suite is invalid", loaded.problems, where=str(file), fix="Fix it, then import again.")
    return replace(loaded.suite, path=str(absolute_path(file)))


def _suite_of(path: Path, name: str | None, answers: tuple[PlainAnswer, ...], digest: str) -> Suite:
    return Suite(
        name=name or path.stem,
        description=f"Imported answers of {path.name}.",
        path=str(absolute_path(path)),
        sha256=digest,
        format="schema-1.0.0",
        cases=cases_of(answers),
        models=tuple(dict.fromkeys(answer.model for answer in answers)),
    )


def _problems(file: ResultFile, answers: tuple[PlainAnswer, ...], cases: dict[str, Case]) -> list[Problem]:
    found: list[Problem] = []
    for answer in answers:
        case = cases.get(answer.case)
        what = ""
        if case is None:
            what = f"the suite has no case `{answer.case}`. {did_you_mean(answer.case, cases)}".strip()
        elif len(case.steps) > 1:
            what = f"the case `{answer.case}` has {len(case.steps)} steps, and a row holds one answer"
        if what:
            found.append(file.problem(what, "case", answer.line))
        if len(found) == MOST_PROBLEMS:
            break
    return found


async def _judged(answer: PlainAnswer, case: Case, now: str, checker: Checker) -> TrialResult:
    step, text = case.steps[0], answer.answer
    prompt = answer.prompt or step.input
    checks: tuple[CheckResult, ...] = ()
    verdict: Verdict = "error"
    error: str | None = "empty answer"
    if text.strip():
        judged = Answer(
            text,
            duration_ms=answer.duration_ms or None,
            input_tokens=answer.usage.input_tokens,
            output_tokens=answer.usage.output_tokens,
            has_only_text=True,
        )
        decided = iter(await checker.decide(step.checks, judged))
        checks = tuple(
            CheckResult(check.kind, check.target, "timed_out", _NOT_RUN) if check.kind in RUN_KINDS else next(decided)
            for check in step.checks
        )
        verdict = verdict_of_checks(checks, is_incomplete=False, is_checked=case.is_checked)
        error = CHECK_NOT_EVALUATED if verdict == "error" else None
    result = StepResult(
        input=prompt,
        response=text,
        prompt=Prompt(prompt, (Message("user", prompt),)),
        checks=checks,
        usage=answer.usage,
        timing=Timing(None, answer.duration_ms),
    )
    if prompt.strip() != step.input.strip():
        result = replace(result, notes=(OTHER_PROMPT,))
    attempt = Attempt(1, verdict, error, (result,), now, answer.duration_ms)
    return TrialResult(TrialKey(answer.case, answer.model, answer.repeat), verdict, False, error, (attempt,))


def _digest(answers: str, suite: Suite) -> str:
    """Return a digest of the answers, which have a digest, and of the suite that judged them."""
    return hashlib.sha256(f"{answers} {json.dumps(suite.path)} {suite.sha256}".encode()).hexdigest()
