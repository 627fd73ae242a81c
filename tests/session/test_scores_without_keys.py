"""Scores of answers from which a key was removed count on each machine that their run and their lines travel to."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tui.model.scores import ItemKey, answer_hash
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.session.outgoing_runs import scores_of_outgoing, without_known_keys
from tui.session.result_import import ImportOptions, check_scores, read_results, store_results
from tui.session.reviews import Reviews
from tui.session.run_files import run_lines
from tui.session.score_exchange import Imported, unmatched_warning
from tui.store.sqlite import SqliteStore

KEY = "late_Key-9876/54"
MODEL = "openai/mock-a"
PLAN = make_plan(
    [make_case(f"c-{at}", criteria=(RiskCriterion("Tone", "Polite", "low"),)) for at in range(3)], (MODEL,)
)
RUN = PLAN.run_id
ITEMS = [ItemKey(trial.case, MODEL, 1, "Tone") for trial in PLAN.trials]


class Machine:
    """A history with scores; with `knows` its user has the key."""

    def __init__(self, folder: Path, *, knows: bool) -> None:
        self.folder, self.knows = folder, knows
        self.store = SqliteStore(folder / "runs.sqlite")
        self.reviews = Reviews(self.store, folder, Config())
        if knows:
            self.learn()

    def learn(self) -> None:
        self.knows = True
        self.reviews.replace_config(Config(secrets={"KEY": KEY}))

    def begin(self) -> None:
        self.store.begin_run(PLAN, STARTED)
        results = [
            make_result(trial, response=f"use {KEY}" if trial.case == "c-1" else "fine") for trial in PLAN.trials
        ]
        first, second, third = results
        (attempt,) = second.attempts
        earlier = replace(attempt, steps=(replace(attempt.steps[0], response=f"{KEY}, the first time"),))
        second = replace(second, attempts=(earlier, replace(attempt, number=2)))
        self.store.save_trials(RUN, [first, second, third])
        self.store.finish_run(RUN, "finished", STARTED)

    def score(self, name: str, extent: int = 2) -> None:
        review = self.reviews.open_review(RUN, name, blind=False)
        for item in review.items:
            review.give(item.key, extent, f"by {name}")

    def export(self, *, scores: bool = True) -> Path:
        kept, file = self.store.read_run(RUN), self.folder / "run.jsonl"
        outgoing = without_known_keys(kept, self.reviews.secrets)
        lines = run_lines(outgoing, scores_of_outgoing(self.reviews.export(RUN) if scores else "", kept, outgoing))
        file.write_text("\n".join(lines))
        return file

    def import_run(self, file: Path) -> Imported | None:
        environ: Mapping[str, str] = {f"ASSAY_{kind}_DIR": str(self.folder) for kind in ("CONFIG", "DATA", "CACHE")}
        found = read_results(file, ImportOptions(), {**environ, **({"LM_API_TOKEN": KEY} if self.knows else {})})
        scores = check_scores(found, self.store, self.reviews)
        return store_results(found, self.store, scores, self.reviews.secrets).scores

    def import_scores(self, text: str) -> Imported:
        file = self.folder / "scores.jsonl"
        file.write_text(text)
        return self.reviews.import_files([file])

    @property
    def counted(self) -> list[int]:
        """How many scores count, item by item."""
        board = self.reviews.reviewed(RUN).board
        return [len(board.scores(item)) for item in ITEMS]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    made: list[Machine] = []

    def make(*, knows: bool = False) -> Machine:
        made.append(Machine(tmp_path / str(len(made)), knows=knows))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


def test_scores_count_where_their_run_arrives_without_a_key(machine: Callable[..., Machine]) -> None:
    here, there = machine(), machine(knows=True)
    here.begin()
    here.score("Ada")
    imported = there.import_run(here.export())
    assert imported is not None
    assert (imported.new, imported.unmatched) == (3, 0)
    assert there.counted == [1, 1, 1]
    assert there.reviews.replaced(RUN) == ()
    again = there.import_run(here.export())
    assert again is not None
    assert (again.new, again.known) == (0, 3)


def test_scores_come_back_from_where_a_key_was_removed(machine: Callable[..., Machine]) -> None:
    here, there = machine(), machine(knows=True)
    here.begin()
    here.score("Ada")
    there.import_run(here.export())
    there.score("Bo")
    back = here.import_scores(there.reviews.export(RUN))
    assert (back.known, back.new, back.unmatched) == (3, 3, 1), "only Bo's score of another text counts for none here"
    assert here.counted == [2, 1, 2]
    assert unmatched_warning(1).startswith("warning: 1 new line names an answer that the run does not have here")


@pytest.mark.parametrize("with_run", [False, True], ids=["lines", "exported run"])
def test_scores_of_a_run_that_left_without_a_key_count_when_they_return(
    machine: Callable[..., Machine], with_run: bool
) -> None:
    here, there = machine(), machine()
    here.begin()
    here.score("Ada")
    here.learn()
    there.import_run(here.export())
    there.score("Bo")
    back = here.import_run(there.export()) if with_run else here.import_scores(there.reviews.export(RUN))
    assert back is not None
    assert (back.known, back.new, back.unmatched) == (3, 3, 0)
    assert here.counted == there.counted == [2, 2, 2]
    assert KEY in here.store.read_run(RUN).results[1].attempts[-1].steps[0].response, "what is stored stays"


def test_a_score_of_an_earlier_answer_is_one_of_a_replaced_answer(machine: Callable[..., Machine]) -> None:
    here, there = machine(), machine()
    here.begin()
    here.learn()
    there.import_run(here.export())
    there.score("Bo")
    earlier = answer_hash(there.store.read_run(RUN).results[1].attempts[0].steps)
    second = json.loads(there.reviews.export(RUN).splitlines()[1])
    assert second["case"] == "c-1"
    back = here.import_scores(json.dumps(second | {"answer": earlier}))
    assert (back.new, back.unmatched, here.counted) == (1, 0, [0, 0, 0])
    stored = json.loads(here.reviews.export(RUN))["answer"]
    assert stored == answer_hash(here.store.read_run(RUN).results[1].attempts[0].steps)


def test_the_hash_of_an_answer_in_a_note_leaves_as_it_was_written(machine: Callable[..., Machine]) -> None:
    here = machine()
    here.begin()
    kept = here.store.read_run(RUN)
    own = answer_hash(kept.results[1].attempts[-1].steps)
    review = here.reviews.open_review(RUN, "Ada", blind=False)
    review.give(ITEMS[1], 1, note := f'as {own}, "answer": "{own}"')
    here.learn()
    outgoing = without_known_keys(kept, here.reviews.secrets)
    left = json.loads(scores_of_outgoing(here.reviews.export(RUN), kept, outgoing))
    assert left["note"] == note
    assert left["answer"] == answer_hash(outgoing.results[1].attempts[-1].steps) != own
