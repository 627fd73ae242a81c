"""The surroundings that a suite is validated against: its folder, the command line, and the pattern engines."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tui.model.current_folder import real_path
from tui.model.paths import path_fault
from tui.model.sanitize import sanitize_line
from tui.model.suite import CheckKind
from tui.suites.messages import quoted

PatternError = Callable[[CheckKind, str], str | None]
_UNICODE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[pPu])\{")


@dataclass(slots=True)
class Around:
    """The surroundings of a suite.

    `clone` is true if the command line names a repository to clone, `repository` is a local one to read from;
    `unlisted` maps models that no provider offers to a warning. `may_read` returns whether a data file outside the
    suite's folder may be read.
    """

    folder: Path
    pattern_error: PatternError
    clone: bool = False
    repository: Path | None = None
    unlisted: Mapping[str, str] = field(default_factory=dict)
    pattern_warning: PatternError | None = None
    may_read: Callable[[Path], bool] = lambda _: False
    _patterns: dict[tuple[CheckKind, str], str | None] = field(default_factory=dict)
    _files: dict[tuple[tuple[Path, ...], str], str | None] = field(default_factory=dict)

    def pattern_fault(self, kind: CheckKind, pattern: str) -> str | None:
        """Return why the pattern is invalid, as a sentence, or None; each pattern is compiled once."""
        key = (kind, pattern)
        if key not in self._patterns:
            reason = self.pattern_error(kind, pattern)
            language = "Python" if kind == "output.matches" else "JavaScript"
            why = sanitize_line(reason or "").rstrip(".")
            self._patterns[key] = (
                f"{quoted(pattern)} is not a valid {language} pattern: {why}; fix it" if reason else None
            )
        return self._patterns[key]

    def pattern_risk(self, kind: CheckKind, pattern: str) -> str | None:
        """Return what to be warned of in a pattern that can be used, as a sentence."""
        is_javascript = kind in ("expected_pattern", "forbidden_pattern")
        if "{" in pattern and is_javascript and (found := _UNICODE_ESCAPE.search(pattern)):
            means = "which matches these letters only: patterns do not have the flag `u`"
            return f"{quoted(pattern)} contains `{found[1]}{{…}}`, {means}; write the characters themselves"
        what = self.pattern_warning(kind, pattern) if self.pattern_warning else None
        fix = "do not repeat a group that contains a repetition, or whose alternatives match the same text"
        return f"{quoted(pattern)} {sanitize_line(what, 300)}; {fix}" if what else None

    def file_fault(self, roots: tuple[Path, ...], path: str) -> str | None:
        """Return why the file cannot be read below the first root that contains the path, as a sentence.

        None if it can be read, or if there are no roots.
        """
        key = (roots, path)
        if key not in self._files:
            self._files[key] = _file_fault(roots, path) if roots else None
        return self._files[key]


@lru_cache(maxsize=32_768)
def refused_path(path: str) -> str | None:
    """Return why a path of the suite is refused, as a sentence, or None if it is valid."""
    fault = path_fault(relative(path))
    if fault is None:
        return None
    fix = "" if ";" in fault else "; use a path inside the root"
    return f"the path {quoted(path)} is not allowed: it {fault}{fix}"


def relative(path: str) -> str:
    """Return the path without a leading `./`."""
    return path.removeprefix("./") or path


def _file_fault(roots: tuple[Path, ...], path: str) -> str | None:
    there = [root for root in roots if os.path.lexists(root / relative(path))]
    root = (there or roots)[0]
    shown = sanitize_line(str(root / relative(path)), 300)
    file = root / relative(path)
    try:
        if file.is_file():
            place, top = Path(real_path(file)), Path(real_path(root))
            if not place.is_relative_to(top):
                return f"{shown} is a symbolic link that points outside its folder; copy the file instead"
            # Links are never followed for reading.
            if place == top / relative(path):
                return None
            return f"{shown} is a symbolic link, or is behind one; give the path of the file itself"
        what = "is a folder, not a file" if file.is_dir() else "does not exist"
    except (OSError, ValueError):
        what = "cannot be accessed"
    if not there and len(roots) > 1:
        what += ", and is not in the suite's folder either"
    return f"{shown} {what}; correct the path, or add `content`"
