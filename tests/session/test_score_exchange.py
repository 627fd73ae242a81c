"""Score files carried out and in: all or nothing, each fault with its place, the same in any order."""

import hashlib
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tui.documents.files import read_whole
from tui.model.errors import ConfigError
from tui.model.scores import ItemKey
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.risk import packets
from tui.session import score_exchange
from tui.session.reviews import Reviews
from tui.session.score_exchange import Imported, ScoresRefused
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"
TONE, SAFETY = RiskCriterion("Tone", "Stays polite", "low"), RiskCriterion("Safety", "Harms nobody", "critical")
PLAN = make_plan((make_case("sec-001", criteria=(TONE, SAFETY)), make_case("sec-002")), (A, B))
RUN = PLAN.run_id
OTHER_RUN = "1" * 32
FIRST = hashlib.sha256(b"Use a parameter.").hexdigest()
SECOND = hashlib.sha256("Second \ufffd".encode()).hexdigest()
ELSE = "with different content; for a changed score, add a new line with a new id"
ITEM = ItemKey("sec-001", A, 1, "Tone")


@pytest.fixture
def reviews(tmp_path: Path) -> Iterator[Reviews]:
    yield from reviews_in(tmp_path / "here")


def reviews_in(folder: Path) -> Iterator[Reviews]:
    store = SqliteStore(folder / "runs.sqlite")
    for plan in (PLAN, replace(PLAN, run_id=OTHER_RUN)):
        store.begin_run(plan, STARTED)
        store.save_trials(plan.run_id, [make_result(trial) for trial in plan.trials])
    yield Reviews(store, folder, Config())
    store.close()


def line(number: int, **changes: Any) -> str:
    fields = {
        "version": 1,
        "act": "score",
        "id": f"{number:032x}",
        "run": RUN,
        "case": "sec-001",
        "model": A,
        "repeat": 1,
        "criterion": "Tone",
        "extent": 2,
        "note": "",
        "reviewer": "Ada",
        "scored_at": f"2026-11-20T11:00:{number:02}+00:00",
        "blind": False,
        "guidance": "",
    }
    return json.dumps({**fields, **changes}) + "\n"


def without_id(changes: dict[str, Any]) -> str:
    fields = json.loads(line(1, **changes))
    return json.dumps({key: value for key, value in fields.items() if key != "id"}) + "\n"


def write(tmp_path: Path, name: str, *lines: str) -> Path:
    file = tmp_path / name
    file.write_text("".join(lines))
    return file


def refused(reviews: Reviews, *files: Path) -> list[str]:
    before = [reviews.export(run) for run in (RUN, OTHER_RUN)]
    with pytest.raises(ScoresRefused) as caught:
        reviews.import_files(files)
    assert [reviews.export(run) for run in (RUN, OTHER_RUN)] == before, "nothing was changed"
    return str(caught.value).splitlines()


# --- out


def test_what_is_exported_comes_back_elsewhere_to_the_letter(reviews: Reviews, tmp_path: Path) -> None:
    ada, bo = (reviews.open_review(RUN, name, blind=True) for name in ("Ada", "Bo \x1b[31m\u202e"))
    ada.give(ITEM, 3, "é \u2028\ud800", took_ms=5)
    bo.give(ITEM, 1)
    ada.adjudicate(ITEM, 2, "settled")
    ada.undo()
    ada.reveal()
    text = reviews.export(RUN)
    assert text.count("\n") == 5
    assert reviews.export(RUN, "Bo \x1b[31m\u202e") + reviews.export(RUN, "Ada") != text
    assert sorted((reviews.export(RUN, bo.reviewer) + reviews.export(RUN, "Ada")).splitlines()) == sorted(
        text.splitlines()
    )
    assert reviews.export(RUN, "Cy") == reviews.export(OTHER_RUN) == ""
    file = write(tmp_path, "all.jsonl", text)
    for there in reviews_in(tmp_path / "there"):
        assert there.import_files([file]) == Imported(5, 0, 0, (RUN,), (("Ada", 4), (bo.reviewer, 1)))
        assert there.export(RUN) == text
        assert there.import_files([file, file]) == Imported(0, 5, 0, (RUN,))


def test_lines_in_ones_own_name_are_asked_about_and_refused_as_a_whole(reviews: Reviews, tmp_path: Path) -> None:
    reviews.remember_reviewer("Ada")
    file = write(tmp_path, "mixed.jsonl", line(1), line(2, reviewer="ada"), line(3, reviewer="Bo"))
    asked: list[tuple[str, int]] = []

    def answer(name: str, count: int) -> bool:
        asked.append((name, count))
        return name == "Ada"

    with pytest.raises(ConfigError, match="Nothing was imported"):
        reviews.import_files([file], confirm=answer)
    assert (asked, reviews.export(RUN)) == ([("Ada", 1), ("ada", 1)], "")
    assert reviews.import_files([file], confirm=lambda *_: True).alike == (("Ada", "ada"),)
    asked.clear()
    assert reviews.import_files([file], confirm=answer).known == 3
    assert asked == [], "lines that are known already are not asked about"
    other = write(tmp_path, "other.jsonl", line(3, run=OTHER_RUN, extent=0))
    with pytest.raises(ConfigError, match="Nothing was imported"):
        reviews.import_files([other], confirm=lambda *_: False)
    assert reviews.export(OTHER_RUN) == "", "an id is known only in its own run"


def test_names_that_look_the_same_are_warned_of(reviews: Reviews, tmp_path: Path) -> None:
    reviews.import_files([write(tmp_path, "one.jsonl", line(1))])
    found = reviews.import_files([write(tmp_path, "two.jsonl", line(2, reviewer="Аda"), line(3, reviewer="Bo"))])
    assert found.alike == (("Ada", "Аda"),)
    [warning] = reviews.problems(RUN)
    assert warning.startswith("warning: the reviewers `Ada` and `Аda` look the same, but count as two people")


def test_two_reviewers_files_merge_alike_in_either_order(reviews: Reviews, tmp_path: Path) -> None:
    mine = write(tmp_path, "mine.jsonl", line(3, extent=4), line(1), line(2, act="invalidate"))
    theirs = write(tmp_path, "theirs.jsonl", line(5, reviewer="Bo"), line(4, reviewer="Bo", run=OTHER_RUN))
    assert reviews.import_files([mine, theirs]) == Imported(5, 0, 0, (RUN, OTHER_RUN), (("Ada", 3), ("Bo", 2)))
    for there in reviews_in(tmp_path / "there"):
        there.import_files([theirs])
        there.import_files([mine])
        assert [there.export(run) for run in (RUN, OTHER_RUN)] == [reviews.export(run) for run in (RUN, OTHER_RUN)]
        files = [sorted((tmp_path / name).rglob("*.jsonl")) for name in ("here", "there")]
        assert [file.name for file in files[0]] == [file.name for file in files[1]]
        assert [file.read_bytes() for file in files[0]] == [file.read_bytes() for file in files[1]]


def test_a_template_is_filled_in_and_imported(reviews: Reviews, tmp_path: Path) -> None:
    lines = [json.loads(each) for each in reviews.export(RUN, "Bo", template=True).splitlines()]
    assert [(each["case"], each["model"], each["criterion"]) for each in lines] == [
        ("sec-001", model, criterion) for model in (B, A) for criterion in ("Tone", "Safety")
    ]
    assert {(each["extent"], each["note"], each["reviewer"], each["act"]) for each in lines} == {
        (None, "", "Bo", "score")
    }
    assert not any("id" in each for each in lines), "each copy of it gets its own when it is imported"
    assert {each["answer"] for each in lines} == {hashlib.sha256(b"Use a parameter.").hexdigest()}
    file = write(tmp_path, "empty.jsonl", *(json.dumps(each) + "\n" for each in lines))
    assert reviews.import_files([file]) == Imported(0, 0, 4, ())
    lines[0]["extent"], lines[2]["extent"] = 4, "n/a"
    file = write(tmp_path, "filled.jsonl", *(json.dumps(each) + "\n" for each in lines))
    assert reviews.import_files([file]) == Imported(2, 0, 2, (RUN,), (("Bo", 2),))
    assert reviews.import_files([file]) == Imported(0, 2, 2, (RUN,))
    review = reviews.open_review(RUN, "Bo", blind=False)
    assert len(review.done()) == 2
    lines[1]["extent"] = 1
    file = write(tmp_path, "more.jsonl", *(json.dumps(each) + "\n" for each in lines))
    assert reviews.import_files([file]) == Imported(1, 2, 1, (RUN,), (("Bo", 1),)), "filled in further"


def test_several_people_fill_in_copies_and_ids_are_the_same_each_time(reviews: Reviews, tmp_path: Path) -> None:
    text = reviews.export(RUN, template=True)
    copies = []
    for name, extent in (("Ada", 1), ("Bo", 3), ("Cy", 0)):
        filled = text.replace('"reviewer": ""', f'"reviewer": "{name}"').replace("null", str(extent))
        copies.append(write(tmp_path, f"{name}.jsonl", filled))
    assert reviews.import_files(copies) == Imported(12, 0, 0, (RUN,), (("Ada", 4), ("Bo", 4), ("Cy", 4)))
    assert reviews.import_files(copies[::-1]) == Imported(0, 12, 0, (RUN,))
    for there in reviews_in(tmp_path / "there"):
        for file in reversed(copies):
            there.import_files([file])
        assert there.export(RUN) == reviews.export(RUN)
    changed = write(tmp_path, "changed.jsonl", copies[0].read_text().replace('"extent": 1', '"extent": 2', 1))
    problems = refused(reviews, changed)
    assert len(problems) == 1
    assert (
        "another extent or note is already saved; for a changed score, set scored_at to the time of the change"
        in problems[0]
    )


NOTATIONS: list[dict[str, Any]] = [
    {"scored_at": "2026-11-20T11:00:01.000Z"},
    {"scored_at": "2026-11-20T11:00:01Z"},
    {"scored_at": "2026-11-20T11:00:01.000000+00:00"},
    {"scored_at": "2026-11-20T12:00:01+01:00"},
    {"again": False},
    {"again": None},
    {"answer": FIRST.upper()},
    {"answer": None},
]


@pytest.mark.parametrize("notation", NOTATIONS, ids=json.dumps)
@pytest.mark.parametrize("turned", [False, True], ids=["stored first", "stored second"])
def test_a_line_without_an_id_is_the_same_in_every_notation(
    reviews: Reviews, tmp_path: Path, notation: dict[str, Any], turned: bool
) -> None:
    plain = {"id": None, "scored_at": "2026-11-20T11:00:01.000+00:00", "answer": FIRST}
    other = {**plain, **notation}
    stored, again = (other, plain) if turned else (plain, other)
    assert reviews.import_files([write(tmp_path, "stored.jsonl", without_id(stored))]).new == 1
    same, changed = (write(tmp_path, f"{extent}.jsonl", without_id({**again, "extent": extent})) for extent in (2, 3))
    assert reviews.import_files([same]) == Imported(0, 1, 0, (RUN,))
    for files in ([changed], [same, changed], [changed, same]):
        assert all("with another extent or note is" in problem for problem in refused(reviews, *files))
    for there in reviews_in(tmp_path / "there"):
        assert refused(there, tmp_path / "stored.jsonl", changed)
        assert there.import_files([same, tmp_path / "stored.jsonl"]).new == 1


@pytest.mark.parametrize("notation", NOTATIONS, ids=json.dumps)
def test_a_line_that_an_earlier_version_gave_an_id_keeps_it(
    reviews: Reviews, tmp_path: Path, notation: dict[str, Any]
) -> None:
    fields = {"scored_at": "2026-11-20T11:00:01.000+00:00", "answer": FIRST, **notation}
    keys = ("act", "run", "case", "model", "repeat", "criterion", "again", "answer", "reviewer", "scored_at")
    values = json.loads(line(1, **fields))
    id = hashlib.sha256(json.dumps([values.get(key) for key in keys]).encode()).hexdigest()[:32]
    assert reviews.import_files([write(tmp_path, "old.jsonl", line(1, **{**fields, "id": id}))]).new == 1
    file = write(tmp_path, "same.jsonl", without_id(fields))
    assert reviews.import_files([file]) == Imported(0, 1, 0, (RUN,))


def test_the_time_of_a_line_with_an_id_may_be_written_in_another_way(reviews: Reviews, tmp_path: Path) -> None:
    assert reviews.import_files([write(tmp_path, "one.jsonl", line(1))]).new == 1
    same = write(tmp_path, "same.jsonl", line(1, scored_at="2026-11-20T12:00:01.000+01:00"))
    assert reviews.import_files([same]) == Imported(0, 1, 0, (RUN,))
    assert refused(reviews, write(tmp_path, "later.jsonl", line(1, scored_at="2026-11-20T12:00:01.001+01:00")))


def test_a_reviewer_may_be_named_beside_the_files(reviews: Reviews, tmp_path: Path) -> None:
    text = reviews.export(RUN, template=True).replace("null", "2")
    file = write(tmp_path, "t.jsonl", text, line(1, reviewer="Bo"))
    assert reviews.import_files([file], " Ada ").reviewers == (("Ada", 4), ("Bo", 1))


@pytest.mark.parametrize(
    ("days", "is_good"), [(-10_000, False), (-9_000, True), (-1, True), (1, True), (2, False), (900_000, False)]
)
def test_dates_are_bounded(reviews: Reviews, tmp_path: Path, days: int, is_good: bool) -> None:
    at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    answer = hashlib.sha256(b"Use a parameter.").hexdigest()
    file = write(tmp_path, "dated.jsonl", line(1, scored_at=at, answer=answer))
    if is_good:
        assert reviews.import_files([file]).new == 1
    else:
        assert refused(reviews, file)[0].startswith(f"{file}:1: error: scored_at: ")


@pytest.mark.parametrize(
    ("changes", "extents"),
    [
        ({"attempt": 1}, []),
        ({"attempt": 2}, [2]),
        ({"attempt": 3}, None),
        ({"scored_at": "2026-11-20T10:15:01.209+00:00"}, None),
        ({"scored_at": "2026-11-20T11:15:01.210+01:00"}, []),
        ({"scored_at": "2026-11-20T10:30:01.210Z"}, [2]),
        ({"scored_at": "2026-11-20T10:15:00Z", "answer": SECOND}, [2]),
        ({"answer": SECOND.upper()}, [2]),
        ({"answer": hashlib.sha256(b"Use a parameter.").hexdigest()}, []),
        ({"answer": "0" * 64}, []),
    ],
)
def test_a_line_is_bound_to_the_answer_that_it_is_about(
    tmp_path: Path, changes: dict[str, Any], extents: list[int] | None
) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    for plan in (PLAN, replace(PLAN, run_id=OTHER_RUN)):
        store.begin_run(plan, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    result = make_result(ITEM.trial)
    step = replace(result.attempts[0].steps[0], response="Second \ud800")
    second = replace(result.attempts[0], number=2, steps=(step,), started_at="2026-11-20T10:30:00+00:00")
    store.save_trials(RUN, [replace(result, attempts=(*result.attempts, second))])
    reviews = Reviews(store, tmp_path, Config())
    text = line(1, **changes)
    file = write(tmp_path, "one.jsonl", text)
    if extents is None:
        assert len(refused(reviews, file)) == 1
        folder = tmp_path / "scores" / RUN
        folder.mkdir(parents=True)
        (folder / "old.jsonl").write_text(text)
        board = reviews.reviewed(RUN).board
        assert (board.scores(ITEM), board.unbound) == ((), 1), "an old file is opened all the same"
    else:
        assert reviews.import_files([file]).new == 1
        assert [score.extent for score in reviews.reviewed(RUN).board.scores(ITEM)] == extents
    store.close()


def test_lines_that_came_back_without_the_keys_that_are_ours_are_known(reviews: Reviews, tmp_path: Path) -> None:
    ada = reviews.open_review(RUN, "Ada", blind=True)
    ada.give(ITEM, 3, took_ms=5)
    text = reviews.export(RUN)
    fields = json.loads(text)
    bare = write(tmp_path, "bare.jsonl", json.dumps({key: fields[key] for key in json.loads(line(1))}) + "\n")
    full = write(tmp_path, "full.jsonl", text)
    assert reviews.import_files([bare, full, bare]) == Imported(0, 1, 0, (RUN,))
    for there in reviews_in(tmp_path / "there"):
        assert there.import_files([bare]).new == 1
        stored = there.export(RUN)
        assert there.import_files([full]).new == 0
        assert there.export(RUN) == stored, "a later line changes nothing about the stored one"
        assert reviews.export(RUN) == text


def test_a_copy_of_a_stored_line_that_would_not_count_is_refused(reviews: Reviews, tmp_path: Path) -> None:
    reviews.remember_reviewer("Ada")
    reviews.open_review(RUN, "Ada", blind=False).give(ITEM, 4)
    text = reviews.export(RUN)
    evil = write(tmp_path, "evil.jsonl", json.dumps({**json.loads(text), "again": True}) + "\n")
    [problem] = refused(reviews, evil)
    assert problem.startswith(f"{evil}:1: error: the id ")
    assert "is already saved with different content" in problem
    assert ITEM.trial in reviews.bands(RUN), "the score counts"
    copy = write(tmp_path, "copy.jsonl", text)
    assert refused(reviews, copy, evil), "also in one import"
    assert reviews.import_files([copy]).known == 1


def test_a_template_is_of_whoever_scores_here(reviews: Reviews) -> None:
    reviews.remember_reviewer("Bo")
    assert {json.loads(each)["reviewer"] for each in reviews.export(RUN, template=True).splitlines()} == {"Bo"}
    assert {json.loads(each)["reviewer"] for each in reviews.export(RUN, "Cy", template=True).splitlines()} == {"Cy"}


def test_a_template_without_a_name_says_so_when_it_is_filled_in(reviews: Reviews, tmp_path: Path) -> None:
    text = reviews.export(RUN, template=True)
    assert '"reviewer": ""' in text
    file = write(tmp_path, "t.jsonl", text)
    assert reviews.import_files([file]).unscored == 4
    file = write(tmp_path, "t.jsonl", text.replace("null", "3", 1))
    assert [each for each in refused(reviews, file) if "reviewer" in each and each.startswith(f"{file}:1: error: ")]


# --- in


def test_what_never_ends_is_no_score_file(reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_exchange, "LARGEST_FILE", 2 * len(line(1)))
    assert reviews.import_files([write(tmp_path, "fits.jsonl", line(1), line(2))]).new == 2
    for file in (write(tmp_path, "large.jsonl", line(3), line(4), line(5)), Path("/dev/zero")):
        if file.exists():
            with pytest.raises(ConfigError, match="is larger than"):
                reviews.import_files([file])
    assert reviews.export(RUN).count("\n") == 2


def test_every_bad_line_of_every_file_is_reported_and_nothing_changes(reviews: Reviews, tmp_path: Path) -> None:
    reviews.import_files([write(tmp_path, "before.jsonl", line(1))])
    good = write(tmp_path, "good.jsonl", line(2), "\n", line(3))
    first = write(tmp_path, "b.jsonl", line(4), "{\n", line(5, extent=7))
    second = write(tmp_path, "a.jsonl", line(6, run="0" * 32), line(7), line(8, blind="no"))
    problems = refused(reviews, good, first, second)
    assert [each.split(" error: ")[0] for each in problems] == [
        f"{first}:2:",
        f"{first}:3:",
        f"{second}:1:",
        f"{second}:3:",
    ]


def test_the_number_of_scores_is_limited(reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_exchange, "_MOST_SCORES", 3)
    first, second = write(tmp_path, "b.jsonl", line(1), line(2)), write(tmp_path, "a.jsonl", line(3), line(4))
    with pytest.raises(ConfigError, match=r"a\.jsonl: has more than 3 scores"):
        reviews.import_files([first, second])
    assert reviews.export(RUN) == ""
    assert [reviews.import_files([file]).new for file in (first, second)] == [2, 2]


def test_the_size_of_all_files_together_is_limited(
    reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path, "b.jsonl", line(1), line(2)), write(tmp_path, "a.jsonl", line(3), line(4))
    monkeypatch.setattr(score_exchange, "LARGEST_FILE", 4 * len(line(1)) - 1)
    with pytest.raises(ConfigError, match=r"a\.jsonl: with this file, the scores have more than 0 MiB together"):
        reviews.import_files([first, second])
    assert reviews.export(RUN) == ""
    assert [reviews.import_files([file]).new for file in (first, second)] == [2, 2]


def test_the_number_of_bad_lines_is_limited(reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_exchange, "_MOST_BAD", 3)
    first = write(tmp_path, "b.jsonl", "\n\n", line(1), "  {\n" * 5)
    second = write(tmp_path, "a.jsonl", line(2), "{\n" * 5)
    problems = refused(reviews, first, second)
    assert [each.split(" error: ")[0] for each in problems] == [
        *(f"{first}:{number}:" for number in (4, 5, 6, 6)),
        *[f"{second}:2:"] * 2,
    ]
    assert problems[3].endswith("is problem 3; the lines after it were not read")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"run": "0" * 32}, "unknown run `00000000000000000000000000000000`"),
        ({"run": RUN[:12]}, "unknown run"),
        ({"case": "sec-01"}, "case: the run has no case `sec-01`. Did you mean sec-001?"),
        ({"model": "mock-a"}, f"model: the run has no model `mock-a`; it has `{B}`, `{A}`"),
        ({"repeat": 2}, f"repeat: `{A}` did not run `sec-001` a 2. time in this run"),
        ({"criterion": "tone"}, "criterion: the case `sec-001` has no criterion `tone`; it has `Tone`, `Safety`"),
        ({"case": "sec-002"}, "it has none"),
        ({"case": "\x1b]0;x\x07"}, "the run has no case `␛]0;x␇`"),
    ],
)
def test_what_is_not_in_the_run_is_a_bad_line(
    reviews: Reviews, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    for extent in (2, None):
        problems = refused(reviews, write(tmp_path, "x.jsonl", line(1), line(2, extent=extent, **changes)))
        assert len(problems) == 1
        assert problems[0].startswith(f"{tmp_path}/x.jsonl:2: error: ")
        assert words in problems[0]


def test_a_reveal_names_only_its_run(reviews: Reviews, tmp_path: Path) -> None:
    reveal = line(1, act="reveal", case="", model="", repeat=0, criterion="", extent=None)
    assert reviews.import_files([write(tmp_path, "x.jsonl", reveal)]).new == 1
    assert reviews.open_review(RUN, "Ada", blind=True).revealed
    assert refused(reviews, write(tmp_path, "y.jsonl", line(2, act="reveal", run="2" * 32)))


def test_an_id_that_means_something_else_is_a_bad_line(reviews: Reviews, tmp_path: Path) -> None:
    one = write(tmp_path, "one.jsonl", line(1), line(2))
    two = write(tmp_path, "two.jsonl", line(3), line(2, note="changed"))
    problems = refused(reviews, one, two)
    assert problems == [f"{two}:2: error: the id {2:032x} is in {one}:2 {ELSE}"]
    reviews.import_files([one])
    problems = refused(reviews, two)
    assert problems[0].startswith(f"{two}:2: error: the id {2:032x} is already saved with different content")
    assert reviews.import_files([one, one]) == Imported(0, 2, 0, (RUN,))


def test_a_line_that_grows_over_the_limit_when_it_is_saved_is_refused(reviews: Reviews, tmp_path: Path) -> None:
    reviews.import_files([write(tmp_path, "one.jsonl", line(1))])
    # An invisible character of 3 bytes is saved as an escape of 6.
    grown = line(2, note="hidden").replace("hidden", "\u200b" * 200_000)
    two = write(tmp_path, "two.jsonl", line(3), grown, line(4, reviewer="Bo"))
    [problem] = refused(reviews, two)
    assert problem.startswith(f"{two}:2: error: would be longer than 1,048,576 bytes")


@pytest.mark.parametrize("key", ["note", "reviewer", "x"])
def test_each_line_that_is_nested_too_deeply_is_refused(reviews: Reviews, tmp_path: Path, key: str) -> None:
    """Beyond the levels that can be parsed are those that cannot be written again, from 900 on."""
    lines = (line(1, **{key: 4711}), f"{reviews.make_packet(RUN).splitlines()[0][:-1]}, {json.dumps(key)}: 4711}}\n")
    deep = ["[" * depth + "]" * depth for depth in range(850, 1_000)]
    for number, text in enumerate(lines):
        text = text if number == 0 or key == "x" else text.replace(f', "{key}": ""', "", 1)
        refusals = refused(reviews, write(tmp_path, f"{number}.jsonl", *(text.replace("4711", each) for each in deep)))
        assert len(refusals) == len(deep)
        assert all(": error: is nested " in refusal for refusal in refusals)


def test_the_key_of_a_packet_is_read_once(reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled = reviews.make_packet(RUN).replace('"extent": null', '"extent": 2')
    assert len(filled.splitlines()) == 2
    read: list[Path] = []

    def read_and_count(path: Path, most_bytes: int) -> bytes:
        read.append(path)
        return read_whole(path, most_bytes)

    monkeypatch.setattr(packets, "read_whole", read_and_count)
    assert reviews.import_files([write(tmp_path, "packet.jsonl", filled)], "Dora").new == 4
    assert len(read) == 1


def test_a_line_of_a_packet_with_texts_of_another_answer_is_refused(reviews: Reviews, tmp_path: Path) -> None:
    one, two = (json.loads(text) for text in reviews.make_packet(RUN).replace("null", "2").splitlines())
    for number, text in enumerate(("prompt", "answer")):
        fields = {**one, text: f"{one[text]} and more"}
        [problem] = refused(reviews, write(tmp_path, f"{number}.jsonl", json.dumps(fields)))
        assert problem.endswith("answer: the prompt or the answer is not that of this id; take both from the packet")
    spaced = {**one, "answer": f" {one['answer']}\r\n"}
    short = {key: two[key] for key in ("version", "packet", "id", "criteria")}
    lines = f"{json.dumps(spaced)}\n{json.dumps(short)}\n"
    assert reviews.import_files([write(tmp_path, "spaced.jsonl", lines)], "Dora").new == 4


def test_a_packet_of_an_earlier_version_can_be_imported(reviews: Reviews, tmp_path: Path) -> None:
    filled = reviews.make_packet(RUN).replace('"extent": null', '"extent": 2')
    [key] = tmp_path.rglob("packets/*.json")
    fields = json.loads(key.read_text())
    fields["answers"] = {id: answer[:-1] for id, answer in fields["answers"].items()}
    key.write_text(json.dumps(fields))
    assert reviews.import_files([write(tmp_path, "packet.jsonl", filled)], "Dora").new == 4


def test_files_that_cannot_be_read(reviews: Reviews, tmp_path: Path) -> None:
    for file in (tmp_path / "none.jsonl", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(ConfigError, match="cannot be read"):
            reviews.import_files([write(tmp_path, "x.jsonl", line(1)), file])
    assert reviews.export(RUN) == ""


def test_a_mark_of_byte_order_and_other_line_ends_do_no_harm(reviews: Reviews, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + line(1).replace("\n", "\r\n").encode() + b"\r\n" + line(2).strip().encode())
    assert reviews.import_files([file]).new == 2


def test_standard_input_is_a_file_too(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line(1).encode())))
    assert reviews.import_files([Path("-")]).new == 1
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x\n")))
    assert refused(reviews, Path("-"))[0].startswith("-:1: error: ")


def test_suggestions_for_a_large_file_of_another_suite_have_a_limit(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "large" / "runs.sqlite")
    store.begin_run(
        make_plan([make_case(f"case-{number:05}", criteria=(TONE,)) for number in range(2000)], (A,)), STARTED
    )
    reviews = Reviews(store, tmp_path / "large", Config())
    file = write(tmp_path, "x.jsonl", *(line(1, id=f"{n:032x}", case=f"case-x{n}") for n in range(2000)))
    messages = refused(reviews, file)
    assert len(messages) == 2000
    assert 0 < sum("did you mean" in message.lower() for message in messages) < 100
    store.close()
