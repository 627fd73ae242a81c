"""Where Assay keeps things: the platform's folders, or those that the environment names.

`ASSAY_CONFIG_DIR`, `ASSAY_DATA_DIR` and `ASSAY_CACHE_DIR` each replace one folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG_FILE = "config.yaml"


@dataclass(frozen=True, slots=True)
class Folders:
    """`config` holds config.yaml and themes, `data` the run history, `cache` what can be made again. None needs to
    exist."""

    config: Path
    data: Path
    cache: Path

    @property
    def themes(self) -> Path:
        """Where a person's own themes are."""
        return self.config / "themes"

    @property
    def config_file(self) -> Path:
        """The person's config file."""
        return self.config / CONFIG_FILE


def find_folders(environ: Mapping[str, str]) -> Folders:
    """The folders for this person. Nothing is created."""
    return Folders(
        config=_folder(environ, "ASSAY_CONFIG_DIR", "user_config_path"),
        data=_folder(environ, "ASSAY_DATA_DIR", "user_data_path"),
        cache=_folder(environ, "ASSAY_CACHE_DIR", "user_cache_path"),
    )


def _folder(environ: Mapping[str, str], variable: str, platform: str) -> Path:
    if given := environ.get(variable, "").strip():
        return Path(given).expanduser().absolute()
    import platformdirs

    found: Path = getattr(platformdirs, platform)("assay", appauthor=False)
    return found
