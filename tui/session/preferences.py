"""Pairwise preferences: which of two answers a user preferred, an append-only file with a JSON object per line."""

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeGuard

from tui.documents.files import read_whole
from tui.model.errors import StoreError

Choice = Literal["a", "b", "tie", "both_bad"]
_CHOICES = ("a", "b", "tie", "both_bad")
_LARGEST_NUMBER = 2**53
_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """An answer by run, model, repeat and attempt; repeat and attempt count from 1.

    `answer` is the hash of its text (`tui.model.scores.answer_hash`), empty if it was not recorded. Places are equal
    whatever it is: a rerun of errors puts another answer in the same place.
    """

    run: str
    model: str
    repeat: int
    attempt: int
    answer: str = field(default="", compare=False)

    def is_same_answer(self, other: "AnswerPlace") -> bool:
        """Return whether both are the same answer: the same place and, as far as recorded, the same text."""
        return self == other and (not self.answer or not other.answer or self.answer == other.answer)


@dataclass(frozen=True, slots=True)
class Preferred:
    """One choice between two answers.

    `suite` is the path of the suite's file, absolute in a stored choice (in those of earlier versions as it was typed).
    `swapped` says that `b` was shown first, `seed` what decided the order (None if nothing did); `reviewer` is who
    chose, empty if unknown.
    """

    suite: str
    case: str
    a: AnswerPlace
    b: AnswerPlace
    choice: Choice
    blind: bool = False
    swapped: bool = False
    seed: int | None = None
    at: str = ""
    reviewer: str = ""

    def is_between(self, a: AnswerPlace, b: AnswerPlace) -> bool:
        """Return whether this is a choice between these two answers, on these sides."""
        return self.a.is_same_answer(a) and self.b.is_same_answer(b)


class PreferenceLog:
    """The file of all choices.

    A line is `{"version": 1, "act": "prefer", "id", "suite", "case", "a": {"run", "model", "repeat", "attempt",
    "answer"}, "b": {…}, "choice": "a|b|tie|both_bad", "blind", "swapped", "seed", "at", "reviewer"}`. A changed choice
    is a new line; the last line of a reviewer about the same two places counts. Lines of earlier versions have no
    reviewer, or no hashes of the answers.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def append(self, preferred: Preferred) -> None:
        """Append a choice and flush it to disk. Raises StoreError."""
        line = json.dumps(_written(preferred)) + "\n"
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                # A line that was truncated by a crash must not merge with this one.
                size = os.fstat(descriptor).st_size
                broken = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                _write_all(descriptor, (("\n" if broken else "") + line).encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"Cannot save the preference ({error.strerror})", where=str(self._file)) from error

    def read(self) -> tuple[Preferred, ...]:
        """Return all choices in file order; skip lines that are not valid. Raises StoreError."""
        try:
            text = read_whole(self._file, _MOST_BYTES).decode(errors="replace")
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"Cannot read the preferences ({error.strerror})", where=str(self._file)) from error
        return tuple(found for line in text.split("\n") if (found := _read(line)) is not None)


def latest(preferred: Iterable[Preferred]) -> tuple[Preferred, ...]:
    """Return each reviewer's last choice between the same two answers to a case, whichever of them was `a`."""
    return tuple({(each.case, each.reviewer, frozenset((each.a, each.b))): each for each in preferred}.values())


def swap_sides(preferred: Preferred) -> Preferred:
    """Return the same choice with `a` and `b` swapped."""
    choice: Choice = "b" if preferred.choice == "a" else "a" if preferred.choice == "b" else preferred.choice
    return replace(preferred, a=preferred.b, b=preferred.a, choice=choice, swapped=not preferred.swapped)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _written(preferred: Preferred) -> dict[str, object]:
    return {
        "version": 1,
        "act": "prefer",
        "id": secrets.token_hex(16),
        "suite": preferred.suite,
        "case": preferred.case,
        "a": _place(preferred.a),
        "b": _place(preferred.b),
        "choice": preferred.choice,
        "blind": preferred.blind,
        "swapped": preferred.swapped,
        "seed": preferred.seed,
        "at": preferred.at or datetime.now(UTC).isoformat(timespec="milliseconds"),
        "reviewer": preferred.reviewer,
    }


def _place(place: AnswerPlace) -> dict[str, object]:
    written = {"run": place.run, "model": place.model, "repeat": place.repeat, "attempt": place.attempt}
    return {**written, "answer": place.answer} if place.answer else written


def _read(line: str) -> Preferred | None:
    try:
        found = json.loads(line)
        seed = found["seed"]
        if found["act"] != "prefer" or found["choice"] not in _CHOICES or not (seed is None or _is_number(seed)):
            return None
        return Preferred(
            str(found["suite"]), str(found["case"]), _read_place(found["a"]), _read_place(found["b"]), found["choice"],
            bool(found["blind"]), bool(found["swapped"]), seed, str(found["at"]), str(found.get("reviewer") or ""),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _read_place(found: dict[str, object]) -> AnswerPlace:
    run, model, answer = found["run"], found["model"], found.get("answer", "")
    repeat, attempt = found["repeat"], found["attempt"]
    if not (isinstance(run, str) and isinstance(model, str) and isinstance(answer, str)):
        raise TypeError("a string has another type")
    if not (_is_number(repeat) and _is_number(attempt)):
        raise ValueError("a number has another type")
    return AnswerPlace(run, model, repeat, attempt, answer)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_NUMBER
