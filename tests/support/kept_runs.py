"""Kept runs to test with: a small one with every verdict, a hostile one, one of any size."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tui.model.prices import Price
from tui.model.results import (
    Attempt,
    Change,
    CheckResult,
    CheckState,
    IncludedFile,
    LeftOutFile,
    Message,
    NotApplied,
    Prompt,
    Retry,
    ServedBy,
    StepResult,
    Timing,
    ToolUse,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.run import KeptRun, Plan, RunOptions, RunRecord, RunState
from tui.model.subjects import Settings, Subject
from tui.model.suite import Case, Check, RiskCriterion, Step, Suite

RUN_ID = "0193f2a4c6d87000a1b2c3d4e5f60718"
STARTED = "2026-11-20T10:15:00.000+00:00"
FINISHED = "2026-11-20T10:16:30.500+00:00"

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b]0;title\x07\x1b[31mred\x9b2J\x00\x08"
    "\u202egnp.exe\u2066\u200b\ufeff\ud800|pipe|\n```\n# heading\n~~~~\n````js\n| a | b |\n|---|---|\n"
    "[link](javascript:alert(3)) ![x](http://evil.example/x.png) **bold** `tick` &amp; &lt; \"q\" 'q' ]]> --> \\ "
    "\r\ttab\u2028\ufffe\U000e0041 =1+1 end"
)
"""Everything that a format could stumble over."""


def make_case(
    case_id: str,
    *,
    name: str = "",
    category: str = "Security",
    tags: Sequence[str] = ("quick",),
    criteria: Sequence[RiskCriterion] = (),
) -> Case:
    """A case of one step with an expected and a forbidden pattern."""
    checks = (Check("expected_pattern", "parameter"), Check("forbidden_pattern", "eval"))
    steps = (Step(f"Write code for {case_id}.", checks),)
    return Case(case_id, name or f"Case {case_id}", category, steps, tags=tuple(tags), risk_criteria=tuple(criteria))


def make_suite(cases: Sequence[Case], *, name: str = "Sample suite", path: str = "suites/sample.yaml") -> Suite:
    """A suite of these cases."""
    return Suite(name, "A suite for tests", path, "ab" * 32, "schema-1.0.0", tuple(cases))


def make_subject(name: str) -> Subject:
    """A model as it would be resolved."""
    return Subject(name, "openai", name.rpartition("/")[2], Settings(temperature=0.0, seed=7), "openai, by its prefix")


def make_plan(
    cases: Sequence[Case], models: Sequence[str], *, repeats: int = 1, run_id: str = RUN_ID, path: str = ""
) -> Plan:
    """Every case × model × repeat."""
    suite = make_suite(cases, path=path) if path else make_suite(cases)
    trials = tuple(
        TrialKey(case.id, model, repeat) for case in cases for model in models for repeat in range(1, repeats + 1)
    )
    subjects = tuple(make_subject(model) for model in models)
    return Plan(run_id, suite, subjects, RunOptions(repeats=repeats), trials, command="assay run suites/sample.yaml")


def make_step(
    response: str = "Use a parameter.", *, check: CheckState = "passed", duration_ms: float = 1200.0
) -> StepResult:
    """A step with two checks, the first of them as `check` says, and its span where `parameter` stands."""
    start = response.find("parameter")
    spans = ((start, start + 9),) if check == "passed" and start >= 0 else ()
    return StepResult(
        input="Write code.",
        response=response,
        prompt=Prompt("Write code.", (Message("system", "Be brief."), Message("user", "Write code."))),
        checks=(
            CheckResult("expected_pattern", "parameter", check, "found once" if spans else "not found", spans),
            CheckResult("forbidden_pattern", "eval", "passed"),
        ),
        usage=Usage(20, 40, None),
        timing=Timing(150.0, duration_ms),
        finish_reason="stop",
        pace=((150, 5), (1200, len(response))),
    )


def make_result(
    key: TrialKey, verdict: Verdict = "passed", *, flaky: bool = False, error: str | None = None, response: str = ""
) -> TrialResult:
    """A result of one attempt, or of two where it is flaky."""
    check: CheckState = "passed" if verdict == "passed" else "failed"
    step = make_step(response or ("Use a parameter." if check == "passed" else "Use a string."), check=check)
    attempts = [Attempt(1, verdict, error, (step,), STARTED, 1210.0)]
    if flaky:
        failed = make_step("Use a string.", check="failed")
        attempts = [Attempt(1, "failed", None, (failed,), STARTED, 1210.0), replace(attempts[0], number=2)]
    return TrialResult(key, verdict, flaky, error, tuple(attempts))


def with_prompt(result: TrialResult, text: str) -> TrialResult:
    """Return the result with another text of the recorded prompt of the first step of each attempt."""

    def sent(attempt: Attempt) -> Attempt:
        first, *others = attempt.steps
        return replace(attempt, steps=(replace(first, prompt=replace(first.prompt, input=text)), *others))

    return replace(result, attempts=tuple(map(sent, result.attempts)))


def keep(plan: Plan, results: Iterable[TrialResult], state: RunState = "finished") -> KeptRun:
    """A kept run of these results."""
    kept = tuple(results)
    plain = sum(result.verdict == "passed" and not result.flaky for result in kept)
    suite = plan.suite
    record = RunRecord(
        plan.run_id,
        state,
        suite.name,
        suite.path,
        suite.sha256,
        tuple(subject.name for subject in plan.subjects),
        STARTED,
        None if state == "running" else FINISHED,
        len(plan.trials),
        plain,
    )
    return KeptRun(record, plan, kept, "0.1.0")


def small_run() -> KeptRun:
    """Four cases in two categories × two models: every verdict, a flaky pass, a retry, a change; one trial not run."""
    injection = RiskCriterion("SQL injection", "Uses parameters, no concatenation", "critical")
    tone = RiskCriterion("Tone", "Stays polite", "low")
    cases = (
        make_case("sec-001", name="SQL query", criteria=(injection, tone)),
        make_case("sec-002", name="Hash a password"),
        make_case("bug-001", name="Off by one", category="Bug Fixing", tags=("quick", "pager")),
        make_case("bug-002", name="Race in the cache", category="Bug Fixing", tags=()),
    )
    plan = make_plan(cases, ("openai/mock-a", "local/mock-b"))
    a, b = "openai/mock-a", "local/mock-b"
    changed = replace(
        make_result(TrialKey("bug-001", a)),
        changes=(Change("src/pager.py", "modified", 1, 1, "@@ -1 +1 @@\n-a\n+b\n"),),
        not_applied=(NotApplied(1, None, "bash", "no target fits"),),
    )
    retried = make_result(TrialKey("sec-002", a), flaky=True)
    last = retried.attempts[-1]
    step = replace(last.steps[0], retries=(Retry("429 Too Many Requests", 1000),))
    retried = replace(retried, attempts=(retried.attempts[0], replace(last, steps=(step,))))
    results = (
        make_result(TrialKey("sec-001", a)),
        make_result(TrialKey("sec-001", b), "failed"),
        retried,
        make_result(TrialKey("sec-002", b), "error", error="401: the key in LOCAL_KEY was refused."),
        changed,
        make_result(TrialKey("bug-001", b), "timed_out", error="No end after 60 s."),
        make_result(TrialKey("bug-002", a), "incomplete", error="The answer broke off."),
    )
    return keep(plan, results, "interrupted")


def hostile_run(text: str = HOSTILE) -> KeptRun:
    """One failed, one passed and one broken trial, with the text in every field that is text."""
    criterion = RiskCriterion(text, text, "high")
    case = Case(
        text,
        text,
        text,
        (Step(text, (Check("expected_pattern", text),)),),
        expected_behavior=text,
        system_message=text,
        tags=(text, text),
        risk_criteria=(criterion,),
        min_pass_rate=0.5,
        cluster=text,
    )
    suite = Suite(text, text, text, text, "schema-1.0.0", (case,))
    models = (text, f"={text}", f"@{text}")
    subjects = tuple(Subject(model, text, text, Settings(system=text), text) for model in models)
    keys = tuple(TrialKey(text, model) for model in models)
    plan = Plan(text, suite, subjects, RunOptions(), keys, command=text)
    results = (
        hostile_result(keys[0], "failed", text),
        hostile_result(keys[1], "passed", text),
        hostile_result(keys[2], "error", text),
    )
    record = RunRecord(text, "finished", text, text, text, models, text, text, 3, 1)
    return KeptRun(record, plan, results, text)


def hostile_result(key: TrialKey, verdict: Verdict, text: str = HOSTILE) -> TrialResult:
    """A result with the text in every field that is text."""
    state: CheckState = "passed" if verdict == "passed" else "failed"
    step = StepResult(
        input=text,
        response=text,
        prompt=Prompt(text, (Message("user", text),), (IncludedFile(text, 3),), (LeftOutFile(text, text),)),
        reasoning=text,
        tools_used=(text,),
        tool_calls=(ToolUse(text, text, text, 1.5), *([ToolUse(text, text, parent=0)] if verdict == "passed" else [])),
        memory_before={text: text},
        memory={text: [text, {text: None}]},
        checks=(
            CheckResult("expected_pattern", text, state, text, ((0, 8), (4, 60), (len(text) - 3, len(text) + 9))),
            CheckResult("forbidden_pattern", text, "timed_out", text, ((2, 20),)),
        ),
        retries=(Retry(text, 5),),
        finish_reason=text,
        notes=(text,),
    )
    attempt = Attempt(1, verdict, text, (step,), text, 12.0)
    change = Change(text, "modified", 1, 2, f"@@ {text}\n-{text}\n+{text}\n {text}\n")
    return TrialResult(key, verdict, False, text, (attempt,), (change,), (NotApplied(0, text, text, text),))


def large_run(cases: int, models: Sequence[str] = ("openai/mock-a", "local/mock-b")) -> KeptRun:
    """Cases × models with answers of about 400 characters; every fifth trial failed."""
    plan = make_plan([make_case(f"case-{number:05}") for number in range(cases)], models)
    answer = "The parameter is bound by the driver and never joined to the text. " * 6
    results = (
        make_result(key, "failed" if number % 5 == 4 else "passed", response=answer)
        for number, key in enumerate(plan.trials)
    )
    return keep(plan, results)


SERVED = ServedBy("mock-a-2026-01-01", "fp_1")


def priced_run(served: ServedBy = SERVED) -> KeptRun:
    """Two cases by two models; the first model has a price and says who it is, of the second one cost is known."""
    plan = make_plan([make_case("one"), make_case("two")], ["openai/mock-a", "local/mock-b"])
    dear = replace(plan.subjects[0], price=Price(1.75, 14.0, "list 1.0", cached=0.175))
    plan = replace(plan, subjects=(dear, *plan.subjects[1:]))
    costs = (0.25, 0.125, 0.5, None)
    results = []
    for key, usd in zip(plan.trials, costs, strict=True):
        by = served if key.model == dear.name else None
        made = make_result(key, flaky=usd == 0.5)
        attempts = tuple(
            replace(attempt, steps=tuple(replace(step, cost_usd=usd, served_by=by) for step in attempt.steps))
            for attempt in made.attempts
        )
        results.append(replace(made, attempts=attempts))
    return replace(keep(plan, results), versions={"assay": "0.1.0", "python": "3.11.7"})
