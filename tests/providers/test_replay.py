"""Recorded answers told again: all of what was recorded, in its own time or at once, never unmarked."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from tests.support.steps import ask, ask_in_vain, make_request, text_of
from tui.model.errors import ProviderError
from tui.model.provider_messages import (
    CallTree,
    Chunk,
    End,
    MemoryChunk,
    NoteChunk,
    Reasoning,
    RecordedChunk,
    Request,
    Sent,
    ServedByChunk,
    Text,
    ToolCall,
    UsageChunk,
)
from tui.model.results import (
    OTHER_PROMPT,
    Attempt,
    CheckResult,
    Message,
    Prompt,
    RecordedFigures,
    ServedBy,
    StepResult,
    Timing,
    ToolUse,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.subjects import IMPORTED, Subject
from tui.providers.replay import Place, Recorded, ReplayProvider, recordings_of

RUN = "0193f00d"
LABEL = NoteChunk(f"recorded answer of run {RUN}")


def recorded(response: str, *, pace: tuple[tuple[int, int], ...] = (), **more: object) -> StepResult:
    return StepResult(
        input="in",
        response=response,
        prompt=Prompt("in", ()),
        pace=pace,
        **{"finish_reason": "stop", **more},  # type: ignore[arg-type]
    )


def player(
    step: StepResult, speed: float | None = None, ended: Attempt | None = None, *, is_imported: bool = False
) -> ReplayProvider:
    return ReplayProvider({Place("case", 0, 1): Recorded(step, ended, is_imported)}, RUN, speed)


async def timed(provider: ReplayProvider, request: Request) -> list[tuple[float, Chunk]]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    return [((loop.time() - began) * 1000, chunk) async for chunk in provider.ask(request)]


async def test_an_answer_to_another_prompt_has_a_note() -> None:
    provider = player(recorded("text"))
    for given, expected in (("in", False), ("other", True)):
        assert (NoteChunk(OTHER_PROMPT) in await ask(provider, make_request("x", given))) is expected
    hidden = player(replace(recorded("text"), input="with [removed key]"))
    assert NoteChunk(OTHER_PROMPT) not in await ask(hidden, make_request("x", "with k3y"))


async def test_everything_recorded_comes_back() -> None:
    step = recorded(
        "Höhe 日本",
        pace=((5, 2), (9, 7)),
        reasoning="hm",
        tools_used=("Search", "Book"),
        memory_before={},
        memory={"a": 1},
        usage=Usage(1, 2, 3),
        cost_usd=0.5,
        timing=Timing(20, 80.0),
        served_by=ServedBy("mock-a-2026"),
        notes=("cut at 16 MiB",),
        finish_reason="length",
    )
    assert await ask(player(step), make_request("x")) == [
        Sent(),
        LABEL,
        NoteChunk(OTHER_PROMPT),
        Reasoning("hm"),
        Text("Hö"),
        Text("he 日本"),
        ToolCall("Search"),
        ToolCall("Book"),
        MemoryChunk({"a": 1}),
        UsageChunk(Usage(1, 2, 3)),
        RecordedChunk(RecordedFigures(80.0, 0.5), "length"),
        ServedByChunk(ServedBy("mock-a-2026")),
        NoteChunk("cut at 16 MiB"),
        End("length"),
    ]


async def test_the_prompt_that_was_sent_comes_back() -> None:
    prompt = Prompt("in", (Message("user", "a file as it was, and in"),))
    step = replace(recorded("yes"), prompt=prompt)
    assert [
        chunk.prompt for chunk in await ask(player(step), make_request("x")) if isinstance(chunk, RecordedChunk)
    ] == [prompt]


async def test_the_figures_of_a_replayed_answer_are_those_of_the_answer_that_was_recorded_first() -> None:
    figures = RecordedFigures(443.0, 0.5, is_imported=True)
    step = replace(recorded("yes"), timing=Timing(None, 0.2), cost_usd=None, recorded=figures)
    chunks = await ask(player(step), make_request("x"))
    assert [chunk.figures for chunk in chunks if isinstance(chunk, RecordedChunk)] == [figures]
    result = TrialResult(TrialKey("case", "m"), "passed", False, None, (Attempt(1, "passed", None, (step,)),))
    (found,) = recordings_of([result], Subject("m", "replay", "m")).values()
    assert found.is_imported


async def test_calls_come_back_beside_the_names_of_the_tools() -> None:
    calls = (ToolUse("chat", kind="model"), ToolUse("search", '{"q": 1}', parent=0))
    chunks = await ask(player(recorded("x", tools_used=("search", "book"), tool_calls=calls)), make_request("x"))
    found = [chunk for chunk in chunks if isinstance(chunk, ToolCall | CallTree)]
    assert found == [ToolCall("search"), ToolCall("book"), CallTree(calls)]


async def test_a_chat_models_answer_has_no_memory() -> None:
    chunks = await ask(player(recorded("x")), make_request("x"))
    assert not any(isinstance(chunk, MemoryChunk) for chunk in chunks)


@pytest.mark.parametrize(
    ("pace", "pieces"),
    [
        ((), ["abcdef"]),
        (((0, 2),), ["ab", "cdef"]),
        (((0, 2), (1, 2), (2, 99)), ["ab", "cdef"]),
        (((0, 6),), ["abcdef"]),
    ],
)
async def test_no_pace_loses_or_doubles_text(pace: tuple[tuple[int, int], ...], pieces: list[str]) -> None:
    chunks = await ask(player(recorded("abcdef", pace=pace)), make_request("x"))
    assert [chunk.text for chunk in chunks if isinstance(chunk, Text)] == pieces


@pytest.mark.parametrize(("speed", "factor"), [(1.0, 1.0), (2.0, 0.5)])
async def test_the_recorded_timing_is_kept(speed: float, factor: float) -> None:
    step = recorded("abc", pace=((20, 1), (60, 3)), timing=Timing(20, 80))
    heard = await timed(player(step, speed), make_request("x"))
    moments = [moment for moment, chunk in heard if isinstance(chunk, Text | End)]
    assert all(got >= due * factor for got, due in zip(moments, (20, 60, 80), strict=True))


async def test_that_the_request_was_sent_is_reported_before_the_answer_is_due() -> None:
    answer = player(recorded("abc", pace=((600_000, 3),))).ask(make_request("x"))
    async with asyncio.timeout(60), aclosing(answer) as chunks:
        assert isinstance(await anext(chunks), Sent)


async def test_at_once_waits_for_nothing() -> None:
    step = recorded("abc", pace=((600_000, 3),), timing=Timing(600_000, 600_000))
    assert text_of(await ask(player(step), make_request("x"), seconds=60)) == "abc"


async def test_speed_shortens_the_waits() -> None:
    step = recorded("abc", pace=((600_000, 3),), timing=Timing(600_000, 1_200_000))
    assert text_of(await ask(player(step, 100_000.0), make_request("x"), seconds=60)) == "abc"


async def test_closing_it_ends_the_wait() -> None:
    step = recorded("abc", pace=((0, 1), (600_000, 3)))
    with pytest.raises(TimeoutError):
        await ask(player(step, 1.0), make_request("x"), seconds=0.05)


async def test_an_answer_that_was_incomplete_stays_so() -> None:
    step = recorded("half", finish_reason=None)
    ended = Attempt(1, "cancelled", "Cancelled", (step,))
    heard, fault = await ask_in_vain(player(step, ended=ended), make_request("x"))
    assert (fault.fault, str(fault)) == ("incomplete", "The recorded answer is incomplete")
    assert text_of(heard) == "half"


@pytest.mark.parametrize(
    ("verdict", "fault", "played"),
    [
        ("error", "refused", "refused"),
        ("error", "unauthorized", "unauthorized"),
        ("error", None, "refused"),
        ("timed_out", "timed_out", "timed_out"),
        ("timed_out", None, "timed_out"),
        ("incomplete", "incomplete", "incomplete"),
        ("failed", "incomplete", "incomplete"),  # a forbidden match decided the partial answer
    ],
)
async def test_what_went_wrong_goes_wrong_again(verdict: Verdict, fault: str | None, played: str) -> None:
    step = recorded("half", finish_reason=None)
    ended = Attempt(1, verdict, "HOST refused the request (400): no", (step,), fault=fault)
    heard, raised = await ask_in_vain(player(step, ended=ended), make_request("x"))
    assert (raised.fault, str(raised)) == (played, "Recorded error: HOST refused the request (400): no")
    assert text_of(heard) == "half"


async def test_a_judged_answer_needs_no_finish_reason() -> None:
    step = recorded("whole", finish_reason=None)
    heard = await ask(player(step, ended=Attempt(1, "passed", None, (step,))), make_request("x"))
    assert heard[-1] == End(None)


async def test_an_answer_that_another_one_followed_needs_no_finish_reason() -> None:
    assert (await ask(player(recorded("whole", finish_reason=None)), make_request("x")))[-1] == End(None)


@pytest.mark.parametrize("figures", [None, RecordedFigures(1.0, None, is_imported=True)])
async def test_an_answer_with_a_check_that_was_not_evaluated_needs_no_finish_reason(
    figures: RecordedFigures | None,
) -> None:
    check = CheckResult("assert.cost", "at most 1 USD", "timed_out", "could not be evaluated")
    step = recorded("whole", finish_reason=None, checks=(check,), recorded=figures)
    ended = Attempt(1, "error", "Check not evaluated: at most 1 USD: could not be evaluated", (step,))
    heard = await ask(player(step, ended=ended, is_imported=figures is not None), make_request("x"))
    assert heard[-1] == End(None)


async def test_the_error_of_an_answer_that_was_replayed_is_named_once() -> None:
    step = recorded("half", finish_reason=None, recorded=RecordedFigures(1.0, None, is_imported=True))
    ended = Attempt(1, "error", "Recorded error: HOST refused", (step,), fault="refused")
    _, raised = await ask_in_vain(player(step, ended=ended, is_imported=True), make_request("x"))
    assert (raised.fault, str(raised)) == ("refused", "Recorded error: HOST refused")


@pytest.mark.parametrize(
    ("verdict", "error"),
    [
        ("error", "Check not evaluated: ^(a+)+$: ran longer than 1 s"),
        ("error", "The command did not start"),
        ("incomplete", "The answer stopped early: token limit (length)"),  # the answer to an earlier step
        ("cancelled", "Cancelled"),
    ],
)
async def test_a_complete_answer_that_was_not_judged_is_played_without_an_error(verdict: Verdict, error: str) -> None:
    step = recorded("whole")
    heard = await ask(player(step, ended=Attempt(1, verdict, error, (step,))), make_request("x"))
    assert (text_of(heard), heard[-1]) == ("whole", End("stop"))


@pytest.mark.parametrize("verdict", ["error", "timed_out", "incomplete"])
@pytest.mark.parametrize(
    "checks", [(), (CheckResult("recorded", "a", "timed_out"), CheckResult("assert.cost", "a", "timed_out"))]
)
async def test_the_error_of_an_imported_answer_is_raised(verdict: Verdict, checks: tuple[CheckResult, ...]) -> None:
    step = recorded("ans", checks=checks)
    ended = Attempt(1, verdict, "The sample ended at its token limit", (step,))
    _, raised = await ask_in_vain(player(step, ended=ended, is_imported=True), make_request("x"))
    assert str(raised) == "Recorded error: The sample ended at its token limit"


async def test_an_imported_answer_with_a_check_that_was_not_evaluated_is_played_without_an_error() -> None:
    step = recorded("ans", finish_reason=None, checks=(CheckResult("assert.cost", "at most 1 USD", "timed_out"),))
    ended = Attempt(1, "error", "A check could not be evaluated", (step,))
    heard = await ask(player(step, ended=ended, is_imported=True), make_request("x"))
    assert [chunk for chunk in heard if isinstance(chunk, RecordedChunk)] == [
        RecordedChunk(RecordedFigures(None, None, is_imported=True), None, has_only_text=True)
    ]


async def test_a_fault_after_the_end_of_an_answer_is_raised() -> None:
    step = recorded("whole")
    ended = Attempt(1, "timed_out", "The step took longer than 1 s", (step,), fault="timed_out")
    _, raised = await ask_in_vain(player(step, ended=ended), make_request("x"))
    assert raised.fault == "timed_out"


@pytest.mark.parametrize(("step", "repeat"), [(1, 1), (0, 2)])
async def test_what_is_not_there_is_reported(step: int, repeat: int) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(player(recorded("x")), make_request("x", step=step, repeat=repeat))
    assert caught.value.fault == "not_found"
    assert f"run {RUN} has no answer for step {step + 1} of case case, repeat {repeat}" in str(caught.value)


@pytest.mark.parametrize(
    ("verdicts", "replayed"),
    [
        (["failed", "passed"], 1),
        (["passed", "failed"], 1),
        (["error", "passed", "failed"], 2),
        (["error", "timed_out"], 2),
        (["error", "incomplete", "unchecked"], 3),
    ],
)
def test_the_first_judged_attempt_of_the_models_trials_is_replayed(verdicts: list[Verdict], replayed: int) -> None:
    def trial(case: str, model: str, verdicts: list[Verdict]) -> TrialResult:
        attempts = tuple(
            Attempt(number, verdict, None, (recorded(f"{number}"), recorded(f"{number}+")), asking=number - 1)
            for number, verdict in enumerate(verdicts, start=1)
        )
        return TrialResult(TrialKey(case, model, 2), "passed", False, None, attempts)

    results = [trial("a", "m", verdicts), trial("a", "other", ["passed"]), trial("b", "m", [])]
    played = recordings_of(results, Subject("m", "mock", "m"))
    assert {place: each.step.response for place, each in played.items()} == {
        ("a", 0, 2): f"{replayed}",
        ("a", 1, 2): f"{replayed}+",
    }
    assert [each.ended for each in played.values()] == [None, results[0].attempts[replayed - 1]]
    assert not any(each.is_imported for each in played.values())
    imported = recordings_of(results, Subject("m", "promptfoo", "m", how=IMPORTED))
    assert all(each.is_imported for each in imported.values())


@pytest.mark.parametrize(
    ("verdicts", "is_retry"),
    [
        ([("incomplete", 0), ("passed", 0)], True),
        ([("passed", 0)], False),
        ([("failed", 0), ("passed", 0)], False),
        ([("error", 0), ("passed", 1)], False),
        ([("error", 0), ("error", 1), ("passed", 1)], True),
    ],
)
async def test_the_answer_of_a_retry_is_marked(verdicts: list[tuple[Verdict, int]], is_retry: bool) -> None:
    attempts = tuple(
        Attempt(number, verdict, None, (recorded(verdict),), asking=asking)
        for number, (verdict, asking) in enumerate(verdicts, start=1)
    )
    result = TrialResult(TrialKey("case", "m"), "passed", False, None, attempts)
    ((_, played),) = recordings_of([result], Subject("m", "mock", "m")).items()
    chunks = await ask(ReplayProvider({Place("case", 0, 1): played}, RUN), make_request("x"))
    assert [chunk.is_retry for chunk in chunks if isinstance(chunk, RecordedChunk)] == [is_retry]
    replay = Attempt(1, "passed", None, (played.step,), is_retry=is_retry)
    again = TrialResult(TrialKey("case", "m"), "passed", is_retry, None, (replay,))
    assert [each.is_retry for each in recordings_of([again], Subject("m", "mock", "m")).values()] == [is_retry]


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_speed_that_cannot_be_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="expected a speed above 0"):
        ReplayProvider({}, RUN, speed)
