"""Filters that are saved under a name."""

import json
import threading
from pathlib import Path

import pytest

from tui.config.folders import make_private
from tui.model.errors import StoreError
from tui.session.saved_filters import MOST_FILTERS, FilterExists, SavedFilters


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "filters.json"


def test_filters_are_saved_renamed_and_deleted(file: Path) -> None:
    saved = SavedFilters(file)
    saved.read()
    assert saved.texts == {}
    saved.save("Flaky", " status:flaky ")
    saved.save("slow", "@flaky tag:slow")
    assert saved.texts == {"flaky": "status:flaky", "slow": "@flaky tag:slow"}
    saved.rename("flaky", "unsteady")
    other = SavedFilters(file)
    other.read()
    assert other.texts == {"slow": "@unsteady tag:slow", "unsteady": "status:flaky"}
    other.delete("slow")
    saved.read()
    assert saved.texts == {"unsteady": "status:flaky"}
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "two words", "a/b", "x" * 41, "a\x1bb", "@a"])
def test_a_name_has_only_letters_and_digits(file: Path, name: str) -> None:
    with pytest.raises(StoreError, match="name of a filter"):
        SavedFilters(file).save(name, "status:fail")
    assert not file.exists()


def test_the_number_and_the_length_are_limited(file: Path) -> None:
    saved = SavedFilters(file)
    with pytest.raises(StoreError, match="at most 400"):
        saved.save("long", "x" * 401)
    with pytest.raises(StoreError, match="Nothing to save"):
        saved.save("empty", "  ")
    file.parent.mkdir()
    file.write_text(json.dumps({"version": 1, "filters": {f"f{number}": "a" for number in range(MOST_FILTERS)}}))
    with pytest.raises(StoreError, match="100 saved filters"):
        saved.save("more", "b")
    saved.save("f1", "b")
    assert saved.texts["f1"] == "b"


def test_a_filter_of_another_program_is_replaced_only_if_it_was_shown(file: Path) -> None:
    SavedFilters(file).save("a", "status:fail")
    mine = SavedFilters(file)
    with pytest.raises(FilterExists) as found:
        mine.save("a", "tag:x", replaces="")
    assert found.value.text == "status:fail"
    SavedFilters(file).save("a", "tag:y")
    with pytest.raises(FilterExists):
        mine.save("a", "tag:x", replaces=found.value.text)
    mine.save("a", "tag:x", replaces="tag:y")
    mine.save("b", "tag:z", replaces="")
    assert mine.texts == {"a": "tag:x", "b": "tag:z"}


def test_a_filter_does_not_contain_itself(file: Path) -> None:
    saved = SavedFilters(file)
    saved.save("a", "status:fail")
    saved.save("b", "@a tag:x")
    with pytest.raises(StoreError, match="@a contains itself: @a → @b → @a"):
        saved.save("a", "@b")
    with pytest.raises(StoreError, match="unknown saved filter @c"):
        saved.save("a", "@c")
    with pytest.raises(StoreError, match="already"):
        saved.rename("a", "b")
    with pytest.raises(StoreError, match="any more"):
        saved.rename("gone", "new")
    assert saved.texts == {"a": "status:fail", "b": "@a tag:x"}


def test_two_programs_lose_nothing(file: Path) -> None:
    def save(program: int) -> None:
        saved = SavedFilters(file)
        for number in range(10):
            saved.save(f"p{program}-{number}", f"tag:{number}")

    threads = [threading.Thread(target=save, args=(program,)) for program in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    saved = SavedFilters(file)
    saved.read()
    assert len(saved.texts) == 40


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'{"version": 1}', b'{"filters": [1]}', b"[" * 100_000])
def test_a_damaged_file_is_renamed_and_reported(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    saved = SavedFilters(file)
    saved.read()
    assert saved.texts == {}
    [aside] = [path for path in file.parent.iterdir() if ".damaged-" in path.name]
    assert aside.read_bytes() == content
    assert aside.name in saved.notices[0]
    saved.save("a", "b")
    saved.read()
    assert saved.notices == ()
    assert saved.texts == {"a": "b"}


def test_entries_that_are_no_filters_are_left_out(file: Path) -> None:
    file.parent.mkdir()
    filters = {"ok": "a", "UPPER": "a", "two words": "a", "number": 1, "empty": " ", "long": "x" * 401}
    file.write_text(json.dumps({"version": 1, "filters": filters}))
    saved = SavedFilters(file)
    saved.read()
    assert saved.texts == {"ok": "a"}


def test_a_file_that_cannot_be_read_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    newer = '{"version": 2, "filters": {"a": "b"}}'
    file.write_text(newer)
    saved = SavedFilters(file)
    saved.read()
    assert "another version" in saved.notices[0]
    with pytest.raises(StoreError, match="another version"):
        saved.save("c", "d")
    assert file.read_text() == newer
    file.unlink()
    file.mkdir()
    saved.read()
    assert "cannot be read" in saved.notices[0]
    with pytest.raises(StoreError):
        saved.save("c", "d")


def test_the_data_folder_with_saved_filters_stays_private(file: Path) -> None:
    SavedFilters(file).save("a", "b")
    file.with_name("filters.json.damaged-123").write_text("{")
    file.parent.chmod(0o755)
    make_private(file.parent)
    assert file.parent.stat().st_mode & 0o777 == 0o700
