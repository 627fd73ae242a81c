"""Runs as files: exporting a saved run, and reading an exported one in another place.

A file holds JSON lines, plain or compressed with gzip: first the run with its suite and plan, then a line for each
result, and one for each line of its score files.
"""

import gzip
import hashlib
import io
import itertools
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tui.documents.files import NotRead
from tui.documents.tables import MOST_DATA_FILES
from tui.imports.imported import RUN_FILE_KEY, ImportedRun, ScoreLines
from tui.imports.result_file import MOST_BYTES as MOST_FILE_BYTES
from tui.imports.result_file import MOST_PROBLEMS, MOST_VALUES, MemoryLimit, ResultFile
from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import Problem
from tui.model.results import TrialKey, TrialResult
from tui.model.risk import EXTENTS
from tui.model.run import KeptRun, Plan, RunOptions
from tui.model.sanitize import escape_unseen, sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import LARGEST_INTEGER, Subject, agent_fault
from tui.model.suite import Suite
from tui.model.tools import MOST_TURNS
from tui.model.values import SURROGATE, JsonTooLarge, JsonValue, has_too_many_values, parse_json
from tui.risk.queue import MOST_ITEMS, number_of_items
from tui.risk.score_files import LARGEST_FILE
from tui.risk.score_lines import LineFault, read_fields, write_line
from tui.session.outgoing_runs import changed_hashes
from tui.store import codec

VERSION = 1
MOST_BYTES = 512 << 20
MOST_LINE_BYTES = 64 << 20
MOST_LINE_VALUES = 1_500_000  # of a result: it is in memory three times while it is read
MOST_LINES = 3_000_000
MOST_TRIALS = 1_000_000
_GZIP = b"\x1f\x8b"
_RUN_ID = re.compile("[0-9a-f]{32}")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_STATES = ("running", "finished", "interrupted", "cancelled")
_MOST_AHEAD = timedelta(days=3_650)
_UNUSABLE = re.compile("[\0\ud800-\udfff]")  # in the name of a file and in an argument of a program
_LARGEST_NUMBER = 2**53
_SCORE = '{"score": '
_FIX = "Export the run again with `assay runs export RUN -o FILE`."


def run_lines(kept: KeptRun, scores: str = "") -> Iterator[str]:
    """Yield the lines of an exported run, without line ends and without anything that a terminal would obey.

    `scores` are lines of score files.
    """
    yield from map(escape_unseen, _lines(kept, scores))


def _lines(kept: KeptRun, scores: str) -> Iterator[str]:
    plan, record = kept.plan, kept.record
    yield json.dumps(
        {
            RUN_FILE_KEY: VERSION,
            "id": record.id,
            "state": record.state,
            "started_at": record.started_at,
            "finished_at": record.finished_at,
            "command": plan.command,
            "versions": dict(kept.versions) | {"assay": kept.assay},
            "place": place_in_repository(plan.suite.home / Path(plan.suite.path).name),
            "suite": json.loads(codec.encode_suite(plan.suite)),
            "subjects": json.loads(codec.encode_subjects(plan.subjects)),
            "options": json.loads(codec.encode_options(plan.options)),
            "trials": [list(key) for key in plan.trials],
        }
    )
    for result in kept.results:
        yield f'{{"result": {codec.encode_result(result)}}}'
    for line in scores.splitlines():
        yield f"{_SCORE}{line}}}"


def pack_lines(lines: Iterable[str], *, compressed: bool) -> bytes:
    """Return the lines as the content of a file; the same lines give the same bytes."""
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return gzip.compress(data, 6, mtime=0) if compressed else data


def import_fault(kept: KeptRun, lines: Iterable[str], data: bytes) -> str | None:
    """Return why a run cannot be imported from its lines, packed as `data`, or None."""
    if data.startswith(_GZIP):
        if int.from_bytes(data[-4:], "little") > MOST_BYTES:  # the end of gzip's format
            return f"is larger than {MOST_BYTES >> 20} MiB when decompressed: `assay import` cannot read it"
    elif len(data) > MOST_FILE_BYTES:
        return f"is larger than {MOST_FILE_BYTES >> 20} MiB: `assay import` needs it compressed, as -o FILE.gz"
    limit, score_bytes = MemoryLimit(), 0
    try:
        for number, line in enumerate(lines):
            _check_size(data := line.encode("utf-8", "backslashreplace"))
            if line.startswith(_SCORE) and (score_bytes := score_bytes + len(data)) > LARGEST_FILE:
                raise NotRead(f"has more than {LARGEST_FILE >> 20} MiB of scores")
            if has_too_many_values(line, most := MOST_LINE_VALUES if number else MOST_VALUES):
                raise NotRead(f"has a line of more than {most:,} values")
        for result in kept.results:
            limit.add(result)
        _check_items(kept.plan.suite, kept.results)
    except NotRead as fault:
        return f"{fault}: `assay import` cannot read it"
    return None


def _check_size(line: bytes) -> None:
    if len(line) > MOST_LINE_BYTES:
        raise NotRead(f"has a line of more than {MOST_LINE_BYTES >> 20} MiB")


def _check_items(suite: Suite, results: Iterable[TrialResult]) -> None:
    if number_of_items(suite, (result.trial for result in results)) > MOST_ITEMS:
        raise NotRead(f"has more than {MOST_ITEMS:,} answers to score, each once for each criterion")


def content_of(plan: Plan, results: Iterable[TrialResult]) -> str:
    """Return a digest of what a run contains: the suite without its place, models, options, trials and results."""
    suite = replace(plan.suite, path="", folder="")
    parts = [
        codec.encode_suite(suite),
        codec.encode_subjects(plan.subjects),
        codec.encode_options(plan.options),
        json.dumps(sorted(map(list, plan.trials))),
        *sorted(_digest(codec.encode_result(result)) for result in results),
    ]
    return _digest("\n".join(parts))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def place_in_repository(file: Path) -> str | None:
    """Return the path of a file relative to the git repository that it is in, with `/`; None outside of one."""
    root = _repository_of(file.parent)
    return None if root is None else Path(real_path(file)).relative_to(root).as_posix()


def _repository_of(folder: Path) -> Path | None:
    real = Path(real_path(folder))
    return next((parent for parent in (real, *real.parents) if os.path.exists(parent / ".git")), None)


def find_suite_file(suite: Suite, place: str | None, named: Path | None, here: Path) -> str:
    """Return the path of the file that a suite from elsewhere has on this machine.

    That is the named one, else the file at its recorded path, else the file at the same place of the git repository
    that contains the folder `here`, else the recorded path.
    """
    if named is not None:
        return str(absolute_path(named))
    recorded = suite.home / Path(suite.path).name
    if os.path.isfile(recorded):
        return str(recorded)
    root = _repository_of(here)
    if root is not None and place and not os.path.isabs(place) and ".." not in Path(place).parts:
        found = root / place
        if os.path.isfile(found) and Path(real_path(found)).is_relative_to(root):
            return str(found)
    return str(recorded)


class _Fault(Exception):
    """A line of the file is no part of an exported run; the text says why."""


def read_run_file(path: Path, secrets: Secrets, named: Path | None = None, here: Path | None = None) -> ImportedRun:
    """Read an exported run, with known keys removed.

    `named` is the file of its suite; it is looked for from the folder `here` (default: the current one). Raises
    SuiteError with the invalid lines.
    """
    file = ResultFile(path, _FIX, secrets, "The run cannot be imported")
    problems: list[Problem] = []
    head: Mapping[str, Any] | None = None
    results: list[TrialResult] = []
    changed: dict[str, str] = {}
    scores: dict[int, str] = {}
    limit = MemoryLimit()
    for number, (written, line) in enumerate(_lines_of(file), 1):
        if not line.strip():
            continue
        try:
            value = _object(line, MOST_VALUES if head is None else MOST_LINE_VALUES)
            if head is None:
                head = _head(value)
            elif "result" in value:
                results.append(limit.add(_result(value["result"])))
                changed |= _changed_by_keys(written, line, results[-1])
            elif isinstance(value.get("score"), dict):
                scores[number] = limit.add(_score_line(value["score"], head["id"]))
            else:
                raise _Fault("expected a `result` or a `score`")
        except (_Fault, NotRead) as fault:
            problems.append(file.problem(str(fault), "", number))
            if isinstance(fault, NotRead) or head is None or len(problems) >= MOST_PROBLEMS:
                break
    if head is None and not problems:
        problems.append(file.problem("is empty"))
    run: ImportedRun | None = None
    if head is not None and not problems:
        try:
            run = _run_of(head, results, _score_lines(path, scores), named, here or absolute_path("."))
        except (_Fault, NotRead) as fault:
            problems.append(file.problem(str(fault), "run"))
    if run is None:
        raise file.refusal(problems)
    return replace(run, changed_hashes=changed)


def _lines_of(file: ResultFile) -> Iterator[tuple[str, str]]:
    """Yield the lines of the file as they are written and without known keys; only one is in memory.

    Raises SuiteError.
    """
    data = file.read()
    is_compressed = data.startswith(_GZIP)
    size = count = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) if is_compressed else io.BytesIO(data) as source:
            while line := source.readline(MOST_LINE_BYTES + 1):
                size, count = size + len(line), count + 1
                _check_size(line)
                if count > MOST_LINES:
                    raise NotRead(f"has more than {MOST_LINES:,} lines")
                if size > MOST_BYTES:
                    raise NotRead(f"is larger than {MOST_BYTES >> 20} MiB when decompressed")
                yield file.text(line), file.json_text(line)
    except NotRead as error:
        raise file.refusal([file.problem(str(error))]) from error
    except (OSError, EOFError, zlib.error) as error:
        raise file.refusal([file.problem("is damaged: it cannot be decompressed")]) from error


def _object(line: str, most_values: int) -> Mapping[str, Any]:
    try:
        value = parse_json(line, _decode, most_values)
    except JsonTooLarge as limit:
        raise _Fault(str(limit)) from limit
    except ValueError as error:
        raise _Fault(f"is no JSON object ({error})") from error
    if not isinstance(value, dict):
        raise _Fault("is no JSON object")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(digits)


_decode = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite).decode


def _head(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value.get(RUN_FILE_KEY) != VERSION:
        what = "is not the beginning of an exported run"
        raise _Fault(f"{what} of version {VERSION}; a newer version of Assay may read it")
    if not isinstance(value.get("id"), str) or not _RUN_ID.fullmatch(value["id"]):
        raise _Fault("id: expected 32 hexadecimal digits")
    # Its first digits are a time that sorts runs. It may be in the future, after a run with a clock that was ahead. The
    # ids of later runs here follow it, and can be imported in turn: this limit moves with the clock.
    if int(value["id"][:12], 16) > (datetime.now(UTC) + _MOST_AHEAD).timestamp() * 1000:
        raise _Fault(f"id: {value['id']} is not one of Assay")
    if value.get("state") not in _STATES:
        raise _Fault(f"state: expected one of {', '.join(_STATES)}")
    for key in ("started_at", "finished_at"):
        if key == "started_at" or value.get(key) is not None:
            _check_time(key, value.get(key))
    trials = value.get("trials")
    if not isinstance(trials, list) or len(trials) > MOST_TRIALS or not all(map(_is_trial, trials)):
        raise _Fault(f"trials: expected at most {MOST_TRIALS:,} lists of case, model and repeat")
    return value


def _check_time(key: str, value: object) -> None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None or not _EARLIEST <= moment <= datetime.now(UTC) + timedelta(days=1):
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise _Fault(f"{key}: expected a time with a zone, between 2000 and tomorrow") from None


def _is_trial(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], str)
        and isinstance(value[2], int)
        and 1 <= value[2] <= MOST_TRIALS
    )


def _result(value: object) -> TrialResult:
    try:
        result = codec.decode_result(json.dumps(value))
    except (ValueError, RecursionError) as error:
        raise _Fault(f"result: {_first_line(error)}") from error
    if field := _field_out_of_range(result, _is_measure):
        raise _Fault(f"result: {field}: expected a number from 0 to {_LARGEST_NUMBER:,}")
    return result


def _changed_by_keys(written: str, line: str, result: TrialResult) -> dict[str, str]:
    """Return the hashes of a result's answers from which a key was removed, by those of the answers as written."""
    if written == line:
        return {}
    return changed_hashes([_result(_object(written, MOST_LINE_VALUES).get("result"))], [result])


def _score_line(score: Mapping[str, Any], run_id: str) -> str:
    """Return the line of a score file with what the score says: it can be written, and names no other run."""
    if score.get("run") != run_id:
        raise _Fault("score: expected a score of this run")
    try:
        return write_line(read_fields(score)).removesuffix("\n")
    except LineFault as fault:
        raise _Fault(f"score: {fault}") from fault


def _score_lines(file: Path, lines: Mapping[int, str]) -> ScoreLines | None:
    gaps = (number - before - 1 for before, number in itertools.pairwise((0, *lines)))
    text = "".join("\n" * gap + line + "\n" for gap, line in zip(gaps, lines.values(), strict=True))
    return ScoreLines(file, text) if lines else None


def _field_out_of_range(value: object, is_valid: Callable[[float], bool], name: str = "") -> str | None:
    """Return the name of the first field with a number that is not valid.

    Values of JSON, such as an agent's memory or what a check expects, may contain any number.
    """
    if isinstance(value, int | float):
        return None if is_valid(value) else name
    if is_dataclass(value):
        inside = ((getattr(value, field.name), field.name) for field in fields(value) if field.type is not JsonValue)
    elif isinstance(value, tuple):
        inside = ((item, name) for item in value)
    else:
        return None
    return next((field for item, key in inside if (field := _field_out_of_range(item, is_valid, key))), None)


def _is_measure(number: float) -> bool:
    return 0 <= number <= _LARGEST_NUMBER


def _is_option(number: float) -> bool:
    return -_LARGEST_NUMBER <= number <= _LARGEST_NUMBER


def _is_setting(number: float) -> bool:
    """Return whether a number may be one of a suite or of a model: a seed has 63 bits, a threshold any finite value."""
    return abs(number) <= LARGEST_INTEGER if isinstance(number, int) else math.isfinite(number)


def _first_line(error: Exception) -> str:
    """Return the first error that pydantic found, with its place, on one line."""
    line = " ".join(" ".join(str(error).split("\n")[1:3] or [str(error)]).split())
    return line.partition(" [type=")[0] or type(error).__name__


def _fault_of_suite(suite: Suite) -> str | None:
    """Return what the rules of suite files forbid and what the system cannot take, or None."""
    if bad := next((case.id for case in suite.cases if not case.steps), None):
        return f"the case {sanitize_line(bad, 80)} has no step"
    if not _may_be_file(file := f"{suite.folder}{suite.path}"):
        return f"path: no file can have it: {_shown(file)}"
    if len(suite.data_files) > MOST_DATA_FILES:
        return f"data_files: expected at most {MOST_DATA_FILES:,} data files, found {len(suite.data_files):,}"
    if len(suite.risk_guidance) not in (0, len(EXTENTS)):
        return f"risk_guidance: expected {len(EXTENTS)} lines, found {len(suite.risk_guidance):,}"
    if any(case.min_pass_rate is not None and not 0 < case.min_pass_rate <= 1 for case in suite.cases):
        return "min_pass_rate: expected a number above 0, up to 1"
    for name, least, number, most in _ranges(suite):
        if not least <= number <= most:
            return f"{name}: expected a number from {least:,} to {most:,}, found {number:,}"
    texts: list[object] = [suite.agent, suite.agent_python, *suite.data_files]
    if context := suite.repository_context:
        texts += (context.path, *context.include_files, *(context.exclude_files or ()))
    for case in suite.cases:
        texts += (case.target_file, case.command and case.command.run, *(each.file_path for each in case.code_context))
        words = (check.expected for step in case.steps for check in step.checks if check.kind == "assert.command")
        texts += (word for each in words if isinstance(each, list) for word in each)
    faulty = (text for text in texts if text and (not isinstance(text, str) or _UNUSABLE.search(text)))
    found = next(faulty, None)
    return None if found is None else f"a path or a command contains NUL or half of a surrogate pair: {_shown(found)}"


def _ranges(suite: Suite) -> Iterator[tuple[str, int, int, int]]:
    """Yield the name of each whole number of a suite, the least that a file may have, the number, and the most."""
    options, context, clone, most = suite.options, suite.repository_context, suite.repo_clone, _LARGEST_NUMBER
    yield "options: timeout_ms", 1, options.timeout_ms, most
    yield "options: attempts", 0, options.attempts, most
    yield "options: delay_ms", 0, options.delay_ms, most
    if context is not None:
        yield "repository_context: max_files", 1, context.max_files, most
        yield "repository_context: max_file_size_bytes", 1, context.max_file_size_bytes, most
    if clone is not None:
        yield "repo_clone: depth", 1, clone.depth, most
    for case in suite.cases:
        yield "max_turns", 1, case.max_turns, MOST_TURNS
        if case.command is not None:
            yield "command: timeout_ms", 1, case.command.timeout_ms, most
        for lines in (each.line_range for each in case.code_context if each.line_range is not None):
            yield "line_range: start", 1, lines.start, most
            yield "line_range: end", 1, lines.end, most


def _may_be_file(path: str) -> bool:
    """Return whether the system can take a path; names that are not UTF-8 contain some halves of surrogate pairs."""
    try:
        return "\0" not in path and bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False


def _shown(text: object) -> str:
    return sanitize_line(str(text), 80)


def _fault_of_options(options: RunOptions) -> str | None:
    least = {"timeout_ms": 1, "attempts": 1, "concurrency": 1, "repeats": 1, "delay_ms": 0}
    for name, number in least.items():
        if getattr(options, name) < number:
            return f"{name}: expected a number from {number}"
    return None if options.replay_speed is None or options.replay_speed > 0 else "replay_speed: expected more than 0"


def _check_trials(
    trials: Sequence[TrialKey], suite: Suite, subjects: Sequence[Subject], results: Iterable[TrialResult]
) -> None:
    """Refuse trials and results that appear twice or belong to no case and model of the run."""
    known, seen = set(trials), set[TrialKey]()
    cases, models = {case.id for case in suite.cases}, {subject.name for subject in subjects}
    if len(known) < len(trials):
        raise _Fault("trials: a trial is listed twice")
    # The history cannot store such a name: it would no longer be that of the suite.
    if half := next((key for key in trials if SURROGATE.search(f"{key.case} {key.model}")), None):
        raise _Fault(f"trials: {half.case} · {half.model} contains half of a surrogate pair")
    if strange := next((key for key in trials if key.case not in cases or key.model not in models), None):
        raise _Fault(f"trials: {strange.case} · {strange.model} is no case and model of the run")
    for result in results:
        if result.trial not in known or result.trial in seen:
            which = f"{result.trial.case} · {result.trial.model} · repeat {result.trial.repeat}"
            raise _Fault(f"result: {which} {'appears twice' if result.trial in seen else 'is no trial of the run'}")
        seen.add(result.trial)


def _run_of(
    head: Mapping[str, Any], results: list[TrialResult], scores: ScoreLines | None, named: Path | None, here: Path
) -> ImportedRun:
    try:
        suite = codec.decode_suite(json.dumps(head.get("suite")))
        subjects = codec.decode_subjects(json.dumps(head.get("subjects")))
        options = codec.decode_options(json.dumps(head.get("options")))
        versions = codec.decode_versions(json.dumps(head.get("versions") or {}))
    except (ValueError, RecursionError) as error:
        raise _Fault(f"the run itself is invalid: {_first_line(error)}") from error
    if field := _field_out_of_range((suite, subjects), _is_setting):
        what = f"a finite number, and a whole one up to {LARGEST_INTEGER:,}"
        raise _Fault(f"the run itself is invalid: {field}: expected {what}")
    if field := _field_out_of_range(options, _is_option):
        raise _Fault(f"the run itself is invalid: {field}: expected a number up to {_LARGEST_NUMBER:,}")
    if fault := _fault_of_suite(suite):
        raise _Fault(f"suite: {fault}")
    if fault := _fault_of_options(options):
        raise _Fault(f"options: {fault}")
    trials = tuple(TrialKey(*each) for each in head["trials"])
    _check_trials(trials, suite, subjects, results)
    _check_items(suite, results)
    agents = (each for each in subjects if each.provider == "agent")
    if fault := next(filter(None, (agent_fault(each.model_id, each.python) for each in agents)), ""):
        raise _Fault(f"subjects: {fault}")
    state = head["state"]
    if state == "running" or (state == "finished" and len(results) < len(trials)):
        state = "interrupted"
    place = head.get("place")
    file = find_suite_file(suite, place if isinstance(place, str) else None, named, here)
    command = head.get("command")
    plan = Plan(
        head["id"],
        replace(suite, path=file, folder=""),
        subjects,
        options,
        trials,
        command if isinstance(command, str) else "",
    )
    finished = head.get("finished_at") or head["started_at"]
    return ImportedRun(
        plan, tuple(results), head["started_at"], finished, (), state, versions, scores, is_exported=True
    )
