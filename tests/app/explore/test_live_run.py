"""The current run as Explore displays it, without a screen."""

from pathlib import Path

from tests.app.contexts import make_context, select_first
from tests.app.explore.explored import session_for
from tests.support.scripted_session import prompt_of
from tui.app.context import AppContext
from tui.app.explore.live_run import LiveRun
from tui.app.run_requests import request_suite
from tui.model.events import AttemptStarted, ReasoningArrived, RunStarted, StepStarted, TextArrived, TrialStarted
from tui.model.results import TrialKey

ONE, TWO = TrialKey("one", "mock-a"), TrialKey("two", "mock-a")


class Pane:
    """What a pane was given."""

    def __init__(self) -> None:
        self.text = self.thoughts = ""
        self.marked = 0

    def append(self, text: str) -> None:
        self.text += text

    def append_reasoning(self, text: str) -> None:
        self.thoughts += text

    def mark(self) -> None:
        self.marked += 1


async def running(tmp_path: Path) -> tuple[AppContext, LiveRun]:
    """A run of the whole suite that has started; the first case is selected."""
    context = await make_context(session_for(tmp_path))
    path = select_first(context, "one")
    request = request_suite(context.selection)
    assert request is not None
    context.runs.current = request
    context.open_suites.state(path).take(RunStarted("1", request.trials, ""))
    return context, LiveRun(context)


def start(context: AppContext, key: TrialKey) -> None:
    path = context.selection.path
    assert path is not None
    for event in (TrialStarted(key), AttemptStarted(key, 1, 1), StepStarted(key, 1, 0, prompt_of())):
        context.open_suites.state(path).take(event)
        context.runs.messages.post_event(path, event)


async def test_buffered_text_goes_to_the_pane_of_the_selected_case(tmp_path: Path) -> None:
    context, live = await running(tmp_path)
    start(context, ONE)
    path = select_first(context, "one")
    for event in (ReasoningArrived(ONE, 1, 0, "Hm. "), TextArrived(ONE, 1, 0, "Yes."), TextArrived(TWO, 1, 0, "No.")):
        context.runs.messages.post_event(path, event)
    pane = Pane()
    assert live.flush({"mock-a": pane}) == {ONE}
    assert (pane.text, pane.thoughts, pane.marked) == ("Yes.", "Hm. ", 1)
    assert live.flush({"mock-a": pane}) == set()
    context.selection.select(path, "two")
    other = Pane()
    live.flush({"mock-a": other})
    assert other.text == "No."


async def test_text_of_another_suite_waits(tmp_path: Path) -> None:
    context, live = await running(tmp_path)
    start(context, ONE)
    path = select_first(context, "one")
    context.runs.messages.post_event(path, TextArrived(ONE, 1, 0, "Yes."))
    context.selection.path = tmp_path / "another.yaml"
    pane = Pane()
    live.flush({"mock-a": pane})
    assert pane.text == ""


async def test_the_selection_follows_the_run_until_it_is_stopped(tmp_path: Path) -> None:
    context, live = await running(tmp_path)
    start(context, TWO)
    assert live.can_follow
    assert live.case_to_follow(10.0) is None
    live.auto_follow.start()
    follow = live.case_to_follow(10.0)
    assert follow is not None
    assert follow[1].id == "two"
    context.selection.select(follow[0].path, "two")
    assert live.case_to_follow(20.0) is None, "it is running"
    context.selection.select(follow[0].path, "three")
    assert live.case_to_follow(10.1) is None, "it was selected a moment ago"
    live.auto_follow.stop()
    assert live.case_to_follow(20.0) is None


async def test_the_header_is_that_of_the_running_suite(tmp_path: Path) -> None:
    context, live = await running(tmp_path)
    header = live.header(1.0, "P")
    assert (header.suite, header.cases, header.models, header.running) == ("quickstart", 3, 2, True)
    assert header.counts is not None
    assert (header.counts.done, header.counts.trials) == (0, 6)
    assert (header.paused, header.pause_key, header.queued) == (False, "", 0)
    context.runs.current = None
    context.selection.path = None
    assert live.header(1.0, "P").suite == ""
