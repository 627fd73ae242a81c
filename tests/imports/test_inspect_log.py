"""Logs of Inspect, written by inspect_ai itself with its mock model, become a run with the same samples and scores."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tui.imports import inspect_log, result_file
from tui.imports.imported import ImportedRun, kind_of_file
from tui.imports.inspect_log import read_inspect
from tui.model.errors import SuiteError
from tui.model.results import CheckResult, Message, TrialKey, Usage, Verdict
from tui.model.secrets import Secrets

FILES = Path(__file__).parent / "files" / "inspect"
LOG, EVAL = FILES / "log.json", FILES / "log.eval"
MODEL = "mockllm/model"


def document() -> Any:
    return json.loads(LOG.read_text())


def imported(folder: Path, value: Any, secrets: Secrets | None = None) -> ImportedRun:
    path = folder / "log.json"
    path.write_text(json.dumps(value))
    return read_inspect(path, secrets=secrets)


def problems(path: Path) -> list[str]:
    with pytest.raises(SuiteError) as raised:
        read_inspect(path)
    return [str(problem).replace(str(path), "FILE") for problem in raised.value.problems]


def packed(method: int = zipfile.ZIP_DEFLATED, extra: Mapping[str, bytes] | None = None) -> bytes:
    """The log as a ZIP file with another compression, as other versions of inspect_ai write it."""
    value = document()
    samples = value.pop("samples")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        for name, content in (extra or {}).items():
            file.writestr(name, content)
        file.writestr("header.json", json.dumps(value))
    return data.getvalue()


def overlapping() -> bytes:
    """The log as a ZIP file whose directory says that the data of each member end with the file."""
    data = bytearray(packed())
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<I", data, at + 20, len(data))
        at = data.find(b"PK\x01\x02", at + 1)
    return bytes(data)


def zstd_member(name: str, content: bytes, crc: int) -> bytes:
    """A ZIP file of one member that is compressed with zstd."""
    raw, encoded = zstandard.ZstdCompressor().compress(content), name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 0x21, crc, len(raw), len(content), len(encoded), 0)
    local = b"PK\x03\x04" + common + encoded + raw
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + encoded
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def test_both_kinds_of_log_are_the_same_run() -> None:
    one, other = read_inspect(LOG), read_inspect(EVAL)
    assert one.results == other.results
    assert one.plan.run_id == other.plan.run_id
    assert one.plan.suite.cases == other.plan.suite.cases
    assert (one.state, one.started_at) == (other.state, other.started_at) == ("finished", other.started_at)
    assert {info.compress_type for info in zipfile.ZipFile(EVAL).infolist()} == {93}
    assert kind_of_file(LOG.read_bytes()[:65536]) == kind_of_file(EVAL.read_bytes()[:65536]) == "inspect"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_other_compressions(method: int, tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(packed(method))
    assert read_inspect(tmp_path / "log.eval").results == read_inspect(LOG).results


def test_samples_are_cases_and_epochs_repeats() -> None:
    run = read_inspect(EVAL)
    suite = run.plan.suite
    assert (suite.name, suite.models, run.plan.options.repeats) == ("capitals", (MODEL,), 2)
    assert [case.id for case in suite.cases] == ["france", "peru", "3", "poem", "spain", "broken"]
    assert (suite.cases[0].category, suite.cases[0].expected_behavior) == ("Geography", "Paris")
    assert run.plan.trials[:3] == (
        TrialKey("france", MODEL, 1),
        TrialKey("france", MODEL, 2),
        TrialKey("peru", MODEL, 1),
    )
    whole = document()["samples"]
    texts = {(str(each["id"]), each["epoch"]): each["output"]["completion"] for each in whole}
    assert {(each.trial.case, each.trial.repeat): each.attempts[0].steps[0].response for each in run.results} == texts


def test_a_sample_with_a_tool() -> None:
    result = next(each for each in read_inspect(EVAL).results if each.trial.case == "3")
    (step,) = result.attempts[0].steps
    assert (step.response, step.tools_used, step.finish_reason) == ("The sum is 4.", ("add",), "stop")
    assert step.usage == Usage(24, 18, 8)
    assert step.checks == (
        CheckResult("recorded", "includes", "passed", "score C\nThe sum is 4."),
        CheckResult("recorded", "verdicts.polite", "passed", "score true\ntwo values"),
        CheckResult("recorded", "verdicts.grade", "failed", "score P\ntwo values"),
    )
    assert step.notes == ("Inspect score of brevity: 0.071",)
    assert step.prompt.messages[-1] == Message("user", "[result of add]\n4")
    reasoning = {each.trial.case: each.attempts[0].steps[0].reasoning for each in read_inspect(EVAL).results}
    assert reasoning["peru"] == "I recall the map of Peru."


def changed(**changes: Any) -> Any:
    value = document()
    value["samples"] = [value["samples"][0] | changes]
    return value


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"scores": {"s": {"value": "C"}}}, "passed"),
        ({"scores": {"s": {"value": True}}}, "passed"),
        ({"scores": {"s": {"value": 1.0}}}, "passed"),
        ({"scores": {"s": {"value": "P"}}}, "failed"),
        ({"scores": {"s": {"value": "N"}}}, "failed"),
        ({"scores": {"s": {"value": 0}}}, "failed"),
        ({"scores": {"s": {"value": "1"}}}, "passed"),
        ({"scores": {"s": {"value": "0.0"}}}, "failed"),
        ({"scores": {"s": {"value": "0.8"}}}, "unchecked"),
        ({"scores": {"s": {"value": [1, False]}}}, "failed"),
        ({"scores": {"s": {"value": 0.8}}}, "unchecked"),
        ({"scores": {"s": {"value": float("nan")}}}, "unchecked"),
        ({"scores": None}, "unchecked"),
        ({"error": {"message": "broke"}}, "error"),
        ({"invalidation": {"author": "ann", "reason": "the tool was down"}}, "error"),
        ({"limit": {"type": "time", "limit": 5.0}}, "timed_out"),
        ({"limit": {"type": "message", "limit": 5.0}}, "incomplete"),
    ],
)
def test_verdicts(changes: dict[str, Any], verdict: Verdict, tmp_path: Path) -> None:
    run = imported(tmp_path, changed(**changes))
    (result,) = run.results
    assert result.verdict == verdict
    warned = any("1 answer that ended early is incomplete, not passed" in str(each) for each in run.warnings)
    assert warned == (verdict == "incomplete")
    assert (result.error is None) == (verdict not in ("error", "timed_out", "incomplete"))


def test_a_score_with_numbers_between_judges_no_sample(tmp_path: Path) -> None:
    value = document()
    rows: list[tuple[Any, Any]] = [(0.0, 1), (0.97, float("nan")), (1, 0), ("1", "0"), (True, 1)]
    value["samples"] = [
        value["samples"][0]
        | {"id": 10 + number, "epoch": 1, "scores": {"f1": {"value": f1}, "exact": {"value": exact}}}
        for number, (f1, exact) in enumerate(rows)
    ]
    steps = [result.attempts[0].steps[0] for result in imported(tmp_path, value).results]
    assert [[(check.target, check.state) for check in step.checks] for step in steps] == [
        [("exact", "passed")],
        [],
        [("exact", "failed")],
        [("exact", "failed")],
        [("f1", "passed"), ("exact", "passed")],
    ]
    assert [step.notes[0] for step in steps[:4]] == [
        f"Inspect score of f1: {each}" for each in ("0.0", "0.97", "1", "1")
    ]


@pytest.mark.parametrize("words", ["ABCDF", ["no", "low", "mid", "high"], ["C", "c", "unsure"]])
def test_a_score_with_other_words_judges_no_sample(words: Sequence[str], tmp_path: Path) -> None:
    value = document()
    value["samples"] = [
        value["samples"][0] | {"id": number, "epoch": 1, "scores": {"grade": {"value": word}, "right": {"value": "C"}}}
        for number, word in enumerate(words, 1)
    ]
    steps = [result.attempts[0].steps[0] for result in imported(tmp_path, value).results]
    assert {tuple(check.target for check in step.checks) for step in steps} == {("right",)}
    assert sorted(step.notes[0] for step in steps) == sorted(f"Inspect score of grade: {word}" for word in words)


def test_keys_do_not_come_in(tmp_path: Path) -> None:
    run = imported(tmp_path, changed(input="my key is sk-very-secret-1"), Secrets(["sk-very-secret-1"]))
    assert run.plan.suite.cases[0].steps[0].input == "my key is [removed key]"


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "truncated JSON": (lambda: LOG.read_bytes()[:900], "FILE:"),
    "truncated ZIP": (lambda: EVAL.read_bytes()[:900], "FILE: error: file: is damaged"),
    "no samples": (lambda: json.dumps(document() | {"samples": []}).encode(), "samples: expected a list with at least"),
    "an epoch of 0": (lambda: json.dumps(changed(epoch=0)).encode(), "samples[0].epoch: input should be greater"),
    "a sample twice": (
        lambda: json.dumps(document() | {"samples": [changed()["samples"][0]] * 2}).encode(),
        "samples: sample '3', epoch 1: appears twice",
    ),
    "a bad sample": (lambda: packed(extra={"samples/x_epoch_1.json": b"{}"}), "samples/x_epoch_1.json: id: is missing"),
    "controls in a name": (lambda: packed(extra={"samples/\x1b[31m_epoch_1.json": b"["}), "JSON: EOF"),
    "a name that leaves the folder": (
        lambda: packed(extra={"samples/../../x_epoch_1.json": b"{}"}),
        "id: is missing",
    ),
    "members that overlap": (overlapping, "FILE: error: file: is damaged: its members overlap"),
    "a wrong checksum": (
        lambda: zstd_member("header.json", b"{}", 7),
        "FILE: error: file: is damaged: the checksum of header.json is wrong",
    ),
    "only a header": (
        lambda: zstd_member("header.json", LOG.read_bytes(), zlib.crc32(LOG.read_bytes())),
        "FILE: error: file: has no samples",
    ),
    "an unknown compression": (lambda: packed(zipfile.ZIP_LZMA), "has a member with an unknown compression, 14"),
}


@pytest.mark.parametrize("name", ["header.json", "samples/france_epoch_1.json"])
def test_a_member_that_appears_twice(name: str, tmp_path: Path) -> None:
    data = io.BytesIO(packed())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(data, "a") as file:
        file.writestr(name, zipfile.ZipFile(io.BytesIO(packed())).read(name))
    path = tmp_path / "log.eval"
    path.write_bytes(data.getvalue())
    assert problems(path) == [f"FILE: error: file: is damaged: {name} appears twice"]


@pytest.mark.parametrize("name", BAD)
def test_bad_logs(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(BAD[name][0]())
    found = problems(path)
    assert BAD[name][1] in found[0]
    assert "\x1b" not in "".join(found)
    assert [each.name for each in tmp_path.iterdir()] == ["log.eval"]


def test_members_are_counted_before_their_directory_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(packed())
    members = len(zipfile.ZipFile(path).infolist())
    monkeypatch.setattr(inspect_log, "MOST_MEMBERS", members)
    assert read_inspect(path).results
    monkeypatch.setattr(inspect_log, "MOST_MEMBERS", members - 1)
    directory, entry = path.read_bytes().rpartition(b"PK\x01\x02")[::2]
    path.write_bytes(directory + b"PK\x01\x02" + entry[:2] + b"\xff" + entry[3:])  # a version that zipfile refuses
    assert problems(path) == [f"FILE: error: file: has more than {members - 1} members"]


@pytest.mark.parametrize("zstd", [False, True])
def test_a_member_that_becomes_very_large(zstd: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "MOST_BYTES", 1 << 20)
    bomb = b" " * (8 << 20)
    path = tmp_path / "log.eval"
    path.write_bytes(zstd_member("header.json", bomb, 0) if zstd else packed(extra={"samples/x_epoch_1.json": bomb}))
    assert problems(path) == ["FILE: error: file: is larger than 1 MiB when decompressed"]


@pytest.mark.parametrize("zstd", [False, True])
def test_the_size_of_one_member_is_limited(zstd: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "_MOST_MEMBER_BYTES", 1 << 20)
    bomb = b" " * (8 << 20)
    path = tmp_path / "log.eval"
    path.write_bytes(zstd_member("header.json", bomb, 0) if zstd else packed(extra={"samples/x_epoch_1.json": bomb}))
    assert problems(path)[0].startswith("FILE: error: file: has a member of more than 1 MiB when decompressed: ")


@pytest.mark.parametrize("what", ["many characters of four bytes", "many small values", "an attachment used often"])
def test_the_memory_of_all_samples_is_limited(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_file, "MOST_MEMORY", 2 << 20)
    sample = {**document()["samples"][0], "id": "x"}
    if what.startswith("many characters"):
        sample["input"] = "\U0001f600" + "x" * 600_000
    elif what.startswith("many small"):
        sample["metadata"] = {"x": [[]] * 40_000}
    else:
        message = {"role": "user", "content": f"attachment://{'a' * 32}"}
        sample |= {"attachments": {"a" * 32: "x" * 10_000}, "messages": [message] * 300}
    path = tmp_path / "log.eval"
    path.write_bytes(packed())
    assert read_inspect(path).results
    path.write_bytes(packed(extra={"samples/x_epoch_1.json": json.dumps(sample, ensure_ascii=False).encode()}))
    assert problems(path) == ["FILE: error: file: needs more than 2 MiB of memory; import it as several files"]


@pytest.mark.parametrize("kind", ["json", "eval"])
def test_the_messages_of_all_samples_are_limited(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"log.{kind}"
    path.write_bytes(LOG.read_bytes() if kind == "json" else packed())
    samples = document()["samples"]
    total = sum(
        len(each.get("messages") or ()) + isinstance(each["input"], list) * len(each["input"]) for each in samples
    )
    monkeypatch.setattr(inspect_log, "MOST_MESSAGES", total)
    assert read_inspect(path).results
    monkeypatch.setattr(inspect_log, "MOST_MESSAGES", total - 1)
    assert problems(path) == ["FILE: error: file: has more than 500,000 messages"]


def test_the_parts_of_a_message_are_limited(tmp_path: Path) -> None:
    calls = [{"id": "1", "function": "f", "arguments": {}}] * 1_001
    value = document()
    value["samples"][0]["messages"][-1]["tool_calls"] = calls
    (tmp_path / "log.json").write_text(json.dumps(value))
    [problem] = problems(tmp_path / "log.json")
    assert "tool_calls: list should have at most 1000 items" in problem
