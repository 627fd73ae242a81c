"""The index of answers: what is found, that it follows the history, and that nothing of a deleted run stays in it."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import STARTED, hostile_run, make_case, make_plan, make_result
from tui.model.answer_search import MATCH_END, MATCH_START, AnswerHits, parse_answer_query
from tui.model.results import TrialKey
from tui.store import answer_index
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"


def run_id(number: int) -> str:
    return f"0193f2{number:026x}"


def save(store: SqliteStore, number: int, *answers: str, state: bool = True) -> str:
    """Save a run in which model A gave these answers, one for each case."""
    cases = [make_case(f"case-{place}") for place in range(len(answers))]
    plan = make_plan(cases, [A], run_id=run_id(number))
    store.begin_run(plan, STARTED)
    store.save_trials(
        plan.run_id,
        [make_result(TrialKey(case.id, A), response=text) for case, text in zip(cases, answers, strict=True)],
    )
    if state:
        store.finish_run(plan.run_id, "finished", STARTED)
    return plan.run_id


def fill(store: SqliteStore) -> None:
    store.begin_index()
    while not store.update_index().is_complete:
        pass


def search(store: SqliteStore, text: str, limit: int = 50, run: str = "") -> AnswerHits:
    fill(store)
    return store.search_answers(parse_answer_query(text), limit, run)


def found(store: SqliteStore, text: str, **options: str) -> list[tuple[str, str]]:
    """Return run and case of the hits."""
    return [(hit.run, hit.case) for hit in search(store, text, **options).hits]  # type: ignore[arg-type]


def bytes_of_index(history: Path) -> bytes:
    return b"".join(path.read_bytes() for path in history.parent.glob("runs.search*"))


def test_words_phrases_and_starts_of_words_are_found_the_newest_first(store: SqliteStore) -> None:
    one = save(store, 1, "Use a parameter for the query.", "Join the strings.")
    two = save(store, 2, "The Parameters of a naïve query_builder.")
    assert found(store, "parameter") == [(two, "case-0"), (one, "case-0")]
    assert found(store, "PARAM quer") == [(two, "case-0"), (one, "case-0")]
    assert found(store, '"the query"') == [(one, "case-0")]
    assert found(store, "naive") == [(two, "case-0")]
    assert found(store, "builder") == [(two, "case-0")]
    assert found(store, "strings", run=two) == []
    assert found(store, "strings", run=one) == [(one, "case-1")]
    assert found(store, "arameter") == []


def test_a_hit_names_its_answer_and_marks_the_match(store: SqliteStore) -> None:
    save(store, 1, "word " * 200 + "the needle here" + " word" * 200)
    [hit] = search(store, "needle").hits
    assert (hit.suite, hit.model, hit.verdict, hit.attempt, hit.started_at) == ("Sample suite", A, "passed", 1, STARTED)
    assert f"the {MATCH_START}needle{MATCH_END} here" in hit.context
    assert len(hit.context) < 400


@pytest.mark.parametrize(
    "text",
    ["", " ", '"', '""', '"*"', "*", "a AND", "NOT x", "(a", "text:a", "a^2", "-a", "NEAR(a b)", "'", "\0", "!=",
     "\ud800", "%", "_", "\\", "x" * 5000, " ".join("abcdefghijklmnopqrstuvwxyz" * 3), "ﬁ", "a:b", '{"a": 1}'],
)  # fmt: skip
def test_no_text_is_an_error(store: SqliteStore, text: str) -> None:
    save(store, 1, "if a != b and (text:a) then {x}")
    search(store, text)


def test_signs_and_scripts_without_spaces_are_found(store: SqliteStore) -> None:
    save(store, 1, "if a != b: pass", "これは日本語の文です", "100% of them")
    assert [case for _, case in found(store, "!=")] == ["case-0"]
    assert [case for _, case in found(store, "日本語")] == ["case-1"]
    assert [case for _, case in found(store, "%")] == ["case-2"]
    [hit] = search(store, "日本語").hits
    assert hit.context == f"これは{MATCH_START}日本語{MATCH_END}の文です"


def test_without_an_index_of_words_texts_are_scanned(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_index, "has_word_index", lambda _: False)
    one = save(store, 1, "Use a parameter for the query.")
    assert found(store, "arameter QUERY") == [(one, "case-0")]
    assert found(store, '"the query"') == [(one, "case-0")]
    store.delete_run(one)
    assert found(store, "parameter") == []
    monkeypatch.undo()
    two = save(store, 2, "Use a parameter.")
    store._index.close()
    assert found(store, "parameter") == [(two, "case-0")], "the index is built again with words"


def test_new_and_replaced_results_are_indexed(store: SqliteStore) -> None:
    one = save(store, 1, "before", state=False)
    assert found(store, "before") == [(one, "case-0")]
    store.save_trials(one, [make_result(TrialKey("case-0", A), response="after")])
    assert found(store, "before") == []
    assert found(store, "after") == [(one, "case-0")]


def test_every_attempt_is_found(store: SqliteStore) -> None:
    one = save(store, 1, "nothing", state=False)
    result = make_result(TrialKey("case-0", A), response="first try")
    later = replace(make_result(TrialKey("case-0", A), response="second try").attempts[0], number=2)
    store.save_trials(one, [replace(result, attempts=(*result.attempts, later))])
    assert sorted(hit.attempt for hit in search(store, "try").hits) == [1, 2]


def test_a_hit_has_the_verdict_of_its_attempt(store: SqliteStore) -> None:
    one = save(store, 1, "nothing", state=False)
    key = TrialKey("case-0", A)
    failed, passed = make_result(key, "failed", response="bad try"), make_result(key, "passed", response="good try")
    again = replace(passed.attempts[0], number=2, asking=1)
    store.save_trials(one, [replace(passed, attempts=(*failed.attempts, again))])
    hits = {hit.attempt: hit.verdict for hit in search(store, "try").hits}
    assert hits == {1: "failed", 2: "passed"}


def test_a_deleted_run_leaves_nothing_in_the_index(store: SqliteStore, history: Path) -> None:
    one = save(store, 1, "the zyzzyva answer", *(f"secretword{number} plain" for number in range(100)))
    two = save(store, 2, "the other answer")
    assert found(store, "zyzzyva") == [(one, "case-0")]
    assert b"zyzzyva" in bytes_of_index(history)
    store.delete_run(one)
    for word in (b"zyzzyva", b"secretword", b"yzzyva"):
        assert word not in bytes_of_index(history)
    assert found(store, "answer") == [(two, "case-0")]


def test_a_run_that_another_program_deletes_is_removed_at_the_next_search(store: SqliteStore, history: Path) -> None:
    one = save(store, 1, "the zyzzyva answer")
    fill(store)
    other = sqlite3.connect(history)
    other.execute("PRAGMA foreign_keys = ON")
    other.execute("DELETE FROM run")
    other.commit()
    other.close()
    assert store.search_answers(parse_answer_query("zyzzyva"), 50).hits == (), "before the index is compared"
    assert found(store, "zyzzyva") == []
    assert b"zyzzyva" not in bytes_of_index(history)
    assert one not in [record.id for record in store.list_runs()]


def test_a_deleted_run_creates_no_index(store: SqliteStore, history: Path) -> None:
    store.delete_run(save(store, 1, "answer"))
    assert bytes_of_index(history) == b""


@pytest.mark.parametrize("damage", ["garbage", "middle", "format", "foreign", "removed"])
def test_a_damaged_index_is_built_again(history: Path, damage: str) -> None:
    store = SqliteStore(history)
    one = save(store, 1, *(f"answer {number} " + "text " * 50 for number in range(200)))
    fill(store)
    path = store._index.path
    store.close()
    if damage == "removed":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"no database " * 1000)
    elif damage == "middle":
        content = bytearray(path.read_bytes())
        content[4096:-4096] = b"\xa5" * (len(content) - 8192)
        path.write_bytes(bytes(content))
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99" if damage == "format" else "PRAGMA application_id = 7")
        connection.close()
    store = SqliteStore(history)
    assert found(store, "answer 7") == [(one, "case-79")] + [(one, f"case-{n}") for n in range(78, 69, -1)] + [
        (one, "case-7")
    ]
    store.close()


def test_an_index_that_is_removed_while_it_is_used_is_built_again(store: SqliteStore) -> None:
    one = save(store, 1, "answer")
    fill(store)
    store._index.path.unlink()
    assert found(store, "answer") == [(one, "case-0")]


def test_a_history_that_cannot_be_written_is_searched_in_memory(history: Path) -> None:
    store = SqliteStore(history)
    one = save(store, 1, "answer")
    store.close()
    store = SqliteStore(history)
    store._file.is_readonly = True
    assert found(store, "answer") == [(one, "case-0")]
    assert bytes_of_index(history) == b""
    store.close()


def test_the_file_is_private_and_hostile_answers_are_indexed(store: SqliteStore) -> None:
    kept = hostile_run("a canary \x02\x03\x00 \ud800 end")
    store.begin_run(replace(kept.plan, run_id=run_id(1)), STARTED)
    store.save_trials(run_id(1), kept.results)
    hits = search(store, "canary").hits
    assert hits
    assert all(hit.context.count(MATCH_START) == hit.context.count(MATCH_END) for hit in hits)
    assert store._index.path.stat().st_mode & 0o777 == 0o600


def test_a_long_search_is_cut(store: SqliteStore) -> None:
    save(store, 1, *("same answer" for _ in range(30)))
    assert not search(store, "same", limit=10).complete
    assert len(search(store, "same", limit=10).hits) == 10
    assert search(store, "same", limit=30).complete


def test_an_attempt_with_a_number_that_sqlite_cannot_hold_is_not_indexed() -> None:
    attempt = {"number": 10**30, "steps": [{"response": "parameter"}]}
    assert answer_index.texts_of(json.dumps({"attempts": [attempt, attempt | {"number": 2}]})) == [(2, "parameter")]
