"""The Compare screen: two answers to a case, what differs, and which is better; case after case."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen

from tui.app.compare.lines import Names, nothing_lines, source_line, source_names, standing_of
from tui.app.compare.pairs import ComparisonSession, Pair, answer_diff, next_answer
from tui.app.compare.view import CompareTitle, CompareView, StopList
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.list_view import LineListView
from tui.model.diffs import FileDiff
from tui.model.errors import AssayError
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite
from tui.session.answers import Answer, KeptAnswers, Source
from tui.session.preferences import Choice, Preferred

_NARROW, _BESIDE = 100, 110
_HIDDEN = "The names are hidden while you compare blind; B shows them."


def _key(key: str, action: str, name: str, tooltip: str, says: str = "", shown_as: str | None = None) -> Binding:
    return Binding(
        key, action, says or tooltip, id=f"compare.{name}", tooltip=tooltip, show=bool(says), key_display=shown_as
    )


class CompareScreen(Screen[None]):
    """`a` and `b` say whose answers stand beside each other; it begins at `case`, where both have answered it.
    `reviewer` returns who chooses (it is called in a thread)."""

    DEFAULT_CSS = """
    CompareScreen { background: $background; color: $foreground; }
    CompareScreen #cases {
        width: 26%; min-width: 34; max-width: 48; padding: 0 1;
        border: round $quiet-border; border-title-color: $foreground;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    CompareScreen.-narrow #cases { display: none; }
    CompareScreen #body { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("right_square_bracket", "case_beside(1)", "next-case", "Go to the next case", "next case", "]"),
        _key("left_square_bracket", "case_beside(-1)", "case-before", "Go to the case before", shown_as="["),
        _key("a", "prefer('a')", "prefer-a", "Prefer the left answer, and go on"),
        _key("b", "prefer('b')", "prefer-b", "Prefer the right answer, and go on"),
        _key("t", "prefer('tie')", "tie", "Both are as good, and go on"),
        _key("x", "prefer('both_bad')", "both-bad", "Both are bad, and go on"),
        _key("B", "turn_blind", "blind", "Hide names and verdicts and mix the sides, or show them", "blind"),
        _key("p", "tell_standing", "standing", "Which model was preferred, and how sure that is", "preferences"),
        _key("1", "choose_source(0)", "source-a", "Choose whose answers are A", "choose A"),
        _key("2", "choose_source(1)", "source-b", "Choose whose answers are B", "choose B"),
        _key("3", "next_answer(0)", "repeat-a", "The next repeat or attempt of A"),
        _key("4", "next_answer(1)", "repeat-b", "The next repeat or attempt of B"),
        _key("o", "turn_fold", "fold", "Fold what is the same in both, or show everything", "fold"),
        _key("escape", "leave", "leave", "Back", "back"),
    ]
    AUTO_FOCUS = "DiffView"

    def __init__(
        self,
        answers: KeptAnswers,
        suite: Suite,
        a: Source,
        b: Source,
        case: str | None = None,
        *,
        reviewer: Callable[[], str | None] = lambda: None,
        note_names: Callable[[str, str], None] = lambda _run, _where: None,
    ) -> None:
        super().__init__()
        self._reviewer, self._note_names = reviewer, note_names
        self._answers, self._suite, self._sources = answers, suite, [a, b]
        self._case = case
        self._runs: dict[str, RunRecord] = {}
        self._walk: ComparisonSession | None = None
        self._seed: int | None = None
        self._shown: tuple[Answer, Answer] | None = None
        self._folded = True
        self.title_line, self.stops, self.compared = CompareTitle(), StopList(), CompareView()

    def compose(self) -> ComposeResult:
        """Title, cases, answers."""
        yield self.title_line
        with Horizontal(id="body"):
            with Vertical(id="cases") as box:
                box.border_title = Content("Cases")
                yield self.stops
            yield self.compared
        yield KeyFooter()

    def on_mount(self) -> None:
        """Read what both have answered."""
        self.compared.view.set_look(prose=True, numbers=False, beside=self.app.size.width >= _BESIDE)
        self._open()

    def on_resize(self, event: Resize) -> None:
        """The answers need the room more than the list does."""
        self.set_class(event.size.width < _NARROW, "-narrow")

    @property
    def walk(self) -> ComparisonSession | None:
        """The way through the cases, once it is read."""
        return self._walk

    # --- reading

    @work(group="open", exclusive=True)
    async def _open(self) -> None:
        stop = self._walk.stop if self._walk else None
        case = stop.case if stop else self._case
        try:
            walk, self._runs = await asyncio.to_thread(self._read_walk)
        except AssayError as error:
            self.title_line.show(None, sanitize_line(str(error), 400))
            return
        if case is not None:
            walk.go_to_case(case)
        self._walk = walk
        self._show()

    def _read_walk(self) -> tuple[ComparisonSession, dict[str, RunRecord]]:
        a, b = self._sources
        pair = Pair(a, b, self._answers.outcomes(a), self._answers.outcomes(b))
        walk = ComparisonSession(self._suite, pair, self._seed)
        walk.remember([each for each in self._answers.preferences.read() if each.reviewer in ("", self._who())])
        runs = {run.id: run for run in self._answers.list_runs(self._suite.path)}
        return walk, runs

    @property
    def _names(self) -> tuple[Names, Names]:
        a, b = (source_names(each, self._sources, self._runs.get(each.run)) for each in self._sources)
        return a, b

    def _show(self, *, stay: bool = False) -> None:
        walk = self._walk
        if walk is None:
            return
        self.title_line.show(walk)
        self.stops.show_walk(walk)
        if walk.stop is None:
            self._shown = None
            self.compared.show_nothing(nothing_lines(self._names))
        else:
            self._read_case(walk, walk.stop.case, stay)

    @work(group="case", exclusive=True)
    async def _read_case(self, walk: ComparisonSession, case: str, stay: bool) -> None:
        self._shown = None
        try:
            a, b, file = await asyncio.to_thread(self._read_pair, walk, case)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        swapped = walk.swapped(case)
        names, answers = self._names, (a, b)
        if swapped:
            names, answers = (names[1], names[0]), (b, a)
        self.compared.show(file, names, answers, blind=walk.blind, stay=stay)
        if a is not None and b is not None:
            self._shown = a, b
        self._tell_choice(file)
        if not walk.blind:
            for run_id in dict.fromkeys(each.place.run for each in (a, b) if each is not None):
                self._note_names(run_id, "Compare")

    def _read_pair(self, walk: ComparisonSession, case: str) -> tuple[Answer | None, Answer | None, FileDiff]:
        a, b = (self._answers.read(source, case) for source in (walk.pair.a, walk.pair.b))
        texts = [each.text if each else "" for each in (a, b)]
        if walk.swapped(case):
            texts.reverse()
        return a, b, answer_diff(texts[0], texts[1], folded=self._folded)

    def _tell_choice(self, file: FileDiff) -> None:
        walk, shown = self._walk, self._shown
        if walk is None or walk.stop is None:
            return
        note = ""
        if shown is None:
            note = "one of them has no such answer"
        elif not (file.added or file.removed):
            note = "both answers are the same" if shown[0].text else "both answers are empty"
        self.compared.show_choice(walk.stop.choice, walk.swapped(walk.stop.case), note)

    # --- walking

    def action_case_beside(self, by: int) -> None:
        """The next case, or the one before."""
        if self._walk is not None and self._walk.step(by):
            self._show()

    @on(LineListView.Reached, "StopList")
    def go_to_stop(self, message: LineListView.Reached) -> None:
        """The case under the cursor."""
        if self._walk is not None and message.place != self._walk.at:
            self._walk.at = message.place
            self._show()

    def action_turn_fold(self) -> None:
        """Everything, or only what differs with a few lines around it."""
        self._folded = not self._folded
        self._show(stay=True)

    # --- preferring

    @work(group="prefer")
    async def action_prefer(self, choice: Choice) -> None:
        """Write it down, and go on."""
        walk, shown = self._walk, self._shown
        if walk is None or walk.stop is None or shown is None:
            self.notify("There are no two answers on the screen to choose from.", severity="warning", markup=False)
            return
        before = walk.stop
        preferred = walk.decide(choice, *shown)
        self._shown = None
        try:
            await asyncio.to_thread(self._write_down, preferred)
        except AssayError as error:
            walk.stops[walk.at] = before
            self._shown = shown
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        if not walk.step(1):
            self.notify("This was the last case.", markup=False, timeout=3)
        self._show()

    def _write_down(self, preferred: Preferred) -> None:
        self._answers.preferences.append(replace(preferred, reviewer=self._who()))

    def _who(self) -> str:
        return self._reviewer() or ""

    def action_turn_blind(self) -> None:
        """Hide what could sway, or show it."""
        self._seed = secrets.randbelow(1_000_000) if self._seed is None else None
        self._open()

    @work(group="standing", exclusive=True)
    async def action_tell_standing(self) -> None:
        """The ranking, from all that was preferred in this suite."""
        from tui.app.screens.text_screen import TextScreen

        if self._seed is not None:
            self.notify(_HIDDEN, markup=False)
            return
        try:
            preferred = await asyncio.to_thread(self._answers.preferences.read)
            standing = await asyncio.to_thread(standing_of, preferred, self._suite.path)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        await self.app.push_screen(TextScreen("Preferences", standing.lines, "p"))

    # --- whose answers

    @work(group="source", exclusive=True)
    async def action_choose_source(self, side: int) -> None:
        """Choose among all that has answered the suite."""
        from tui.app.screens.choice import ChoiceScreen

        if self._seed is not None:
            self.notify(_HIDDEN, markup=False)
            return
        found = await asyncio.to_thread(self._answers.list_sources, self._suite.path)
        if not found:
            return
        here = replace(self._sources[side], repeat=1, attempt=0)
        current = next((place for place, (source, _) in enumerate(found) if source == here), 0)
        lines = [source_line(source, run, 80) for source, run in found]
        place = await self.app.push_screen_wait(ChoiceScreen(f"Whose answers are {'AB'[side]}?", lines, current))
        if place is not None:
            self._sources[side] = found[place][0]
            self._open()

    def action_next_answer(self, side: int) -> None:
        """The next repeat or attempt."""
        walk = self._walk
        if walk is None or walk.stop is None:
            return
        if walk.swapped(walk.stop.case):  # the side that is seen: which one moves would tell whose it is
            side = 1 - side
        outcomes = (walk.pair.a_outcomes, walk.pair.b_outcomes)[side].get(walk.stop.case, ())
        source = next_answer(self._sources[side], outcomes)
        if source == self._sources[side]:
            self.notify("There is no other answer to this case on that side.", markup=False, timeout=3)
            return
        self._sources[side] = source
        self._open()

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
