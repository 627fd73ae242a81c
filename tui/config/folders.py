"""The folders of Assay: those of the platform, or those set in the environment.

`ASSAY_CONFIG_DIR`, `ASSAY_DATA_DIR` and `ASSAY_CACHE_DIR` each replace one folder.
"""

import contextlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import ConfigError
from tui.model.sanitize import sanitize_line

CONFIG_FILE = "config.yaml"
PROJECT_FILE = ".assay.yaml"
MOST_CONFIG_BYTES = 256 * 1024
_DATA_ENTRY = re.compile(
    r"\.?(runs|consents|preferences|reviewer|chosen-models|pane-sizes|filters)(\..*)?|scores|packets|baselines|crashes",
    re.DOTALL,
)


_OWN_ENTRY = re.compile(
    r"runs(\.search)?\.sqlite.*|(consents|chosen-models|pane-sizes|filters)\.json|preferences\.jsonl|reviewer"
    r"|scores|packets|baselines|crashes",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of Assay, which may not exist.

    `config` contains config.yaml and themes, `data` the run history, `cache` data that can be recreated.
    """

    config: Path
    data: Path
    cache: Path

    @property
    def themes(self) -> Path:
        """The folder of the user's own themes."""
        return self.config / "themes"

    @property
    def config_file(self) -> Path:
        """The path of the user's config file."""
        return self.config / CONFIG_FILE

    def refuse_own(self, file: Path, fix: str) -> None:
        """Raise ConfigError for a path of Assay's own, also of a file that it may create: no report may replace it."""
        if self._has_own(file):
            raise ConfigError("Is a file in which Assay keeps its own data", where=str(file), fix=fix)

    def _has_own(self, file: Path) -> bool:
        way, data = Path(real_path(file)), Path(real_path(self.data))
        if way == Path(real_path(self.config_file)):
            return True
        return way != data and way.is_relative_to(data) and bool(_OWN_ENTRY.fullmatch(way.relative_to(data).parts[0]))


def find_folders(environ: Mapping[str, str]) -> Folders:
    """Return the folders for the current user. Nothing is created.

    Raises ConfigError for a path that is not UTF-8, and if a home folder is needed that does not exist.
    """
    return Folders(
        config=_folder(environ, "ASSAY_CONFIG_DIR", "user_config_path"),
        data=_folder(environ, "ASSAY_DATA_DIR", "user_data_path"),
        cache=_folder(environ, "ASSAY_CACHE_DIR", "user_cache_path"),
    )


def find_project_file() -> Path | None:
    """Return the path of the nearest `.assay.yaml` in the current folder and its parents, or None.

    The search ends at the root of the git repository or at the home folder, whichever is first; outside of both, only
    the current folder is searched: the parents may be writable for others.
    """
    try:
        start = Path.cwd()
    except OSError:  # the folder was deleted
        return None
    home = real_path(os.path.expanduser("~"))
    folders = (start, *start.parents)
    ends = (at for at, folder in enumerate(folders) if str(folder) == home or os.path.lexists(folder / ".git"))
    found = (folder / PROJECT_FILE for folder in folders[: next(ends, 0) + 1])
    return next((file for file in found if os.path.lexists(file)), None)


def make_private(data: Path) -> None:
    """Deny other users an existing data folder, which an earlier version or the user created with another mode.

    A folder that holds anything but Assay's files, or belongs to another user, keeps its mode: `ASSAY_DATA_DIR` may
    name a folder that has other uses.
    """
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        found = data.stat()
        shared = found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        if shared and found.st_uid == os.geteuid() and all(map(_DATA_ENTRY.fullmatch, os.listdir(data))):
            data.chmod(stat.S_IMODE(found.st_mode) & stat.S_IRWXU)


def _folder(environ: Mapping[str, str], variable: str, platform: str) -> Path:
    given = environ.get(variable, "").strip()
    try:
        if given:
            found = absolute_path(Path(given).expanduser())
        else:
            import platformdirs

            found = getattr(platformdirs, platform)("assay", appauthor=False)
        str(found).encode()
    except UnicodeEncodeError as error:
        shown = sanitize_line(os.fsencode(found).decode(errors="replace"))
        raise ConfigError(f"The path {shown} is not UTF-8", fix=f"Set {variable} to another path.") from error
    except RuntimeError as error:
        user = sanitize_line(given.partition("/")[0])
        if user not in ("", "~"):
            raise ConfigError(f"{variable}: {user} has no home folder", fix="Set it to another path.") from error
        raise ConfigError("The user has no home folder", fix=f"Set HOME or {variable}.") from error
    return found
