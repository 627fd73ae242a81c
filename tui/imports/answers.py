"""Plain answers in CSV or JSON lines: one row for each answer, with its case and its model."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.documents.files import numbered_lines
from tui.imports.assertions import overall_criteria
from tui.imports.result_file import MOST_PROBLEMS, ResultFile, replace_half_characters
from tui.model.errors import Problem
from tui.model.results import MOST_TOKENS, Usage
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets, hide_number
from tui.model.suite import Case, Step
from tui.model.values import JsonTooLarge, first_repeated, parse_json

_LONGEST_ANSWER = 16 << 20
_LONGEST_NAME = 200
_MOST_COLUMNS = 10_000
_MOST_REPEATS = 1_000_000
_LONGEST_MS = 86_400_000.0
_REQUIRED = ("case", "model", "answer")
_NUMBERS = ("repeat", "input_tokens", "output_tokens", "duration_ms")
_OPTIONAL = ("repeat", "prompt", "category", *_NUMBERS[1:])
COLUMNS = frozenset((*_REQUIRED, *_OPTIONAL))
_DIGITS = re.compile(r"[0-9]{1,16}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)
_FIX = f"Each row needs {', '.join(_REQUIRED)}; optional are {', '.join(_OPTIONAL)}."


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """One answer of a file and the line that it begins on; texts that are not given are empty."""

    line: int
    case: str
    model: str
    repeat: int
    answer: str
    prompt: str = ""
    category: str = ""
    usage: Usage = field(default_factory=Usage)
    duration_ms: float = 0.0


class _RowFaultError(Exception):
    """A row is no answer; the text says why."""


Row = tuple[int, Mapping[str, Any]]


def answer_file(path: Path, secrets: Secrets | None = None) -> ResultFile:
    """Return a file of plain answers for `read_answers`."""
    return ResultFile(path, _FIX, secrets, "The answers cannot be imported")


def read_answers(file: ResultFile, content: bytes, *, lines: bool) -> tuple[PlainAnswer, ...]:
    """Return the answers in the content of a file of JSON lines, or of CSV, with known keys removed.

    An answer without a `repeat` is the next one of its case and model. Raises SuiteError with every problem found.
    """
    problems: list[Problem] = []
    answers: list[PlainAnswer] = []
    first: dict[tuple[str, str, int], int] = {}
    counts: dict[tuple[str, str], int] = {}
    try:
        for line, row in _json_rows(content, file, problems) if lines else _csv_rows(content, file, problems):
            try:
                answer = _answer(line, row, counts)
                place = (answer.case, answer.model, answer.repeat)
                if place in first:
                    what = f"repeat {answer.repeat} of this case and model is on line {first[place]} already"
                    raise _RowFaultError(what)
                first[place] = line
                answers.append(answer)
            except _RowFaultError as fault:
                problems.append(file.problem(str(fault), "", line))
            if len(problems) >= MOST_PROBLEMS:
                break
    except _RowFaultError as fault:
        problems.append(file.problem(str(fault), "", 1))
    except csv.Error as error:
        problems.append(file.problem(f"is no valid CSV ({error})", ""))
    if not answers and not problems:
        problems.append(file.problem("has no row", ""))
    if problems:
        raise file.refusal(problems)
    return tuple(answers)


def cases_of(answers: tuple[PlainAnswer, ...]) -> tuple[Case, ...]:
    """Return a case without checks for each case that answers name, with their first prompt and category."""
    found: dict[str, Case] = {}
    for answer in answers:
        if answer.case not in found:
            step = Step(answer.prompt)
            category = answer.category or "Imported"
            found[answer.case] = Case(answer.case, answer.case, category, (step,), risk_criteria=overall_criteria())
    return tuple(found.values())


def _json_rows(content: bytes, file: ResultFile, problems: list[Problem]) -> Iterator[Row]:
    for number, line in numbered_lines(content):
        if len(problems) >= MOST_PROBLEMS:
            return
        text = replace_half_characters(file.json_text(line))
        try:
            value = parse_json(text, _decode)
        except JsonTooLarge as limit:
            problems.append(file.problem(str(limit), "", number))
            continue
        except ValueError as error:
            problems.append(file.problem(f"is no JSON object ({error})", "", number))
            continue
        if not isinstance(value, dict):
            problems.append(file.problem("is no JSON object", "", number))
            continue
        named = {key: value[key] for key in _REQUIRED if isinstance(value.get(key), int)}  # a number becomes a text
        yield number, value | {key: hide_number(name, file.hide) for key, name in named.items()}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _csv_rows(content: bytes, file: ResultFile, problems: list[Problem]) -> Iterator[Row]:
    text = file.text(content)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    if head.count(delimiter) >= _MOST_COLUMNS:
        raise _RowFaultError(f"has more than {_MOST_COLUMNS:,} columns")
    csv.field_size_limit(_LONGEST_ANSWER)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    names = [file.hide(name).strip().lower() for name in next(reader, [])]
    if missing := [name for name in _REQUIRED if name not in names]:
        raise _RowFaultError(f"the column {missing[0]} is missing")
    if twice := first_repeated(filter(None, names)):
        raise _RowFaultError(f"the column {twice} appears twice")
    line = reader.line_num
    for values in reader:
        begin, line = line + 1, reader.line_num
        if len(problems) >= MOST_PROBLEMS:
            return
        if not values:
            continue
        if len(values) != len(names):
            what = f"has {len(values)} cells, the first row has {len(names)}"
            problems.append(file.problem(what, "", begin))
            continue
        row = zip(names, values, strict=True)
        yield (
            begin,
            {
                key: value if key in _NUMBERS else file.hide(value)
                for key, value in row
                if value != "" or key in _REQUIRED
            },
        )


def _answer(line: int, row: Mapping[str, Any], counts: dict[tuple[str, str], int]) -> PlainAnswer:
    case, model = (_name(row, key) for key in ("case", "model"))
    answer = _text(row, "answer")
    counts[case, model] = counts.get((case, model), 0) + 1
    repeat = _number(row, "repeat", _MOST_REPEATS)
    if repeat == 0:
        raise _RowFaultError("repeat: expected a whole number from 1")
    if "answer" not in row:
        raise _RowFaultError("answer: is missing")
    return PlainAnswer(
        line,
        case,
        model,
        counts[case, model] if repeat is None else repeat,
        answer,
        _text(row, "prompt"),
        sanitize_line(_text(row, "category"), _LONGEST_NAME),
        Usage(_number(row, "input_tokens", MOST_TOKENS), _number(row, "output_tokens", MOST_TOKENS)),
        _duration(row),
    )


def _name(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    # Spreadsheets and other tools write ids as numbers.
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15 else value
    if not isinstance(text, str) or not text.strip():
        raise _RowFaultError(f"{key}: {'is missing' if text in (None, '') else 'expected text'}")
    if len(text) > _LONGEST_NAME or not text.strip().isprintable():
        raise _RowFaultError(f"{key}: expected at most {_LONGEST_NAME} characters without control characters")
    return text.strip()


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _RowFaultError(f"{key}: expected text")
    if len(value) > _LONGEST_ANSWER:
        raise _RowFaultError(f"{key}: is longer than {_LONGEST_ANSWER:,} characters")
    return value


def _number(row: Mapping[str, Any], key: str, most: int) -> int | None:
    value = row.get(key)
    if value is None:
        return None
    number = int(value.strip()) if isinstance(value, str) and _DIGITS.fullmatch(value.strip()) else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise _RowFaultError(f"{key}: expected a whole number of at most {most:,}")
    return number


def _duration(row: Mapping[str, Any]) -> float:
    value = row.get("duration_ms")
    if value is None:
        return 0.0
    number = float(value.strip()) if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()) else value
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number <= _LONGEST_MS:
        raise _RowFaultError("duration_ms: expected milliseconds, at most a day")
    return float(number)
