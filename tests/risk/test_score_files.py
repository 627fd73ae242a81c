"""Score files: nothing that was given is lost to a crash, another process, a merge, a strange name or line."""

import errno
import os
import random
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.scoring import RUN, act_lists, item, make_act
from tui.model.errors import StoreError
from tui.model.scores import Act
from tui.model.secrets import Secrets
from tui.processes.file_lock import locked
from tui.risk import score_files
from tui.risk.score_files import (
    MOST_REVIEWERS,
    ActConflict,
    KeptActs,
    ScoreCount,
    ScoreFiles,
    file_name,
    in_order,
    is_truncated,
)
from tui.risk.score_lines import read_line, write_line

OTHER_RUN = "0193f2a4c6d87000a1b2c3d4e5f60719"


@pytest.fixture
def files(tmp_path: Path) -> ScoreFiles:
    return ScoreFiles(tmp_path / "data" / "scores")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}


def test_what_is_appended_is_read_back_in_order(files: ScoreFiles) -> None:
    acts = [make_act(1, 3), make_act(2, 1, reviewer="Bo"), make_act(3, act="reveal"), make_act(4, act="invalidate")]
    assert [files.append(act) for act in acts] == acts
    assert files.read(RUN) == KeptActs(tuple(acts))
    assert ScoreFiles(files.folder_of(RUN).parent).read(RUN).acts == tuple(acts)
    assert files.file_of(RUN, "Bo").read_text() == write_line(acts[1])
    assert files.read(OTHER_RUN) == KeptActs()
    assert not files.has(OTHER_RUN)


def test_only_the_owner_may_look(files: ScoreFiles) -> None:
    files.append(make_act(1))
    files.merge([make_act(2, reviewer="Bo")])
    for path in files.folder_of(RUN).parent.parent.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_clock_that_was_set_back_does_not_make_a_score_earlier(files: ScoreFiles) -> None:
    first = files.append(make_act(1, 4, seconds=3600))
    back = files.append(make_act(2, 1, seconds=0), first.order[0])
    other = files.append(make_act(3, 2, seconds=0))
    assert (back.scored_at, other.scored_at) == ("2026-11-20T11:00:00.001+00:00", make_act(3, seconds=0).scored_at)
    assert files.read(RUN).acts == (other, first, back)


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59.999999+00:00", "2200-01-01T00:00:00-11:00"])
def test_a_date_at_the_end_of_the_calendar_is_a_bad_line_and_locks_nobody_out(files: ScoreFiles, end: str) -> None:
    files.merge([replace(make_act(1), scored_at=end)])
    given = files.append(make_act(2))
    assert given.scored_at == make_act(2).scored_at
    kept = files.read(RUN)
    assert kept.acts == (given,)
    assert [bad.what for bad in kept.bad] == [f"scored_at: {end} is after the year 2199; correct the date"]
    assert end in files.file_of(RUN, "Ada").read_text(), "the line is still there to be corrected"


# --- crashes


@pytest.mark.parametrize("left", [1, 10, 30, 200])
def test_a_line_that_was_cut_off_is_passed_over_and_swallows_nothing(files: ScoreFiles, left: int) -> None:
    first, second = make_act(1, 3, note="é" * 30), make_act(3, 1)
    files.append(first)
    file = files.file_of(RUN, "Ada")
    torn = write_line(make_act(2, 2, note="é" * 30)).encode()[:left]
    file.write_bytes(file.read_bytes() + torn)
    assert files.read(RUN) == KeptActs((first,))
    files.append(second)
    assert files.read(RUN) == KeptActs((first, second))
    assert file.read_bytes() == (write_line(first) + write_line(second)).encode()


def test_each_beginning_of_a_line_is_truncated() -> None:
    note = 'é \\ "quoted", {braces}: [] \x1b\u202e\n'
    full = replace(make_act(1, 3, note=note), attempt=2, seed=-7, answer="1" * 64, guidance="\\")
    for act in (
        full,
        make_act(2, None),
        make_act(3, act="reveal"),
        replace(full, act="invalidate", withdraws="3" * 32),
    ):
        line = write_line(act).encode().removesuffix(b"\n")
        assert [end for end in range(1, len(line)) if not is_truncated(line[:end])] == []
        assert not is_truncated(line)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ('"extent": 3', '"extent": "3"'),
        ('"act": "score"', '"act": "scored"'),
        ('"extent": 3', '"extent": {"from": 1, "to": 3}'),
        ('"note": ""', '"note": "She said "no" twice"'),
        ('"note": ""', '"note": null'),
        ('"blind": false, ', '"blind": false '),
        ('"guidance": ""}', '"guidance": ""} // from the workshop'),
    ],
)
def test_an_invalid_line_that_somebody_wrote_without_its_end_is_reported_and_stays(
    files: ScoreFiles, part: str, other: str
) -> None:
    files.append(make_act(1, 3))
    file = files.file_of(RUN, "Ada")
    strange = write_line(make_act(2, 3)).replace(part, other).removesuffix("\n")
    file.write_text(file.read_text() + strange)
    for add in (lambda: files.append(make_act(3, 1)), lambda: files.merge([make_act(4, 1)])):
        assert len(files.read(RUN).bad) == 1
        add()
    assert file.read_text().split("\n").count(strange) == 1


def test_a_whole_line_without_its_end_is_kept(files: ScoreFiles) -> None:
    first, second = make_act(1, 3), make_act(2, 2)
    files.append(first)
    file = files.file_of(RUN, "Ada")
    file.write_bytes(file.read_bytes()[:-1])
    assert files.read(RUN).acts == (first,)
    files.append(second)
    assert file.read_text() == write_line(first) + write_line(second)


@pytest.mark.parametrize("strange", [b"<<<<<<< HEAD", b"\0\0\0\0", b"\xff\xfe", b'{"version": 2}', b"x" * 9000])
def test_what_somebody_else_left_is_reported_and_stays(files: ScoreFiles, strange: bytes) -> None:
    first, second, third = make_act(1, 3), make_act(2, 2), make_act(3, 1)
    files.append(first)
    file = files.file_of(RUN, "Ada")
    file.write_bytes(file.read_bytes() + strange)
    files.append(second)
    kept = files.read(RUN)
    assert kept.acts == (first, second)
    assert [str(bad).startswith(f"{file}:2: error: ") for bad in kept.bad] == [True]
    files.merge([third])
    assert file.read_bytes().split(b"\n")[-2] == strange, "a merge keeps it, at the end"
    assert files.read(RUN).acts == (first, second, third)


def test_lines_in_the_wrong_place_are_reported(files: ScoreFiles) -> None:
    files.append(make_act(1, 3))
    file = files.folder_of(RUN) / "theirs.jsonl"
    lines = (make_act(2, run=OTHER_RUN), make_act(1, 4), make_act(1, 3), make_act(3, None), make_act(4, 4))
    file.write_text("".join(map(write_line, lines)))
    kept = files.read(RUN)
    assert kept.acts == (make_act(1, 3), make_act(4, 4))
    assert [(bad.file, bad.line) for bad in kept.bad] == [(str(file), 1), (str(file), 2), (str(file), 4)]
    assert [words in bad.what for bad, words in zip(kept.bad, ("another run", "the id", "template"), strict=True)]


def test_a_full_disk_leaves_nothing_of_the_line(files: ScoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_act(1, 3), make_act(2, 2)
    files.append(first)
    before = contents(files.folder_of(RUN))

    def write_half(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(score_files, "_write_all", write_half)
        for change in (lambda: files.append(second), lambda: files.merge([second])):
            with pytest.raises(StoreError, match="No space left on device"):
                change()
            assert contents(files.folder_of(RUN)) == before
            assert sorted(path.name for path in files.folder_of(RUN).iterdir()) == [file_name("Ada")]
    files.append(second)
    assert files.read(RUN).acts == (first, second)


def test_what_the_disk_does_not_confirm_was_not_given(files: ScoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.append(make_act(1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", _fail)
        with pytest.raises(StoreError, match="Input/output error"):
            files.append(make_act(2))
    assert files.read(RUN).acts == (make_act(1),)


def _fail(_descriptor: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    (tmp_path / "scores" / RUN).mkdir(parents=True)
    files = ScoreFiles(tmp_path / "scores")
    files.file_of(RUN, "Ada").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="No space left on device"):
        files.append(make_act(1))


def test_a_folder_that_cannot_be_made_or_read(tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("in the way")
    files = ScoreFiles(tmp_path / "scores")
    for change in (lambda: files.append(make_act(1)), lambda: files.merge([make_act(1)])):
        with pytest.raises(StoreError, match="Scores cannot be saved"):
            change()
    files = ScoreFiles(tmp_path / "others")
    files.file_of(RUN, "Ada").mkdir(parents=True)
    with pytest.raises(StoreError, match="Scores cannot be read"):
        files.read(RUN)


def test_a_note_that_is_too_long_is_refused_before_it_is_kept(files: ScoreFiles) -> None:
    with pytest.raises(StoreError, match="note is too long"):
        files.append(make_act(1, note="\u202e" * 200_000))
    files.append(make_act(2, note="x" * 1_000_000))
    assert len(files.read(RUN).acts) == 1


# --- merging


def test_a_file_that_could_not_be_read_again_is_not_written(files: ScoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.append(make_act(1, note="n" * 2_000))
    before = contents(files.folder_of(RUN))
    monkeypatch.setattr(score_files, "LARGEST_FILE", 4_000)
    for change in (
        lambda: files.append(make_act(2, note="n" * 2_000)),
        lambda: files.merge([make_act(3, reviewer="Bo"), make_act(2, note="n" * 2_000)]),
    ):
        with pytest.raises(StoreError, match=f"{file_name('Ada')}.*larger than 4,000 bytes.*shorten notes") as refused:
            change()
        assert "disk space" not in str(refused.value)
        assert contents(files.folder_of(RUN)) == before
    files.merge([make_act(2, note="n" * 500)])
    assert len(files.read(RUN).acts) == 2


def test_the_files_of_a_run_are_limited_together(files: ScoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.merge([make_act(1, reviewer="Ada"), make_act(2, reviewer="Bo")])
    size = sum(map(len, (before := contents(files.folder_of(RUN))).values()))
    new = make_act(3, reviewer="Cy")
    monkeypatch.setattr(score_files, "LARGEST_RUN", size + len(write_line(new)) - 1)
    for merge in (files.check_merge, files.merge):
        with pytest.raises(StoreError, match=r"together larger than .* bytes.*all of a run 0 MiB"):
            merge([new])
    assert contents(files.folder_of(RUN)) == before
    assert files.merge([make_act(3, reviewer="Cy", run=OTHER_RUN)])
    monkeypatch.setattr(score_files, "LARGEST_RUN", size + len(write_line(new)))
    assert files.merge([new]) == (new,)


def test_names_that_acts_share_are_in_memory_once(files: ScoreFiles) -> None:
    files.merge(replace(make_act(number), answer="a" * 64, guidance="4 levels") for number in (1, 2))
    one, other = files.read(RUN).acts
    assert one.item is not None
    assert other.item is not None
    for name in ("run", "reviewer", "guidance", "answer"):
        assert getattr(one, name) is getattr(other, name), name
    for name in ("case", "model", "criterion"):
        assert getattr(one.item, name) is getattr(other.item, name), name


def test_a_merge_keeps_each_stored_line_to_the_byte(files: ScoreFiles) -> None:
    files.append(make_act(3, 1))
    file = files.file_of(RUN, "Ada")
    known, later = write_line(make_act(1, 3)), write_line(make_act(2, 2)).replace('"blind"', '"evidence": "É", "blind"')
    copy = known.replace('"blind"', '"took_ms": 7, "blind"')
    stored = file.read_text() + known.replace(": ", ":") + copy + later.replace("\n", " \r\n")
    file.write_text(stored, newline="")
    files.merge([make_act(0, 4)])
    lines = [*stored.splitlines(keepends=True), write_line(make_act(0, 4))]
    assert file.read_bytes().decode() == "".join(lines[place] for place in (4, 1, 2, 3, 0))
    assert files.read(RUN).acts[1].took_ms == 7


def test_a_stored_line_that_would_be_too_long_when_written_again_stays_as_it_is(files: ScoreFiles) -> None:
    files.append(make_act(1))
    file = files.file_of(RUN, "Ada")
    # Written by another program, which escapes no invisible characters.
    raw = write_line(make_act(2, note="hidden")).replace("hidden", "\u200b" * 200_000).encode()
    file.write_bytes(file.read_bytes() + raw)
    acts = files.read(RUN).acts
    assert len(acts[1].note) == 200_000
    files.merge([make_act(3)])
    assert files.read(RUN) == KeptActs((*acts, make_act(3)))
    assert raw in file.read_bytes()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(act_lists(), act_lists(), st.randoms(use_true_random=False))
def test_files_made_apart_merge_to_the_same_bytes_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, mine: list[Act], theirs: list[Act], chance: random.Random
) -> None:
    taken = {act.id for act in mine}
    theirs = [replace(act, reviewer=f"{act.reviewer} 2") for act in theirs if act.id not in taken]
    folder = tmp_path_factory.mktemp("merged")
    one, two, whole = (ScoreFiles(folder / name) for name in ("one", "two", "whole"))
    assert len(one.merge(mine) + one.merge(theirs)) == len(mine) + len(theirs)
    two.merge(chance.sample(theirs, len(theirs)))
    two.merge([*chance.sample(mine, len(mine)), *mine])
    whole.merge([*theirs, *mine])
    assert contents(folder / "one") == contents(folder / "two") == contents(folder / "whole")
    assert one.read(RUN).acts == in_order([*mine, *theirs])
    assert one.merge([*theirs, *mine]) == ()
    for data in contents(folder / "one").values():
        lines = data.split(b"\n")[:-1]
        assert [read_line(line) for line in lines] == list(in_order(map(read_line, lines)))


def test_an_id_that_means_something_else_changes_nothing(files: ScoreFiles) -> None:
    files.append(make_act(1, 3))
    before = contents(files.folder_of(RUN))
    with pytest.raises(ActConflict) as caught:
        files.merge([make_act(2, 2), make_act(1, 4), make_act(5, 1, run=OTHER_RUN)])
    assert caught.value.ids == {make_act(1).id}
    with pytest.raises(ActConflict):
        files.merge([make_act(1, 3, reviewer="Bo")])
    assert contents(files.folder_of(RUN)) == before
    assert not files.has(OTHER_RUN)


def test_an_act_without_the_keys_that_are_ours_is_the_same_in_any_order(files: ScoreFiles, tmp_path: Path) -> None:
    full = replace(make_act(1, 3), attempt=2, seed=7, took_ms=1500)
    bare = make_act(1, 3)
    assert [files.merge([full]), files.merge([bare])] == [(full,), ()]
    for number, lines in enumerate(([bare, full], [full, bare])):
        other = ScoreFiles(tmp_path / f"other{number}")
        assert other.merge(lines) == (full,)
        assert contents(files.folder_of(RUN)) == contents(other.folder_of(RUN))
        assert other.read(RUN) == KeptActs((full,))
    with pytest.raises(ActConflict):
        files.merge([replace(full, attempt=1)])


def test_a_line_with_more_keys_leaves_the_stored_one_as_it_is(files: ScoreFiles) -> None:
    bare = make_act(1, 3)
    files.merge([bare])
    before = contents(files.folder_of(RUN))
    assert files.merge([replace(bare, answer="1" * 64, attempt=2, seed=7, took_ms=1500, masked=1, repeats=10)]) == ()
    assert contents(files.folder_of(RUN)) == before


@pytest.mark.parametrize("stored", [True, False])
def test_a_line_that_would_take_a_score_out_of_the_count_is_a_conflict(files: ScoreFiles, stored: bool) -> None:
    score, withdrawal = make_act(1, 3), make_act(2, act="invalidate")
    assert score.item is not None
    again = replace(score, item=score.item._replace(again=True))
    other = replace(withdrawal, withdraws="3" * 32)
    files.merge([score, withdrawal] if stored else [])
    before = contents(files.folder_of(RUN).parent)
    for line, first in ((again, score), (other, withdrawal)):
        for lines in ([line],) if stored else ([line, first], [first, line]):
            with pytest.raises(ActConflict) as caught:
                files.merge(lines)
            assert caught.value.ids == {line.id}
    assert contents(files.folder_of(RUN).parent) == before


def test_a_copy_without_again_or_withdraws_is_known(files: ScoreFiles) -> None:
    score, withdrawal = make_act(1, 3), make_act(2, act="invalidate")
    assert score.item is not None
    stored = (replace(score, item=score.item._replace(again=True)), replace(withdrawal, withdraws="3" * 32))
    files.merge(stored)
    assert files.merge([score, withdrawal]) == ()
    assert files.read(RUN).acts == stored


def test_a_file_that_an_editor_saved_in_its_own_way_is_read(files: ScoreFiles) -> None:
    files.merge([make_act(1, 3), make_act(2, 1)])
    file = files.file_of(RUN, "Ada")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    files.append(make_act(3, 2))
    files.merge([make_act(4, 0)])
    assert files.read(RUN) == KeptActs((make_act(1, 3), make_act(2, 1), make_act(3, 2), make_act(4, 0)))


def test_readings_of_one_act_in_two_files_are_put_together(files: ScoreFiles) -> None:
    files.merge([make_act(1, 3)])
    beside = files.folder_of(RUN) / "from-git.jsonl"
    beside.write_text(write_line(replace(make_act(1, 3), attempt=2)))
    assert files.read(RUN) == KeptActs((replace(make_act(1, 3), attempt=2),))


def test_a_line_that_occurs_twice_is_written_once(files: ScoreFiles) -> None:
    files.append(make_act(1, 3))
    file = files.file_of(RUN, "Ada")
    file.write_bytes(file.read_bytes() * 3)
    assert files.read(RUN) == KeptActs((make_act(1, 3),))
    files.merge([make_act(2, 2)])
    assert file.read_text() == write_line(make_act(1, 3)) + write_line(make_act(2, 2))


def test_merging_loses_nothing_to_those_who_score_meanwhile(files: ScoreFiles) -> None:
    given_acts: list[Act] = []

    def score(start: int) -> None:
        given_acts.extend(files.append(make_act(start + number, number % 5)) for number in range(40))

    def merge(start: int) -> None:
        for number in range(40):
            files.merge([make_act(start + number, 1)])

    work = [(score, 1000), (score, 2000), (merge, 3000), (merge, 4000)]
    threads = [threading.Thread(target=each, args=(start,)) for each, start in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = files.read(RUN)
    assert len(kept.acts) == 160
    assert not kept.bad
    assert set(given_acts) < set(kept.acts)


KILLED_MERGES = """
import os, pathlib, signal, sys
from tests.support.scoring import RUN, make_act
from tui.risk.score_files import ScoreFiles
acts = [make_act(number, number % 5, reviewer=f"R{number}", run=RUN[:-1] + "01"[number % 2]) for number in range(1, 5)]
merged = []
for kill_at in range(100):
    folder = pathlib.Path(sys.argv[1], str(kill_at), "scores")
    files = ScoreFiles(folder)
    child = os.fork()
    if not child:
        left = kill_at
        def count(call):
            def counted(*wanted, **named):
                global left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*wanted, **named)
            return counted
        for name in ("fsync", "rename", "replace", "rmdir"):
            setattr(os, name, count(getattr(os, name)))
        files.merge(acts)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    runs = {act.run for act in acts}
    merged.append(sum(len(files.read(run).acts) for run in runs))
    assert all(files.has(run) for run in runs) or not merged[-1]
    files.merge(acts)
    assert {act for run in runs for act in files.read(run).acts} == set(acts)
    assert sorted(path.name for path in folder.iterdir()) == [".lock", *sorted(runs)]
    if status == 0:
        break
print(*merged)
"""


def test_a_merge_that_is_killed_is_whole_or_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_MERGES, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    merged = done.stdout.split()
    assert set(merged) == {"0", "4"}
    assert merged == sorted(merged)


def test_a_merge_into_a_folder_that_is_not_writable_changes_nothing(
    files: ScoreFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.append(make_act(1))
    before = contents(files.folder_of(RUN).parent)
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, _mode: Path(path).name != OTHER_RUN)
        with pytest.raises(StoreError, match="Permission denied"):
            files.merge([make_act(2, 2), make_act(3, run=OTHER_RUN)])
    assert contents(files.folder_of(RUN).parent) == before


def test_whoever_holds_the_lock_for_too_long_is_reported(tmp_path: Path) -> None:
    files = ScoreFiles(tmp_path, patience=0.02)
    with locked(tmp_path / ".lock"), pytest.raises(StoreError, match="another program has them locked"):
        files.append(make_act(1))
    files.append(make_act(1))


def test_the_number_of_reviewers_of_a_run_is_limited(files: ScoreFiles) -> None:
    acts = [make_act(number, reviewer=f"r{number}") for number in range(1, MOST_REVIEWERS + 1)]
    files.merge(acts)
    more = make_act(MOST_REVIEWERS + 1, reviewer="one more")
    for merge in (files.check_merge, files.merge):
        with pytest.raises(StoreError, match="the run would have 201 reviewers") as raised:
            merge([more, make_act(999, run=OTHER_RUN)])
        assert raised.value.fix == "A run can have 200: import the scores of fewer."
    assert not files.has(OTHER_RUN)
    assert len(files.read(RUN).acts) == MOST_REVIEWERS
    files.merge([make_act(MOST_REVIEWERS + 2, reviewer="r1"), make_act(998, reviewer="one more", run=OTHER_RUN)])


def test_no_score_is_merged_under_a_name_with_a_key(tmp_path: Path) -> None:
    files = ScoreFiles(tmp_path, secrets=Secrets(["sk-secret-4711"]))
    with pytest.raises(StoreError, match="the name of a reviewer contains an API key") as raised:
        files.merge([make_act(1), make_act(2, reviewer="Ada sk-secret-4711")])
    assert "4711" not in str(raised.value)
    assert not files.has(RUN)


# --- the end, and names


def test_scores_are_counted_and_go_with_their_run(files: ScoreFiles) -> None:
    assert files.count(RUN) == ScoreCount()
    acts = [make_act(1), make_act(2, 3), make_act(3, act="invalidate"), make_act(4, act="adjudicate", reviewer="Bo")]
    files.merge([*acts, make_act(5, act="reveal", reviewer="Cy"), make_act(6, run=OTHER_RUN)])
    assert files.count(RUN) == ScoreCount(3, 2)
    assert not files.set_aside(RUN, ScoreCount(2, 2))
    assert files.set_aside(RUN, ScoreCount(3, 2))
    assert files.set_aside(RUN)
    assert files.read(RUN) == KeptActs()
    files.settle(lambda: [OTHER_RUN])
    files.settle(lambda: [RUN])
    assert files.read(RUN) == KeptActs()
    assert files.count(OTHER_RUN) == ScoreCount(1, 1)


@pytest.mark.parametrize("later", [(), (make_act(7),), (make_act(7, reviewer="Dee"),)])
def test_scores_return_to_a_run_that_was_not_deleted(files: ScoreFiles, later: tuple[Act, ...]) -> None:
    acts = (make_act(1), make_act(2, 3), make_act(4, act="adjudicate", reviewer="Bo"))
    files.merge(acts)
    files.set_aside(RUN)
    for act in later:  # while the run was being deleted
        files.append(act)
    files.settle(lambda: [RUN])
    assert sorted(act.id for act in files.read(RUN).acts) == sorted(act.id for act in (*acts, *later))
    files.settle(lambda: ())
    assert files.count(RUN).scores == 3 + len(later)


def test_no_score_is_added_after_the_last_one_was_cut(files: ScoreFiles) -> None:
    files.append(make_act(1))
    file = files.file_of(RUN, "Ada")
    whole = file.read_bytes()
    file.write_bytes(whole.rstrip(b"\n"))
    files.append(make_act(2), stored=[make_act(1).id])
    file.write_bytes(whole[:-9])
    with pytest.raises(StoreError, match="were removed while this review was open"):
        files.append(make_act(3), stored=[make_act(1).id])
    assert file.read_bytes() == whole[:-9]


def test_a_score_that_was_cut_by_a_kill_hides_no_later_one_when_its_run_returns(files: ScoreFiles) -> None:
    files.merge([make_act(1), make_act(2, 3)])
    file = files.file_of(RUN, "Ada")
    file.write_bytes(file.read_bytes()[:-9])
    files.set_aside(RUN)
    files.append(make_act(7))
    files.settle(lambda: [RUN])
    assert {act.id for act in files.read(RUN).acts} == {make_act(1).id, make_act(7).id}


NAMES = (
    "Ada", "ada", "ADA", " Ada", "../x", "/etc/passwd", "..", ".", "", "CON", "nul.txt", "a" * 300, "a" * 299 + "b",
    "é", "e\u0301", "日本語", "\x1b[31m", "\ud800", "a/b", "a\\b", "a:b", "a\0b", "x.jsonl", "Ada ", "🜚" * 100,
)  # fmt: skip


def test_every_name_has_a_file_of_its_own_that_every_system_takes() -> None:
    names = [file_name(name) for name in NAMES]
    assert len({name.lower() for name in names}) == len(NAMES)
    assert all(len(name) <= 70 and name.isascii() and name == name.lower() for name in names)
    assert all(set(name.removesuffix(".jsonl")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)
    assert file_name("Ada Lovelace").startswith("ada-lovelace-")


def test_every_name_scores(files: ScoreFiles) -> None:
    acts = [files.append(make_act(number, 1, reviewer=name)) for number, name in enumerate(NAMES, 1) if name.strip()]
    assert files.read(RUN).acts == tuple(acts)
    assert {path.parent for path in files.folder_of(RUN).parent.rglob("*.jsonl")} == {files.folder_of(RUN)}


@pytest.mark.parametrize("run", ["../../x", "", "a" * 300, "CON", "x\0y", "\ud800"])
def test_runs_of_any_id_stay_in_the_folder(files: ScoreFiles, run: str) -> None:
    act = files.append(make_act(1, of=item("\x1b"), run=run))
    assert files.read(run).acts == (act,)
    assert files.folder_of(run).parent == files.folder_of(RUN).parent
