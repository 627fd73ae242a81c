"""Checks while the text arrives: what is new is looked at, once, and the states are what a person would expect."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from unittest.mock import patch

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.checks.finding import find
from tui.checks import live
from tui.checks.case_assertions import decide_case_assertion
from tui.checks.checker import Answer, Checker, Watch, Watched
from tui.checks.live import OPEN_LENGTH, REACH, first_state
from tui.checks.protocol import Matches, Search
from tui.model.assertions import assertion_check
from tui.model.results import Span
from tui.model.suite import Check, CheckKind


def wants(pattern: str) -> Check:
    return Check("expected_pattern", pattern)


def forbids(pattern: str) -> Check:
    return Check("forbidden_pattern", pattern)


async def moves(watch: Watch, text: str) -> list[Watched]:
    watch.feed(text)
    return list(await watch.poll())


async def test_states_move_as_text_arrives(checker: Checker) -> None:
    checks = [wants("func"), forbids(r"eval\("), Check("output.includes", "Foo"), Check("output.matches", "F.o$")]
    watch = checker.watch(checks)
    assert [first_state(check) for check in checks] == ["waiting", "clear", "waiting", "waiting"]
    assert await moves(watch, "") == []
    assert await moves(watch, "A fu") == []
    assert await moves(watch, "nc, then ev") == [Watched(0, "found", ((2, 6),))]
    assert await moves(watch, "al(😀)F") == [Watched(1, "forbidden", ((13, 18),))]
    assert await moves(watch, "oo") == [Watched(2, "found", ((20, 23),)), Watched(3, "found", ((20, 23),))]
    assert await moves(watch, " FUNC") == [Watched(0, "found", ((2, 6), (24, 28))), Watched(3, "waiting", ())]
    assert await watch.poll() == ()
    watch.close()
    watch.close()
    assert await moves(watch, "func") == []


@pytest.mark.parametrize("kind", ["output.equals", "tools_used", "memory", "expected", "command"])
async def test_a_check_that_needs_the_whole_answer_never_changes(checker: Checker, kind: CheckKind) -> None:
    watch = checker.watch([Check(kind, "a", "a")])
    assert await moves(watch, "a") == []
    assert checker.pids == ()


@pytest.mark.parametrize(
    ("pattern", "is_found"),
    [
        ("^foo", False),
        ("(?:^|,)foo", False),
        ("(?<=^x*)foo", False),
        (r"\Bfoo", True),
        (r"\bfoo", False),
        ("(?<!x)foo", False),
        ("(?<=x{200})foo", True),
        ("foo", True),
        ("foo$", True),
        ("foo(?!x)", True),
    ],
)
async def test_the_edge_of_what_is_looked_at_is_not_the_edge_of_the_text(
    checker: Checker, monkeypatch: pytest.MonkeyPatch, pattern: str, is_found: bool
) -> None:
    """Whatever place of the text the window begins at, also right before `foo`."""
    open_length = 512  # a pattern is searched for hundreds of times
    monkeypatch.setattr(live, "OPEN_LENGTH", open_length)
    monkeypatch.setattr(live, "REACH", open_length + REACH - OPEN_LENGTH)
    letters = 30 if "x*" in pattern else 300  # each time, the lookbehind reads all letters before each letter
    watch = checker.watch([wants(pattern)])
    await moves(watch, "y" + "x" * (open_length + 349 - letters))
    changes = [moved for letter in "x" * letters + "foo" for moved in await moves(watch, letter)]
    assert bool(changes and changes[-1].state == "found") == is_found
    assert all(moved.spans == ((open_length + 350, open_length + 353),) for moved in changes)
    (final,) = await checker.decide([wants(pattern)], Answer("y" + "x" * (open_length + 349) + "foo"))
    assert (final.state == "passed") == is_found


async def test_a_lookbehind_sees_all_of_a_long_text(checker: Checker) -> None:
    """Also beyond the size from which on such a text is searched less often; the end of it is always decided."""
    checks = [wants("end(?<=^start[^]*)"), forbids("end(?<!^other[^]*)"), wants("end(?<=^xend)")]
    watch = checker.watch(checks)
    text = "start" + " filler" * 12_000
    assert await moves(watch, text) == []
    changes = {moved.check: moved.state for moved in await moves(watch, "end" + " filler" * 400)}
    assert changes == {0: "found", 1: "forbidden"}
    results = await checker.decide(checks, Answer(text + "end" + " filler" * 400))
    assert [result.state for result in results] == ["passed", "failed", "failed"]


@pytest.mark.usefixtures("brief_limits")
async def test_a_pattern_that_was_too_slow_on_a_part_is_decided_on_the_whole(checker: Checker) -> None:
    """What is said while text arrives is provisional: here the end makes the slow pattern quick."""
    check = wants("(x+x+)+y")
    watch = checker.watch([check])
    assert await moves(watch, "x" * 40) == [Watched(0, "timed_out", ())]
    (result,) = await checker.decide([check], Answer("x" * 40 + "y"))
    assert (result.state, result.spans) == ("passed", ((0, 41),))


async def test_an_anchor_in_python_sees_no_false_beginning(checker: Checker) -> None:
    watch = checker.watch(
        [Check("output.matches", "^x"), Check("output.matches", "(?m)^y"), Check("output.matches", "^y")]
    )
    text = "y" + "x" * OPEN_LENGTH
    assert await moves(watch, text) == [Watched(1, "found", ((0, 1),)), Watched(2, "found", ((0, 1),))]
    for _ in range(400):
        assert await moves(watch, "x") == []
    assert await moves(watch, "\ny") == [Watched(1, "found", ((0, 1), (OPEN_LENGTH + 402, OPEN_LENGTH + 403)))]


async def test_a_match_may_turn_out_to_be_none(checker: Checker) -> None:
    watch = checker.watch([wants("done$"), forbids("foo(?!bar)")])
    assert await moves(watch, "foo done") == [Watched(0, "found", ((4, 8),)), Watched(1, "forbidden", ((0, 3),))]
    assert await moves(watch, "!") == [Watched(0, "waiting", ())]
    watch = checker.watch([forbids("foo(?!bar)")])
    assert await moves(watch, "foo") == [Watched(0, "forbidden", ((0, 3),))]
    assert await moves(watch, "bar") == [Watched(0, "clear", ())]


@pytest.mark.usefixtures("brief_limits")
async def test_a_pattern_that_runs_too_long_is_not_tried_again_and_the_others_go_on(checker: Checker) -> None:
    watch = checker.watch([forbids("(a+)+$"), wants("b")])
    assert await moves(watch, "a" * 40 + "!") == [Watched(0, "timed_out", ())]
    assert await moves(watch, "b") == [Watched(1, "found", ((41, 42),))]
    assert await moves(watch, "a" * 40) == []


async def test_a_poll_that_is_cancelled_loses_nothing(checker: Checker) -> None:
    watch = checker.watch([wants("fo+")])
    watch.feed("a fo")
    task = asyncio.create_task(watch.poll())
    await asyncio.sleep(0)
    assert await watch.poll() == ()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await moves(watch, "o") == [Watched(0, "found", ((2, 5),))]


async def test_only_the_first_thousand_spans_are_kept(checker: Checker) -> None:
    watch = checker.watch([forbids("x")])
    (first,) = await moves(watch, "x" * 600)
    assert len(first.spans) == 600
    (second,) = await moves(watch, "x" * 10_000)
    assert second.spans == tuple((number, number + 1) for number in range(1_000))
    assert await moves(watch, "x" * 10_000) == []


async def test_the_work_does_not_grow_with_the_text() -> None:
    sizes: list[int] = []

    async def search(text: str, searches: Sequence[Search]) -> tuple[Matches, ...]:
        sizes.append(len(text))
        return tuple(find(text, each) for each in searches)

    watch = Watch([wants("function"), Check("output.includes", "needle")], search)
    for _ in range(4_000):
        watch.feed("token " * 8)
        await watch.poll()
    assert await watch.poll() == ()
    assert len(sizes) == 4_000
    assert max(sizes) <= REACH + 48
    assert sizes[200] == sizes[-1]
    assert await moves(watch, "needle") == [Watched(1, "found", ((192_000, 192_006),))]


@pytest.fixture(scope="module")
def runner() -> Iterator[tuple[asyncio.Runner, Checker]]:
    with asyncio.Runner() as runner:
        checker = Checker()
        yield runner, checker
        runner.run(checker.close())


ATOMS = [
    "a",
    "b",
    "[ab]",
    ".",
    "é",
    "😀",
    "(?:ab|a)",
    "(?:a|ab)",
    "a?",
    "b{1,2}",
    "a*",
    "b+?",
    "a+",
    "(a|b)\\1",
    "[^a]",
    r"\s",
]


@settings(max_examples=150, deadline=None)
@given(
    pattern=st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map("".join),
    kind=st.sampled_from(["expected_pattern", "output.matches", "forbidden_pattern"]),
    chunks=st.lists(st.text(alphabet="aab \né😀", max_size=4), max_size=40),
)
@example(pattern="a+", kind="expected_pattern", chunks=["a"] * 9 + ["b"] * 20)
@example(pattern="a*", kind="output.matches", chunks=["aa", "b"] * 15)
@example(pattern="(?:ab|a)b?", kind="forbidden_pattern", chunks=["a", "b", "b"] * 12)
def test_what_is_found_live_is_what_a_scan_of_the_whole_finds(
    runner: tuple[asyncio.Runner, Checker], pattern: str, kind: CheckKind, chunks: list[str]
) -> None:
    loop, checker = runner
    check = Check(kind, pattern)
    if "." in pattern or "[^a]" in pattern:  # where half a character was matched last is not known in code points
        chunks = [chunk.replace("😀", "é") for chunk in chunks]
    reach = 10

    async def live() -> tuple[Span, ...]:
        watch = checker.watch([check])
        changes = [moved for chunk in chunks for moved in await moves(watch, chunk)]
        assert not changes or (changes[-1].state in ("found", "forbidden")) == bool(changes[-1].spans)
        return changes[-1].spans if changes else ()

    (whole,) = loop.run(checker.decide([check], Answer("".join(chunks))))
    assume("".join(chunks))
    assume(all(end - start < reach for start, end in whole.spans))
    with patch("tui.checks.live.OPEN_LENGTH", reach), patch("tui.checks.live.REACH", reach + 256):
        assert loop.run(live()) == whole.spans


def asserts(kind: str, value: object) -> Check:
    return assertion_check({"type": kind, "value": value})


async def test_texts_of_assertions_are_found_as_they_arrive(checker: Checker) -> None:
    checks = [
        asserts("contains", "needle"),
        asserts("icontains", "NEEDLE"),
        asserts("contains-all", ["a ", "dle"]),
        asserts("contains-any", ["zzz", "dle"]),
        asserts("not-contains", "sorry"),
        asserts("starts-with", "A ne"),
        asserts("starts-with", "B"),
        asserts("equals", "A needle, sorry"),
    ]
    watch = checker.watch(checks)
    assert [first_state(check) for check in checks] == ["waiting"] * 4 + ["clear"] + ["waiting"] * 3
    assert await moves(watch, "A nee") == [Watched(5, "found", ((0, 4),))]
    assert await moves(watch, "Dle") == [Watched(1, "found", ((2, 8),))]
    assert await moves(watch, ", needle") == [
        Watched(0, "found", ((10, 16),)),
        Watched(1, "found", ((2, 8), (10, 16))),
        Watched(2, "waiting", ((13, 16),)),
        Watched(3, "found", ((13, 16),)),
    ]
    assert await moves(watch, " a so") == [Watched(2, "found", ((13, 16), (17, 19)))]
    assert await moves(watch, "rry") == [Watched(4, "forbidden", ((19, 24),))]


@settings(max_examples=60)
@given(
    st.lists(st.text("aAbB ", max_size=4), min_size=1, max_size=40),
    st.sampled_from(["contains", "icontains", "contains-all", "contains-any", "not-contains", "starts-with"]),
    st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3),
)
async def test_what_was_found_live_is_what_the_whole_answer_contains(
    chunks: list[str], kind: str, parts: list[str]
) -> None:
    check = asserts(kind, parts if kind in ("contains-all", "contains-any") else parts[0])
    checker = Checker()
    watch = checker.watch([check])
    state, spans = first_state(check), tuple[Span, ...]()
    for chunk in chunks:
        for moved in await moves(watch, chunk):
            state, spans = moved.state, moved.spans
    result = decide_case_assertion(check, Answer("".join(chunks)))
    assert (state in ("found", "clear")) == (result.state == "passed")
    assert spans == result.spans


async def test_a_watch_that_restarts_forgets_the_text(checker: Checker) -> None:
    watch = checker.watch([wants("func"), forbids("eval"), Check("assert.contains", "x", "x")])
    found = {moved.check: moved.state for moved in await moves(watch, "func eval x")}
    assert found == {0: "found", 1: "forbidden", 2: "found"}
    watch.restart()
    assert await moves(watch, "nothing") == []
    assert await moves(watch, " func") == [Watched(0, "found", ((8, 12),))]
    watch.close()


async def test_a_search_of_the_text_before_a_restart_reports_nothing() -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def search(text: str, searches: Sequence[Search]) -> tuple[Matches, ...]:
        del text
        begun.set()
        await goes_on.wait()
        return tuple(Matches(1, ((0, 1),)) for _ in searches)

    watch = Watch([wants("a+")], search)
    watch.feed("aaa")
    polling = asyncio.create_task(watch.poll())
    await begun.wait()
    watch.restart()
    goes_on.set()
    assert await polling == ()
    watch.feed("b")
    assert await watch.poll() == (Watched(0, "found", ((0, 1),)),)


async def test_the_searches_of_an_answer_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.checks.live._MOST_SEARCHES", 5)
    checks = [
        asserts("contains-any", "a,b,c"),
        asserts("contains-all", ["a", "b", "c"]),  # one too many
        asserts("tokens", 3),
        wants("a"),
        asserts("contains-any", ["a"]),
        asserts("contains", "a"),
    ]
    watch = Checker().watch(checks)
    assert [moved.check for moved in await moves(watch, "a")] == [0, 3, 4]


async def count_turns(work: Awaitable[object]) -> int:
    """Return how many turns other tasks of the event loop get during the work."""
    task, turns = asyncio.ensure_future(work), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await task
    return turns


@pytest.mark.parametrize(
    "checks",
    [
        [asserts("contains", f"a{number}") for number in range(50)],
        [asserts("contains-any", ",".join(f"a{number}" for number in range(50)))],
        [Check("output.includes", f"a{number}") for number in range(50)],
        [wants(f"a{number}") for number in range(50)],
    ],
    ids=["contains", "contains-any", "output.includes", "plain patterns"],
)
async def test_other_tasks_get_turns_between_the_searches(
    checker: Checker, monkeypatch: pytest.MonkeyPatch, checks: list[Check]
) -> None:
    monkeypatch.setattr("tui.checks.turns._SECONDS", -1)
    watch = checker.watch(checks)
    watch.feed("text")
    assert await count_turns(watch.poll()) >= 50
    assert await count_turns(checker.decide(checks, Answer("text"))) >= len(checks)


@pytest.mark.parametrize("kind", ["contains-all", "contains-any"])
async def test_the_list_of_a_long_assertion_is_read_by_a_worker(checker: Checker, kind: str) -> None:
    check = asserts(kind, ",".join(["a", *map(str, range(5_000))]))
    assert await moves(checker.watch([check]), "a") == []
    (result,) = await checker.decide([check], Answer("a"))
    assert result.state == ("passed" if kind == "contains-any" else "failed")
    assert len(checker.pids) == 1
