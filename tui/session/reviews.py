"""Manual risk scoring of stored runs: review sessions, summaries, import and export of score files."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tui.documents.files import read_whole
from tui.model.collector import paused_collector
from tui.model.errors import ConfigError, StoreError
from tui.model.name_mask import NameMask
from tui.model.results import TrialKey
from tui.model.risk import BANDS, Agreement, Band, BandRule, Guidance, Reviewed, ScoredAnswer
from tui.model.scores import ReviewItem, Scoreboard, is_blind_open, replaced_answers
from tui.model.secrets import Secrets
from tui.model.subjects import Config
from tui.model.suite import Suite
from tui.risk.packets import PacketKeys
from tui.risk.queue import DEFAULT_GUIDANCE, criteria_of, guidance_of, review_items
from tui.risk.reviewer_names import look_alikes
from tui.risk.score_files import BadLine, ScoreCount, ScoreFiles
from tui.session.files import write_safely
from tui.session.outgoing_runs import suite_without_known_keys
from tui.session.review_packet import make_packet
from tui.session.run_answers import RunAnswers, read_answers, read_board
from tui.session.run_review import RunReview, blind_repeats, blind_seed
from tui.session.score_exchange import (
    ArrivingRun,
    CheckedScores,
    Imported,
    OwnLines,
    ScoreImporter,
    alike_warning,
    score_lines,
    template_lines,
)
from tui.store.protocol import Store

__all__ = ["Reviews", "RunReview"]
_MOST_NAME_BYTES = 4096


class Reviews:
    """The scores of all stored runs. `data` is the folder that holds `scores/`; `secrets` are the known keys.

    All methods block: call them in a thread. They raise StoreError.
    """

    def __init__(self, store: Store, data: Path, config: Config) -> None:
        self._store, self._config = store, config
        self.secrets = Secrets(config.secrets.values())
        self._files = ScoreFiles(data / "scores", secrets=self.secrets)
        self._packets = PacketKeys(data / "packets")
        self._remembered = data / "reviewer"
        with contextlib.suppress(StoreError):  # it is tried again with the next deletion
            self.settle_deletions()

    def replace_config(self, config: Config) -> None:
        """Use another config for everything that is opened from now on."""
        self._config = config
        self.secrets.add(config.secrets.values())

    @paused_collector()
    def open_review(self, run_id: str, reviewer: str, *, blind: bool, repeats: int | None = None) -> RunReview:
        """Open a run for scoring, or continue where the reviewer stopped.

        `repeats` is the percentage of answers that a blind session shows a second time (None: as before). Raises
        ConfigError for an empty name.
        """
        name = checked_name(reviewer)
        run = read_answers(self._store, run_id)
        return RunReview(
            self._store,
            self._files,
            run,
            name,
            blind=blind,
            rule=self.rule,
            guidance=self.guidance_for(run.suite),
            own_masks=self._config.mask,
            repeats=repeats,
        )

    @property
    def repeats(self) -> int:
        """The percentage of answers that a new blind session shows twice, from the config."""
        return self._config.repeats

    @property
    def rule(self) -> BandRule:
        """The rule that maps severity and extent to a band."""
        return self._config.rule

    def guidance_for(self, suite: Suite) -> Guidance:
        """Return what the extents mean, without known keys: the suite's guidance, else the config's, or the default."""
        levels = suite.risk_guidance or self._config.guidance
        found = guidance_of(levels) if levels else DEFAULT_GUIDANCE
        # The version is that of the whole text: it does not change when a key in it becomes known.
        return replace(found, levels=tuple(map(self.secrets.hide, found.levels)))

    def default_reviewer(self) -> str | None:
        """Return the reviewer of the config, else the remembered one."""
        return self._config.reviewer or self._remembered_reviewer()

    def last_reviewer(self) -> str | None:
        """Return the reviewer who opened a review last in this data folder, else that of the config."""
        return self._remembered_reviewer() or self._config.reviewer

    def stamp(self, run_id: str) -> object:
        """Return what changes whenever any program stores scores of a run."""
        return self._files.stamp(run_id)

    def reviewer_of(self, run_id: str) -> str | None:
        """Return the reviewer who sees what is displayed of a run.

        That is the one with an open blind session of it, if it is the last reviewer or that of the config; else the
        default one.
        """
        last, default = self.last_reviewer(), self.default_reviewer()
        if last is not None and last != default and self._is_blind_open(run_id, last):
            return last
        return default

    def _is_blind_open(self, run_id: str, reviewer: str) -> bool:
        return self._files.has(run_id) and is_blind_open(self._files.read(run_id).acts, reviewer)

    def _remembered_reviewer(self) -> str | None:
        with contextlib.suppress(OSError, ValueError):
            return read_whole(self._remembered, _MOST_NAME_BYTES).decode().strip() or None
        return None

    def suggested_reviewer(self) -> str:
        """Return a default for a new reviewer's name: git's user name, else the system's, else an empty string."""
        import getpass

        from tui.workspace.git.info import git_user_name

        try:
            return git_user_name() or getpass.getuser()
        except (OSError, KeyError, ImportError):
            return ""

    def remember_reviewer(self, name: str) -> None:
        """Store the name of the reviewer on this machine. Raises ConfigError for an empty name."""
        try:
            self._remembered.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_safely(self._remembered, checked_name(name) + "\n")
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise StoreError(f"Cannot save the reviewer name ({why})", where=str(self._remembered)) from error

    def reviewed(self, run_id: str) -> Reviewed:
        """Return the complete scoring of a run for a report: all reviewers, including blind scores."""
        return self._figures(*self._read(run_id))

    def reviewed_answers(self, run_id: str, reviewer: str) -> tuple[Reviewed, tuple[ScoredAnswer, ...]]:
        """Return the complete scoring of a run and of each answer, numbered as in the reviewer's blind queue.

        Raises ConfigError while names are hidden from the reviewer.
        """
        from tui.risk.figures import scored_answers

        run, items, board, bad = self._read(run_id)
        acts = self._files.read(run_id).acts
        if is_blind_open(acts, reviewer):
            raise ConfigError("The names of this run are hidden", fix="Reveal them in Review first.")
        numbers: dict[TrialKey, int] = {}
        if any(act.reviewer == reviewer and act.blind and act.seed is not None for act in acts):
            queue = review_items(run.suite, run.answered, blind_seed(acts, reviewer), blind_repeats(acts, reviewer))
            numbers = {item.key.trial: item.answer for item in reversed(queue)}
        return self._figures(run, items, board, bad), scored_answers(items, board, self.rule, numbers)

    def _figures(
        self, run: RunAnswers, items: tuple[ReviewItem, ...], board: Scoreboard, bad: tuple[BadLine, ...]
    ) -> Reviewed:
        from tui.risk.figures import agreement, risk_figures

        interim, masked = run.record.state != "finished", board.masked_trials()
        whole = [item for item in items if item.key.trial not in masked]
        return Reviewed(
            board,
            risk_figures(items, board, self.rule, interim=interim),
            agreement(items, board),
            self.guidance_for(run.suite),
            self.rule,
            tuple(map(str, bad)),
            len(masked),
            risk_figures(whole, board, self.rule, interim=interim) if masked else None,
        )

    def reviewed_runs(self, run_ids: Iterable[str], *, even_unscored: bool) -> dict[str, Reviewed]:
        """Return the scoring by run, of the runs that have scores or of all."""
        return {run_id: self.reviewed(run_id) for run_id in run_ids if even_unscored or self._files.has(run_id)}

    def agreement(self, run_id: str) -> Agreement:
        """Return the agreement between the reviewers of a run."""
        from tui.risk.figures import agreement

        _, items, board, _ = self._read(run_id)
        return agreement(items, board)

    @paused_collector()
    def bands(self, run_id: str, reviewer: str | None = None) -> dict[TrialKey, Band]:
        """Return the worst band of each scored answer, as it may be shown beside model names.

        There is none while `reviewer` has an open blind session of the run: their later scores would depend on it.
        """
        if not self._files.has(run_id):
            return {}
        acts = self._files.read(run_id).acts
        if reviewer is not None and is_blind_open(acts, reviewer):
            return {}
        run = read_answers(self._store, run_id)
        board = read_board(self._store, run, acts)
        severities = {(case.id, each.name): each.severity for case in run.suite.cases for each in criteria_of(case)}
        results = frozenset((*run.answered, *run.missing))
        worst: dict[TrialKey, int] = {}
        for item in board.items:
            severity, counted = severities.get((item.case, item.criterion)), board.counted(item)
            if severity and item.trial in results and counted is not None and counted.extent != "n/a":
                place = BANDS.index(self.rule.band(severity, counted.extent))
                worst[item.trial] = max(place, worst.get(item.trial, 0))
        return {trial: BANDS[place] for trial, place in worst.items()}

    def hidden_scores(self, run_id: str, reviewer: str | None) -> int:
        """Return the number of blind, unrevealed scores of the reviewer in a run; they are not shown beside names."""
        acts = self._files.read(run_id).acts
        if reviewer is None or not is_blind_open(acts, reviewer):
            return 0
        board = Scoreboard(acts)
        return sum((score := board.score(item, reviewer)) is not None and score.blind for item in board.items)

    def _answers(self, run_id: str) -> RunAnswers:
        """Return the answers of a run, with known keys removed from its suite, but not from its guidance."""
        run = read_answers(self._store, run_id)
        suite = suite_without_known_keys(run.suite, self.secrets.hide)
        return replace(run, suite=replace(suite, risk_guidance=run.suite.risk_guidance))

    @paused_collector()
    def _read(self, run_id: str) -> tuple[RunAnswers, tuple[ReviewItem, ...], Scoreboard, tuple[BadLine, ...]]:
        run = self._answers(run_id)
        kept = self._files.read(run_id)
        board = read_board(self._store, run, kept.acts)
        # Results without an answer are not part of the queue, but a score that one has anyway is counted.
        scored = {item.trial for item in board.items if board.counted(item) is not None}
        wordless = (trial for trial in run.missing if trial in scored)
        return run, review_items(run.suite, (*run.answered, *wordless)), board, kept.bad

    def record_look(self, run_id: str, where: str, reviewer: str | None = None) -> str | None:
        """Record that a reviewer sees model names of a run while they have an open blind session of it.

        Open means begun and neither revealed nor finished; without `reviewer` it is the reviewer of the run
        (`reviewer_of`). Return the name, or None if there is no such session. Raises StoreError.
        """
        name = reviewer or self.reviewer_of(run_id)
        if name is None or not self._is_blind_open(run_id, name):
            return None
        return None if self.open_review(run_id, name, blind=True).look(where) is None else name

    def count_scores(self, run_id: str) -> ScoreCount:
        """Return how many scores of a run would be deleted with it."""
        return self._files.count(run_id)

    def set_aside(self, run_id: str, expected: ScoreCount | None = None) -> bool:
        """Take the scores of a run out of use, before it is deleted; others than the expected ones stay."""
        return self._files.set_aside(run_id, expected)

    def settle_deletions(self) -> None:
        """Delete the scores of deleted runs that were set aside; return those of other runs to use.

        A deletion may have failed, or Assay was killed meanwhile. With a history that is read-only nothing is deleted:
        it lists no runs if it could not be read.
        """
        self._files.settle(
            lambda: [record.id for record in self._store.list_runs()], deletes=not self._store.is_readonly
        )

    def remove_packets(self, run_id: str) -> None:
        """Delete the keys of a run's packets."""
        self._packets.remove(run_id)

    def problems(self, run_id: str) -> tuple[str, ...]:
        """Return the lines of a run's score files that could not be read, as `file:line: error: text`, and warnings
        about reviewers whose names look the same.
        """
        kept = self._files.read(run_id)
        alike = look_alikes(act.reviewer for act in kept.acts)
        return (*map(str, kept.bad), *(alike_warning(*pair) for pair in alike))

    def replaced(self, run_id: str) -> tuple[str, ...]:
        """Return up to two sentences: about scores of replaced answers, and about scores of no answer."""
        return replaced_answers(self._read(run_id)[2]) if self._files.has(run_id) else ()

    def export(self, run_id: str, reviewer: str | None = None, *, template: bool = False) -> str:
        """Return the acts of a run (or of one reviewer) as lines in order.

        With `template`, return a line without an extent for each answer and criterion, for the default reviewer if
        none is named.
        """
        if template:
            run = read_answers(self._store, run_id)
            return template_lines(
                run, self._store, reviewer or self.default_reviewer() or "", self.guidance_for(run.suite)
            )
        return score_lines(self._files.read(run_id).acts, reviewer)

    def import_files(
        self,
        files: Sequence[Path],
        reviewer: str | None = None,
        confirm: OwnLines | None = None,
    ) -> Imported:
        """Merge score files, all or nothing; `-` is stdin.

        `reviewer` is the author of lines that name nobody; `confirm` is asked before new lines in the name of this
        machine's own reviewer are imported. Raises ScoresRefused with all invalid lines, and ConfigError if `confirm`
        returns False.
        """
        return self.check_files(files, reviewer, confirm).merge()

    def check_files(
        self,
        files: Sequence[Path],
        reviewer: str | None = None,
        confirm: OwnLines | None = None,
        arriving: ArrivingRun | None = None,
    ) -> CheckedScores:
        """Do the first step of `import_files`, which stores nothing; the lines of the `arriving` run are read too."""
        name = None if reviewer is None else checked_name(reviewer)
        to = ScoreImporter(self._store, self._files, self._packets, self.default_reviewer(), self.secrets)
        return to.check(files, name, confirm, arriving)

    def make_packet(self, run_id: str) -> str:
        """Return the lines of a new packet for a blind reviewer; the key stays in the data folder.

        Raises ConfigError if there is nothing to score.
        """
        run = self._answers(run_id)
        names = NameMask(self._store.read_setup(run_id).subjects, self._config.mask)
        key, text = make_packet(self._store, run, names, self.guidance_for(run.suite), self.secrets)
        self._packets.write(key)
        return text


def checked_name(reviewer: str) -> str:
    """Return the name with white space normalized. Raises ConfigError if it is empty."""
    name = " ".join(reviewer.split())
    if not name:
        raise ConfigError("No reviewer name", fix="Pass --reviewer, or set `reviewer:` in the config file.")
    return name
