"""Import and export of score files: all lines are checked against the runs that they name before any is stored.

An import has two steps, so that a question is answered before anything is stored: `ScoreImporter.check` and `merge` of
its result.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.documents.files import numbered_lines, read_whole
from tui.model.collector import paused_collector
from tui.model.errors import ConfigError
from tui.model.results import TrialKey, TrialResult
from tui.model.risk import Guidance
from tui.model.run import Plan
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, ItemKey, answer_hash, current_answer_hash, joined
from tui.model.secrets import Secrets
from tui.model.suggest import did_you_mean
from tui.risk.packets import PacketKey, PacketKeys
from tui.risk.queue import criteria_of, review_items
from tui.risk.reviewer_names import look_alikes, looks_like
from tui.risk.score_files import LARGEST_FILE, ActConflict, ActsTooLong, BadLine, ScoreFiles
from tui.risk.score_lines import LARGEST_LINE, LineFault, parse_line, read_fields, template_line, write_line
from tui.session.outgoing_runs import changed_hashes, results_without_known_keys
from tui.session.review_packet import packet_fields
from tui.session.run_answers import RunAnswers, bind_acts, bind_to_results, read_answers
from tui.store.protocol import Store

if TYPE_CHECKING:
    from tui.imports.imported import ScoreLines

STDIN = Path("-")
_MOST_HINTS = 20
_AT_ONCE = 200  # results in memory
_MOST_SCORES = 300_000  # of one import: a short line of a packet is a score too, of 600 bytes of memory
_MOST_BAD = 1_000  # lines that are reported
_MOST_FILLED_BYTES = 256 * 1024 * 1024  # of a template or packet that is looked into before it is replaced
_OF_A_PACKET = b'"packet"'
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_IDENTITY = ("act", "run", "case", "model", "repeat", "criterion", "again", "answer", "reviewer", "scored_at")
"""The fields that identify a line without an id: reviewer, answer, criterion and time, but not the score."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    `new` acts were added to `runs`, `known` existed already, `unscored` are template lines without an extent;
    `reviewers` maps each reviewer whose file changed to the number of new lines; `alike` are reviewers of these runs
    whose names look the same. `unmatched` new acts name an answer that the run does not have, and do not count.
    """

    new: int
    known: int
    unscored: int
    runs: tuple[str, ...]
    reviewers: tuple[tuple[str, int], ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    unmatched: int = 0


OwnLines = Callable[[str, int], bool]
"""Called before lines in the user's own name are imported: (the name in the lines, their number) → whether to go on."""


@dataclass(frozen=True, slots=True)
class ArrivingRun:
    """A run that is stored after its scores are checked: its plan, each result that it will have, and its scores.

    `changed_hashes` has the hashes of answers from which a key was removed, by those with which the scores name them.
    """

    plan: Plan
    results: Mapping[TrialKey, TrialResult]
    scores: "ScoreLines"
    changed_hashes: Mapping[str, str] = field(default_factory=dict)


class ScoresRefused(ConfigError):
    """Score files cannot be imported and nothing was changed; `bad` holds every invalid line."""

    def __init__(self, bad: Sequence[BadLine]) -> None:
        super().__init__("\n".join(map(str, bad)))
        self.bad = tuple(bad)


@dataclass(frozen=True, slots=True)
class _Line:
    """An act and its place in a file; `derived` says that the line has no id of its own.

    Until `_identify`, a derived id is that of earlier versions, which depends on how the fields are written.
    """

    file: str
    number: int
    act: Act
    derived: bool = False

    def refuse(self, what: str) -> BadLine:
        return BadLine(self.file, self.number, what)


@dataclass(frozen=True, slots=True)
class CheckedScores:
    """Lines of `files` that can be imported, after all questions about them: `scored` of `lines`, in the name `own`.

    Those with the ids `unmatched` name an answer that their run does not have; `reviewers` have scores of these runs.
    Nothing is stored before `merge`.
    """

    kept: ScoreFiles
    files: tuple[Path, ...]
    lines: int
    scored: tuple[_Line, ...]
    own: str | None
    reviewers: tuple[str, ...]
    unmatched: frozenset[str] = frozenset()

    def merge(self) -> Imported:
        """Add the lines to the stored scores, all or none. Raises ScoresRefused and StoreError."""
        runs = tuple(dict.fromkeys(line.act.run for line in self.scored))
        new = _merged(self.kept.merge, self.scored, self.files)
        acts = {line.act.id for line in self.scored}
        counts = Counter(act.reviewer for act in new)
        names = dict.fromkeys([*filter(None, [self.own]), *self.reviewers, *counts])
        alike = tuple(pair for pair in look_alikes(names) if pair[1] in counts)
        reviewers = tuple(sorted(counts.items()))
        unmatched = sum(act.id in self.unmatched for act in new)
        skipped = self.lines - len(self.scored)
        return Imported(len(new), len(acts) - len(new), skipped, runs, reviewers, alike, unmatched)


def alike_warning(known: str, name: str) -> str:
    """Return a warning about two reviewers whose names look the same."""
    what = f"warning: the reviewers {_quoted(known)} and {_quoted(name)} look the same, but count as two people"
    return f"{what}; if they are one person, correct the name in the score file and import it again"


def unmatched_warning(count: int) -> str:
    """Return a warning about new lines that name an answer which the run does not have."""
    what = "1 new line names an answer that" if count == 1 else f"{count:,} new lines name answers that"
    counts = "and does not count" if count == 1 else "and do not count"
    why = "it was replaced on one of the machines, or a key was removed from it on one of them only"
    return f"warning: {what} the run does not have here, {counts}: {why}"


def score_lines(acts: Iterable[Act], reviewer: str | None = None) -> str:
    """Return the acts as lines, limited to one reviewer if one is named."""
    return "".join(write_line(act) for act in acts if reviewer is None or act.reviewer == reviewer)


def template_lines(run: RunAnswers, store: Store, reviewer: str, guidance: Guidance) -> str:
    """Return a line without an extent for each answer and criterion, in the suite's order."""
    items = review_items(run.suite, run.answered)
    answers = store.read_answer_hashes(run.record.id)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return "".join(
        template_line(
            Act(
                "score", "", run.record.id, item.key, None, "", reviewer, now, guidance=guidance.version,
                attempt=run.attempts.get(item.key.trial), answer=answers.get(item.key.trial),
            )
        )
        for item in items
    )  # fmt: skip


def is_filled_in(file: Path) -> bool:
    """Return whether a file has a line of a template or a packet with an extent or a note. Raises nothing."""
    try:
        return any(map(_is_filled_in, read_whole(file, _MOST_FILLED_BYTES).splitlines()))
    except OSError:
        return False


def _is_filled_in(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    criteria = found.get("criteria") if isinstance(found, dict) else None
    scores = criteria if isinstance(criteria, list) else [found]
    return any(isinstance(each, dict) and (each.get("extent") is not None or each.get("note")) for each in scores)


@dataclass(frozen=True, slots=True)
class ScoreImporter:
    """Where scores are imported: to `kept`, for the runs in `store`; `own` is the name of the user.

    A line may name an answer as it is without the known `secrets`.
    """

    store: Store
    kept: ScoreFiles
    packets: PacketKeys
    own: str | None = None
    secrets: Secrets = field(default_factory=Secrets)

    def check(
        self,
        files: Sequence[Path],
        reviewer: str | None = None,
        confirm: OwnLines | None = None,
        arriving: ArrivingRun | None = None,
    ) -> CheckedScores:
        """Read score files and packets for a merge into the stored scores; nothing is stored yet.

        `reviewer` is the author of lines that name nobody. New lines in the own name, or in one that looks like it, are
        accepted if `confirm` returns True. The lines of the `arriving` run are read too, as if it were stored. Raises
        ScoresRefused, ConfigError if `confirm` returns False, and StoreError.
        """
        with paused_collector():
            read = _LineReader(self.packets, reviewer)
            for file in files:
                read.read_file(file)
            if arriving is not None:
                read.read_run(arriving.scores)
            found = self._match(read.lines, arriving, read.bad)
            if read.bad:
                raise _refusal(files, read.bad)
            new = _merged(self.kept.check_merge, found.lines, files)
        if self.own is not None and confirm is not None:
            _confirm_own(new, self.own, confirm)
        scored, reviewers = tuple(found.lines), found.reviewers
        return CheckedScores(self.kept, tuple(files), len(read.lines), scored, self.own, reviewers, found.unmatched)

    def _match(self, lines: Sequence[_Line], arriving: ArrivingRun | None, bad: list[BadLine]) -> "_Matched":
        """Return the lines with a score as they are stored; add those that cannot be to `bad`."""
        strangers = _strangers(lines, self.store, arriving)
        bad += strangers
        scored = [line for line in lines if not (line.act.act == "score" and line.act.extent is None)]
        found = _Matched(scored)
        if not strangers:
            stored = _read_stored(self.kept, {line.act.run for line in scored})
            scored = _identify(_bind(scored, self.store, arriving, bad), stored)
            scored, unmatched = _with_own_hashes(scored, self.store, arriving, stored, self.secrets)
            found = _Matched(scored, stored.reviewers, unmatched)
        bad += _doubles(scored)
        return found


@dataclass(frozen=True, slots=True)
class _Matched:
    """Lines as they are stored, the ids of those without an answer here, and who has scores of their runs."""

    lines: Sequence[_Line]
    reviewers: tuple[str, ...] = ()
    unmatched: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Stored:
    """What an import needs of the stored acts: the answer of each, by run and id, and their reviewers."""

    answers: Mapping[str, Mapping[str, str | None]]
    reviewers: tuple[str, ...]

    def has(self, act: Act) -> bool:
        """Return whether an act of this run and id is stored."""
        return act.id in self.answers.get(act.run, {})

    def answer_of(self, act: Act) -> str | None:
        """Return the hash of the answer in the stored line of the act."""
        return self.answers.get(act.run, {}).get(act.id)


def _read_stored(kept: ScoreFiles, runs: Iterable[str]) -> _Stored:
    answers: dict[str, dict[str, str | None]] = {}
    reviewers: dict[str, None] = {}
    for run in runs:
        acts = kept.read(run).acts
        answers[run] = {act.id: act.answer for act in acts}
        reviewers |= dict.fromkeys(act.reviewer for act in acts)
    return _Stored(answers, tuple(reviewers))


def _merged(
    merge: Callable[[Iterable[Act]], tuple[Act, ...]], lines: Sequence[_Line], files: Sequence[Path]
) -> tuple[Act, ...]:
    """Return the acts that `merge` adds. Raises ScoresRefused with the lines that it refuses."""
    try:
        return merge(line.act for line in lines)
    except ActsTooLong as found:
        what = f"would be longer than {LARGEST_LINE:,} bytes when it is saved; shorten the note"
        raise _refusal(files, [line.refuse(what) for line in lines if line.act.id in found.ids]) from found
    except ActConflict as found:
        bad = [line.refuse(_conflict(line, "is already saved")) for line in lines if line.act.id in found.ids]
        raise _refusal(files, bad) from found


def _refusal(files: Sequence[Path], bad: Iterable[BadLine]) -> ScoresRefused:
    places = {str(file): place for place, file in reversed(list(enumerate(files)))}
    return ScoresRefused(sorted(bad, key=lambda each: (places.get(each.file, 0), each.line)))


def _confirm_own(new: Iterable[Act], own: str, confirm: OwnLines) -> None:
    for name, count in Counter(act.reviewer for act in new).items():
        if looks_like(name, own) and not confirm(name, count):
            raise ConfigError("Nothing was imported", fix="Remove the lines in your own name, and import the rest.")


def _conflict(line: _Line, where: str) -> str:
    if line.derived:
        what = f"the same score (answer, criterion, reviewer, scored_at) with another extent or note {where}"
        return f"{what}; for a changed score, set scored_at to the time of the change"
    return f"the id {line.act.id} {where} with different content; for a changed score, add a new line with a new id"


class _LineReader:
    """The lines of files and packets, and the invalid ones; `reviewer` is the author of lines that name nobody."""

    def __init__(self, packets: PacketKeys, reviewer: str | None) -> None:
        self.lines: list[_Line] = []
        self.bad: list[BadLine] = []
        self._key_of = cache(packets.read)  # one file for all answers of a packet
        self._reviewer = reviewer
        self._read = 0
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        self._latest = today + timedelta(days=2)

    def read_file(self, file: Path) -> None:
        """Read a file, or stdin. Raises ConfigError if it cannot be read, or if all together are too large."""
        self._read_lines(file, _read_file(file), "Import the files one after the other.")

    def read_run(self, scores: "ScoreLines") -> None:
        """Read the scores of an exported run. Raises ConfigError if they are too large."""
        fix = "Export the run without --scores, and its scores with `assay review export RUN --reviewer NAME`."
        self._read_lines(scores.file, scores.text.encode(), fix)

    def _read_lines(self, file: Path, data: bytes, fix: str) -> None:
        self._read += len(data)
        if self._read > LARGEST_FILE:
            what = f"with this file, the scores have more than {LARGEST_FILE // 2**20} MiB together"
            raise ConfigError(what, where=str(file), fix=fix)
        for number, line in numbered_lines(data):
            try:
                self._add(str(file), number, line)
            except LineFault as fault:
                self.bad.append(BadLine(str(file), number, str(fault)))
                if len(self.bad) >= _MOST_BAD:
                    what = f"is problem {len(self.bad):,}; the lines after it were not read"
                    self.bad.append(BadLine(str(file), number, what))
                    return

    def _add(self, file: str, number: int, line: bytes) -> None:
        for act, derived in _acts_of(line, self._key_of, self._reviewer):
            if len(self.lines) >= _MOST_SCORES:
                fix = "Import it as several files, one after the other."
                raise ConfigError(f"has more than {_MOST_SCORES:,} scores", where=file, fix=fix)
            if not _EARLIEST <= act.order[0] < self._latest:
                raise LineFault(f"scored_at: {act.scored_at} is before 2000 or after tomorrow; correct the date")
            self.lines.append(_Line(file, number, act, derived))


def _read_file(file: Path) -> bytes:
    try:
        if file == STDIN:
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            with open(file, "rb") as source:
                data = source.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"cannot be read ({why})", where=str(file), fix="Pass a score file.") from error
    if len(data) > LARGEST_FILE:
        what = f"is larger than {LARGEST_FILE // 2**20} MiB"
        raise ConfigError(what, where=str(file), fix="Pass a smaller file; a large one can be split between two lines.")
    return data


def _acts_of(line: bytes, key_of: Callable[[str], PacketKey | None], reviewer: str | None) -> list[tuple[Act, bool]]:
    """Return the acts of a line (a packet's line has several), each with whether its id is derived.

    Raises LineFault.
    """
    if _OF_A_PACKET in line:
        found = parse_line(line, LARGEST_FILE)
        if "packet" in found:
            return [(read_fields(fields), True) for fields in packet_fields(found, key_of, reviewer)]
    found = parse_line(line)
    derived = _complete(found, reviewer)
    return [(read_fields(found), derived)]


def _complete(found: dict[str, Any], reviewer: str | None) -> bool:
    """Fill in the reviewer and a reproducible id where a template leaves them open.

    Return whether the line has no id of its own.
    """
    if reviewer is not None and isinstance(found.get("reviewer"), str) and not found["reviewer"].strip():
        found["reviewer"] = reviewer
    if "id" in found or found.get("act") != "score":
        return False
    found["id"] = _id_of(found.get(key) for key in _IDENTITY)
    return True


def _identify(lines: Sequence[_Line], stored: _Stored) -> list[_Line]:
    """Return the lines, those without an id with one that is the same however the time, hash or flag is written.

    A line that an earlier version stored under the id of its fields as they are written keeps that id.
    """
    found = [(line, _identity(line.act) if line.derived else line.act.id) for line in lines]
    earlier = {id: line.act.id for line, id in found if stored.has(line.act)}
    return [_with_id(line, earlier.get(id, id)) for line, id in found]


def _with_id(line: _Line, id: str) -> _Line:
    return line if line.act.id == id else replace(line, act=replace(line.act, id=id))


def _identity(act: Act) -> str:
    """Return an id derived from the reviewer, the answer, the criterion and the time."""
    time = act.order[0].astimezone(UTC)
    at = time.isoformat(timespec="microseconds" if time.microsecond % 1000 else "milliseconds")
    case, model, repeat, criterion, again = act.item or ItemKey("", "", 0, "")
    values = (act.act, act.run, case, model, repeat, criterion, again or None, act.answer, act.reviewer, at)
    return _id_of(values)


def _id_of(values: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()[:32]


def _bind(lines: Sequence[_Line], store: Store, arriving: ArrivingRun | None, bad: list[BadLine]) -> list[_Line]:
    """Return the lines, each bound to the answer that it is about; add lines about no answer to `bad`."""
    loose: dict[str, list[_Line]] = {}
    for line in lines:
        if line.act.answer is None and line.act.scored_item is not None:
            loose.setdefault(line.act.run, []).append(line)
    bound: dict[tuple[str, int], _Line] = {}
    for run_id, of_run in loose.items():
        loose_acts = [line.act for line in of_run]
        if arriving is not None and run_id == arriving.plan.run_id:
            acts = bind_to_results(arriving.results, loose_acts)
        else:
            run, current = read_answers(store, run_id), store.read_answer_hashes(run_id)
            acts = bind_acts(store, run, loose_acts, current)
        for line, act in zip(of_run, acts, strict=True):
            if act.answer is None:
                bad.append(line.refuse(_no_answer(act)))
            bound[line.file, line.number] = replace(line, act=act)
    return [bound.get((line.file, line.number), line) for line in lines]


def _with_own_hashes(
    lines: Sequence[_Line], store: Store, arriving: ArrivingRun | None, stored: _Stored, secrets: Secrets
) -> tuple[list[_Line], frozenset[str]]:
    """Return the lines with the hashes that their answers have here, and the ids of those that name no answer here.

    A key may have been removed from an answer when its run left this machine, or when it arrived here. A line that is
    stored already is about the answer of the stored line.
    """
    named: dict[str, dict[TrialKey, list[int]]] = {}
    for place, line in enumerate(lines):
        if line.act.answer is not None and (item := line.act.scored_item) is not None:
            named.setdefault(line.act.run, {}).setdefault(item.trial, []).append(place)
    found, unmatched = list(lines), set[str]()
    for run_id, places in named.items():
        is_arriving = arriving is not None and run_id == arriving.plan.run_id
        changed = arriving.changed_hashes if arriving is not None and is_arriving else {}
        for trial, result in _results_of(places, run_id, lines, store, arriving if is_arriving else None):
            forms = _AnswerForms(result, secrets)
            for place in places[trial]:
                act = lines[place].act
                answer = forms.find(act, stored.answer_of(act), changed)
                if answer is None:
                    unmatched.add(act.id)
                elif answer != act.answer:
                    found[place] = replace(lines[place], act=replace(act, answer=answer))
    return found, frozenset(unmatched)


def _results_of(
    places: Mapping[TrialKey, Sequence[int]],
    run_id: str,
    lines: Sequence[_Line],
    store: Store,
    arriving: ArrivingRun | None,
) -> Iterator[tuple[TrialKey, TrialResult | None]]:
    """Yield the results of the trials at whose places a line does not simply name the current answer."""
    if arriving is not None:
        yield from ((trial, arriving.results.get(trial)) for trial in places)
        return
    current = store.read_answer_hashes(run_id)
    other = [trial for trial, here in places.items() if any(lines[at].act.answer != current.get(trial) for at in here)]
    for start in range(0, len(other), _AT_ONCE):
        some = other[start : start + _AT_ONCE]
        results = store.read_trials(run_id, some)
        yield from ((trial, results.get(trial)) for trial in some)


class _AnswerForms:
    """The answers of a trial, which lines name by the hashes that they have here or without the known keys."""

    def __init__(self, result: TrialResult | None, secrets: Secrets) -> None:
        self._result, self._secrets = result, secrets
        self._own = {answer_hash(each.steps) for each in result.attempts} if result else set[str]()
        if result is not None and not result.attempts:
            self._own.add(current_answer_hash(result))

    @cached_property
    def _without_keys(self) -> Mapping[str, str]:
        if self._result is None or not self._secrets.values:
            return {}
        hidden = results_without_known_keys([self._result], self._secrets.hide)
        return {new: old for old, new in changed_hashes([self._result], hidden).items()}

    def find(self, act: Act, stored: str | None, changed: Mapping[str, str]) -> str | None:
        """Return the hash here of the answer of an act, None if there is no such answer.

        `stored` is the hash in the stored line of the same id; `changed` are hashes by those in the file.
        """
        assert act.answer is not None
        if act.answer in self._own:
            return act.answer
        answer = changed.get(act.answer)
        return stored or (answer if answer in self._own else None) or self._without_keys.get(act.answer)


def _no_answer(act: Act) -> str:
    item = act.scored_item
    assert item is not None
    whose = f"{_quoted(item.model)} to {_quoted(item.case)}"
    if act.attempt is not None:
        return f"attempt: no attempt {act.attempt} by {whose}; correct it, or identify the answer by its SHA-256"
    fix = "correct the time, or add the SHA-256 of the answer as `answer`"
    return f"scored_at: {act.scored_at} is earlier than any answer by {whose}; {fix}"


def _doubles(lines: Iterable[_Line]) -> list[BadLine]:
    """Return the lines that reuse the id of an earlier line for something else."""
    first: dict[str, _Line] = {}
    bad = []
    for line in lines:
        before = first.setdefault(line.act.id, line)
        whole = joined(before.act, line.act)
        if whole is not None:
            first[line.act.id] = replace(before, act=whole)
        else:
            bad.append(line.refuse(_conflict(line, f"is in {before.file}:{before.number}")))
    return bad


def _strangers(lines: Iterable[_Line], store: Store, arriving: ArrivingRun | None) -> list[BadLine]:
    """Return the lines about runs, trials or criteria that are not stored."""
    by_run: dict[str, list[_Line]] = {}
    for line in lines:
        by_run.setdefault(line.act.run, []).append(line)
    kept = {record.id for record in store.list_runs()}
    bad = []
    for run_id, of_run in by_run.items():
        plan = arriving.plan if arriving is not None and run_id == arriving.plan.run_id else None
        if plan is None and run_id in kept:
            plan = store.read_plan(run_id)
        if plan is not None:
            judge = _Planned(plan)
            bad += [line.refuse(what) for line in of_run if (what := judge.fault_of(line.act))]
        else:
            what = f"unknown run {_quoted(run_id)}; `assay runs --json` lists the run ids"
            bad += [line.refuse(what) for line in of_run]
    return bad


class _Planned:
    """The trials and criteria of a run."""

    def __init__(self, plan: Plan) -> None:
        self._trials = frozenset(plan.trials)
        self._cases = {trial.case for trial in plan.trials}
        self._models = {trial.model for trial in plan.trials}
        self._hints: dict[str, str] = {}
        self._criteria = {case.id: [each.name for each in criteria_of(case)] for case in plan.suite.cases}

    def fault_of(self, act: Act) -> str:
        """Return what the act names that is not in the run, or an empty string."""
        item = act.scored_item
        if item is None:
            return ""
        if item.case not in self._cases:
            return f"case: the run has no case {_quoted(item.case)}. {self._hint(item.case)}".strip()
        if item.model not in self._models:
            return f"model: the run has no model {_quoted(item.model)}; it has {_listed(sorted(self._models))}"
        if item.trial not in self._trials:
            what = f"{_quoted(item.model)} did not run {_quoted(item.case)} a {item.repeat}. time in this run"
            return f"repeat: {what}; correct the repeat (counted from 1)"
        known = self._criteria.get(item.case, [])
        if item.criterion not in known:
            has = f"it has {_listed(known)}" if known else "it has none"
            return f"criterion: the case {_quoted(item.case)} has no criterion {_quoted(item.criterion)}; {has}"
        return ""

    def _hint(self, case: str) -> str:
        # A slow search among thousands of cases, so it runs once: a file of another suite is wrong in every line.
        if case not in self._hints and len(self._hints) < _MOST_HINTS:
            self._hints[case] = did_you_mean(case, self._cases)
        return self._hints.get(case, "")


def _quoted(text: str) -> str:
    return f"`{sanitize_line(text, 80)}`"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(_quoted, names[:6]))
    return f"{shown}, …" if len(names) > 6 else shown
