"""Keys of packets: which answer each opaque id of a blind reviewer's packet belongs to."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.documents.files import read_whole
from tui.model.errors import StoreError
from tui.model.results import TrialKey
from tui.risk.score_files import make_folder, replace_file

_ID = re.compile("[0-9a-f]{32}")
_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class PacketAnswer:
    """The trial of an answer, its hash, how many names are masked in it, and the digest of the texts in the packet.

    The digest is empty in the keys of earlier versions.
    """

    trial: TrialKey
    answer: str
    masked: int = 0
    texts: str = ""


@dataclass(frozen=True, slots=True)
class PacketKey:
    """What a packet leaves out: run, guidance version, creation time (ISO 8601 with zone), the answer of each id."""

    id: str
    run: str
    made_at: str
    guidance: str
    answers: Mapping[str, PacketAnswer]


class PacketKeys:
    """The files `<folder>/<packet id>.json`, readable by the owner only. Methods raise StoreError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, key: PacketKey) -> None:
        """Write a key; it is on disk when this returns."""
        answers = {id: [*of.trial, of.answer, of.masked, of.texts] for id, of in key.answers.items()}
        fields = {"version": 1, "run": key.run, "made_at": key.made_at, "guidance": key.guidance, "answers": answers}
        with self._store_errors("cannot be saved"):
            make_folder(self._folder)
            replace_file(self._file(key.id), json.dumps(fields).encode())

    def read(self, packet: str) -> PacketKey | None:
        """Return the key of a packet, or None if it was not made here."""
        if not _ID.fullmatch(packet) or not self._file(packet).is_file():
            return None
        with self._store_errors("cannot be read"):
            found: dict[str, Any] = json.loads(read_whole(self._file(packet), _MOST_BYTES))
            answers = {
                id: PacketAnswer(TrialKey(case, model, repeat), answer, masked, *texts)
                for id, (case, model, repeat, answer, masked, *texts) in found["answers"].items()
            }
            return PacketKey(packet, found["run"], found["made_at"], found["guidance"], answers)

    def remove(self, run_id: str) -> None:
        """Delete the packets of a run: scores from them can no longer be imported. Damaged packets of any run stay."""
        with self._store_errors("cannot be removed"):
            for file in sorted(self._folder.glob("*.json")) if self._folder.is_dir() else ():
                with suppress(StoreError):
                    key = self.read(file.stem)
                    if key is not None and key.run == run_id:
                        file.unlink()

    def _file(self, packet: str) -> Path:
        return self._folder / f"{packet}.json"

    @contextmanager
    def _store_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            fix = "Free disk space or fix the permissions of the folder, then try again."
            raise StoreError(
                f"The key of a packet {what} ({error.strerror})", where=str(self._folder), fix=fix
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            fix = "Create a new packet with 'assay review packet'."
            raise StoreError("The key of a packet is damaged", where=str(self._folder), fix=fix) from error
