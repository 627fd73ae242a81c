"""The report of an unexpected error, in one process."""

from pathlib import Path

import pytest

from tui.session import crash_report
from tui.session.crash_report import report_crash

KEY = "Kx7QmW2pLr9TzB4vNc8HsJ5yDf6"


@pytest.mark.parametrize("end", range(1, len(KEY) - 5))
def test_a_key_that_the_report_cuts_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: int) -> None:
    monkeypatch.setattr(crash_report, "_MOST_CHARACTERS", 400)
    environ = {"ASSAY_DATA_DIR": str(tmp_path), "ASSAY_CONFIG_DIR": str(tmp_path / "config"), "OPENAI_API_KEY": KEY}
    report_crash(ValueError("y" * 1_000 + KEY + "z" * (200 - len(KEY) + end - 1)), environ)
    (file,) = (tmp_path / "crashes").iterdir()
    assert "yz" not in file.read_text()
    assert [KEY[at : at + 6] for at in range(len(KEY) - 5) if KEY[at : at + 6] in file.read_text()] == []
