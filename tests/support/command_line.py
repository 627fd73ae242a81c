"""Run `assay` as a shell does: in its own process, with its own folders and without API keys."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.command_server import command_server


@dataclass(frozen=True)
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class CommandLine:
    """The command `assay` with all of its folders below `home`."""

    home: Path

    def environ(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "SYSTEMROOT")}
        folders = {name: str(self.home / name.lower()) for name in ("ASSAY_CONFIG_DIR", "ASSAY_DATA_DIR")}
        return {**kept, **folders, "ASSAY_CACHE_DIR": str(self.home / "cache"), **(extra or {})}

    def start(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
        before: Sequence[str] = (),
    ) -> subprocess.Popen[str]:
        """Start the command in `folder`, by default in the home, by the command `before`, such as `nice`."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "tui", *args],
            cwd=folder or self.home,
            env=self.environ(env) | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def run(self, *args: str, env: Mapping[str, str] | None = None, folder: Path | None = None) -> Ran:
        """Run the command to its end, in a process that has imported `tui` unless Python itself is told something."""
        if any(name.startswith("PYTHON") for name in env or ()):
            process = self.start(*args, env=env, folder=folder)
            out, err = process.communicate(timeout=120)
            return Ran(process.returncode, out, err)
        return Ran(*command_server().run(args, self.environ(env), folder or self.home))

    async def run_async(self, *args: str, env: Mapping[str, str] | None = None, folder: Path | None = None) -> Ran:
        """Run the command to its end while the servers of this event loop keep running."""
        return await asyncio.to_thread(self.run, *args, env=env, folder=folder)
