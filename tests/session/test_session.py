"""Opening suites through the session."""

from pathlib import Path

import pytest

from tui.session import session


def test_an_unexpected_exception_is_a_problem_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_kind: str, _pattern: str) -> str | None:
        raise TypeError("not\x1b[31m expected")

    monkeypatch.setattr(session, "pattern_error", fail)
    file = tmp_path / "suite.yaml"
    file.write_text("input: hello\nassert: {output.matches: x}\n")
    loaded = session.open_suite(file)
    assert loaded.suite is None
    assert list(map(str, loaded.problems)) == [
        f"{file}: error: file: cannot be read: TypeError: not␛[31m expected; please report this error"
    ]
