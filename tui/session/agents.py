"""An agent as it was written on the command line or in a suite, as a Subject."""

from pathlib import Path

from tui.model.errors import ConfigError
from tui.model.subjects import Subject

_REMOTE = ("http://", "https://")
_COMMAND = "cmd:"


def agent_subject(written: str, folder: Path) -> Subject:
    """`FILE.py` (relative to the folder), `cmd:COMMAND ARG…` or `http://…`. Raises ConfigError for a file that is not
    there and for anything else."""
    if written.startswith(_REMOTE):
        return Subject(written, "agent", written, how="an agent's HTTP endpoint")
    if written.startswith(_COMMAND):
        if not written.removeprefix(_COMMAND).strip():
            raise ConfigError("An agent's command is empty", fix="Write cmd:COMMAND ARG….")
        return Subject(written, "agent", written, how="an agent's command")
    file = folder / written
    if file.suffix != ".py":
        raise ConfigError(f"{written} is no agent", fix="Write FILE.py, 'cmd:COMMAND ARG…' or http://….")
    if not file.is_file():
        raise ConfigError("There is no such agent file", where=str(file), fix="Check --agent or the suite's agent:.")
    return Subject(written, "agent", str(file.resolve()), how="an agent's Python file")
