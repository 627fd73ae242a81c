"""Mutated files of results: a whole run that can be stored, or problems with a place, and never another exception."""

import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.mutations import mutations
from tests.session.test_score_exchange import PLAN, line
from tests.support.kept_runs import keep, make_result
from tui.imports import inspect_log
from tui.imports.imported import ImportedRun
from tui.model.errors import SuiteError
from tui.model.sanitize import sanitize_text
from tui.model.subjects import Config
from tui.session.result_import import ImportOptions, check_scores, read_results, store_results, with_stored_id
from tui.session.reviews import Reviews
from tui.session.run_files import run_lines
from tui.session.score_exchange import ScoresRefused
from tui.store.sqlite import SqliteStore

FILES = Path(__file__).parents[1] / "imports" / "files"
KEY = "sk-test-4711-secret"
CSV = (
    "case,model,answer,repeat,prompt,category,input_tokens,output_tokens,duration_ms\n"
    'a,m,"yes, ""really""\nyes",1,p,Facts,12,7,20.5\nb,m,=1+1,,,,,,\na,n,é😀,2,p,,0,0,0\n'
)
LINES = "".join(
    json.dumps({"case": case, "model": "m", "answer": f"answer {KEY}", "repeat": 1, "input_tokens": 3}) + "\n"
    for case in "abc"
)
SCORES = "".join(line(number, note=f"note {KEY}") for number in range(3))
RUN = "".join(f"{each}\n" for each in run_lines(keep(PLAN, [make_result(key) for key in PLAN.trials]), SCORES))


def read_all(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(FILES.glob(pattern))]


# What a value is replaced by, in a file that stays valid JSON.
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**53 + 1, 10**30, 10**400, 0.5, -0.0, 1e300, float("nan"), float("inf")),
    *("", " ", "0", "x" * 5_000, "\x00", "\x1b[2J", "\u202e", "\ud800", "../../x", "{{a}}", "9999-12-31T23:59:59Z"),
    *([], {}, [None], {"": None}, [[[[]]]], {"role": ["user"], "content": {}}, {"value": {"a": [1, 0]}}),
]


def json_mutations(text: str, count: int, seed: int, *, lines: bool) -> Iterator[bytes]:
    """Yield valid JSON, or JSON lines, with one to three values replaced, removed, or repeated in their list."""
    chance = random.Random(seed)
    for _ in range(count):
        value = [json.loads(line) for line in text.split("\n") if line] if lines else json.loads(text)
        for _ in range(chance.randint(1, 3)):
            holder, key = chance.choice(list(nodes(value)))
            match chance.randrange(4):
                case 0 if isinstance(holder, list):
                    holder.insert(chance.randint(0, len(holder)), deepcopy(holder[key]))
                case 1:
                    del holder[key]
                case _:
                    holder[key] = deepcopy(chance.choice(ODD))
        yield ("".join(f"{json.dumps(line)}\n" for line in value) if lines else json.dumps(value)).encode()


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the holder and the key or index of each value in a value."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(item, dict | list):
            yield from nodes(item)


def mutated(originals: list[bytes], lines: bool | None = None) -> Callable[[int, int], Iterator[bytes]]:
    """Return what yields mutated bytes, and for JSON (`lines` is not None) as many files with odd values."""

    def both(count: int, seed: int) -> Iterator[bytes]:
        if lines is None:
            yield from mutations(originals, count, seed)
            return
        yield from mutations(originals, count // 2, seed)
        for number, original in enumerate(originals):
            yield from json_mutations(original.decode(), count // 2 // len(originals), seed + number, lines=lines)

    return both


def packed(members: list[tuple[str, bytes]], method: int) -> bytes:
    data = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(data, "w", method) as file:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            file.writestr(name, content)
    return data.getvalue()


def mutated_zips(count: int, seed: int) -> Iterator[bytes]:
    """Yield logs of Inspect as ZIP files with faults in a member, in their structure, or in their bytes."""
    chance = random.Random(seed)
    log = json.loads((FILES / "inspect" / "log.json").read_text())
    samples = [(f"samples/{each['id']}_epoch_{each['epoch']}.json", each) for each in log.pop("samples")]
    members = [
        ("header.json", json.dumps(log).encode()),
        *((name, json.dumps(each).encode()) for name, each in samples),
    ]
    whole = (FILES / "inspect" / "log.eval").read_bytes()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    for number, raw in enumerate(mutations([whole, packed(members, zipfile.ZIP_DEFLATED)], count, seed)):
        changed = list(members)
        at = chance.randrange(len(changed))
        name, content = changed[at]
        method = chance.choice(methods)
        match chance.randrange(7):
            case 0:
                yield raw
            case 1:
                yield packed([*changed, (name, content.replace(b"1", b"2"))], method)
            case 2:
                changed[at] = (name, packed(members, method))
                yield packed(changed, method)
            case 3:
                changed[at] = (name, b" " * (4 << 20))
                yield packed(changed, method)
            case 4:
                changed[at] = (chance.choice(("../x", "/etc/passwd", "samples/\x1b_epoch_1.json", "samples/")), content)
                yield packed(changed, method)
            case 5:
                data = bytearray(packed(changed, method))
                # Sizes, offsets and flags of the central directory, and the record at its end.
                start = data.rfind(b"PK\x01\x02")
                for _ in range(chance.randint(1, 6)):
                    data[chance.randrange(start, len(data))] = chance.choice((0, 1, 0x7F, 0xFF))
                yield bytes(data)
            case _:
                changed[at] = (name, next(mutations([content], 1, seed * count + number)))
                yield packed(changed, method)


KINDS: dict[str, Callable[[int, int], Iterator[bytes]]] = {
    "log.json": mutated(read_all("inspect/*.json"), lines=False),
    "log.eval": mutated_zips,
    "results.json": mutated(read_all("*.json"), lines=False),
    "results.jsonl": mutated(read_all("*.jsonl"), lines=True),
    "report.json": mutated(read_all("pydantic_evals/*.json"), lines=False),
    "evals.jsonl": mutated(read_all("openai_evals/*.jsonl"), lines=True),
    "run.jsonl": mutated([RUN.encode()], lines=True),
    "answers.jsonl": mutated([LINES.encode()], lines=True),
    "answers.csv": mutated([CSV.encode(), CSV.replace(",", ";").encode(), b"\xef\xbb\xbf" + CSV.encode()]),
}


def check(kind: str, folder: Path, count: int, seed: int) -> None:
    config = folder / "assay_config_dir"
    config.mkdir(exist_ok=True)
    (config / "config.yaml").write_text(
        "providers:\n  p: {kind: openai, base_url: 'https://x.test', api_key: '${P_KEY}'}\n"
    )
    environ = {"HOME": str(folder), "ASSAY_CONFIG_DIR": str(config), "P_KEY": KEY}
    store = SqliteStore(folder / f"{kind}-{seed}.sqlite")
    reviews = Reviews(store, folder, Config())
    path = folder / kind
    refused = 0
    for number, data in enumerate(KINDS[kind](count, seed)):
        path.write_bytes(data)
        try:
            try:
                imported = read_results(path, ImportOptions(), environ)
            except SuiteError as error:
                refused += 1
                problems = [str(problem) for problem in error.problems]
            else:
                problems = [str(problem) for problem in imported.warnings]
                problems += store_whole(imported, store, reviews)
        except Exception as error:
            error.add_note(f"mutation {number} of {kind}, seed {seed}: {data[:300]!r}")
            raise
        for problem in problems:
            assert problem == sanitize_text(problem), f"mutation {number} of {kind}, seed {seed}"
            assert problem.startswith(str(path)), f"mutation {number} of {kind}, seed {seed}"
            assert "4711-secret" not in problem, f"mutation {number} of {kind}, seed {seed}"
            assert len(problem) < 2_000, f"mutation {number} of {kind}, seed {seed}"
    store.close()
    assert refused > count // 8, "the mutations are faults"
    assert refused < count, "some mutations leave a file that can be imported"


def store_whole(imported: ImportedRun, store: SqliteStore, reviews: Reviews) -> list[str]:
    """Store the run with its scores, and assert that all come back as they were imported; or return why not."""
    run = with_stored_id(imported, store)
    run_id = run.plan.run_id
    trials = [result.trial for result in run.results]
    assert len(set(trials)) == len(trials)
    assert set(trials) == set(run.plan.trials) or run.is_exported
    try:
        scores = check_scores(run, store, reviews)
    except ScoresRefused as refused:
        return [str(bad) for bad in refused.bad]
    stored = store_results(run, store, scores)
    if stored.is_new:
        kept = store.read_run(run_id)
        assert {result.trial: result for result in kept.results} == dict(zip(trials, run.results, strict=True))
        assert kept.plan.suite == run.plan.suite
    if stored.scores is not None:
        assert len(reviews.export(run_id).splitlines()) == stored.scores.new
    if run.is_exported:
        # The next mutation has the same id.
        reviews.set_aside(run_id)
        store.delete_run(run_id)
        reviews.settle_deletions()
    return []


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "MOST_BYTES", 1 << 20)


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_results_are_imported_whole_or_refused(kind: str, tmp_path: Path) -> None:
    check(kind, tmp_path, 50, seed=13)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_many_mutated_results_are_imported_whole_or_refused(kind: str, seed: int, tmp_path: Path) -> None:
    check(kind, tmp_path, 2_000, seed)
