"""`assay review`: scores out and in and their agreement, as a person's shell sees it."""

import json
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.test_run import keys_for, write_suite
from tests.support.command_line import CommandLine, Ran
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tests.support.model_server import ModelServer, answer_by, say
from tests.support.replies import status
from tests.support.terminal import Terminal
from tui.cli.run_options import FORMATS
from tui.model.risk import reliability
from tui.model.run import ReportContent
from tui.model.scores import Extent
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.session.reviews import Reviews
from tui.session.session import Session
from tui.store.sqlite import SqliteStore

HOSTILE = "\x1b]0;x\x07\u202eBo"
CRITERIA = (RiskCriterion("Tone", "Stays polite", "low"), RiskCriterion("Safety", "Harms nobody", "critical"))
PLAN = make_plan([make_case(f"sec-{n:03}", criteria=CRITERIA) for n in range(4)], ("openai/mock-a", "local/mock-b"))
RUN = PLAN.run_id


@pytest.fixture
def scored(assay: CommandLine) -> CommandLine:
    """A run with the scores of Ada and Bo."""
    folder = Path(assay.environ()["ASSAY_DATA_DIR"])
    store = SqliteStore(folder / "runs.sqlite")
    store.begin_run(PLAN, STARTED)
    store.save_trials(RUN, [make_result(trial) for trial in PLAN.trials])
    store.finish_run(RUN, "finished", STARTED)
    reviews = Reviews(store, folder, Config())
    give(reviews, "Ada", (0, 1, 2, 3, 4, "n/a", 0, 1, 2, 2, 3, 0, 4, 4, 1, 0))
    give(reviews, HOSTILE, (0, 1, 2, 3, 3, 1, 0, 2, 2, 2, 3, 1, 4, 3, 1, 0))
    store.close()
    return assay


def give(reviews: Reviews, name: str, extents: Sequence[Extent]) -> None:
    review = reviews.open_review(RUN, name, blind=False)
    for item, extent in zip(review.items, extents, strict=False):
        review.give(item.key, extent, f"note {HOSTILE}")


def test_scores_are_carried_to_another_home_and_back(scored: CommandLine, tmp_path: Path) -> None:
    exported = scored.run("review", "export", "last")
    assert (exported.code, exported.out.count("\n")) == (0, 32)
    assert exported.err == "32 lines of scores\n"
    assert "\x1b" not in exported.out
    mine = scored.run("review", "export", RUN[:8], "--reviewer", "Ada", "-o", "ada.jsonl")
    assert (mine.code, mine.out, mine.err) == (0, "", "16 lines of scores: ada.jsonl\n")
    assert {json.loads(line)["reviewer"] for line in (tmp_path / "ada.jsonl").read_text().splitlines()} == {"Ada"}
    again = scored.run("review", "import", "ada.jsonl")
    assert (again.code, again.out, again.err) == (0, "", "Lines: 0 new, 16 already known\n")
    assert scored.run("review", "export", "last").out == exported.out


def test_data_is_utf8_in_every_locale_and_holds_nothing_that_a_terminal_obeys(scored: CommandLine) -> None:
    for args in (("report", "last", "-f", "json"), ("report", "last", "-f", "html"), ("runs", "--json")):
        usual = scored.run(*args)
        other = scored.run(*args, env={"PYTHONIOENCODING": "latin-1:strict"})
        assert (other.code, other.out) == (0, usual.out), other.err
    strange = make_plan([make_case("one")], ["openai/\x9b31m\u202e日本"])
    store = SqliteStore(Path(scored.environ()["ASSAY_DATA_DIR"]) / "runs.sqlite")
    store.begin_run(replace(strange, run_id="0" * 32), STARTED)
    store.close()
    listed = scored.run("runs", "--json", env={"PYTHONIOENCODING": "latin-1:strict"})
    assert [run["models"] for run in json.loads(listed.out) if run["id"] == "0" * 32] == [["openai/\x9b31m\u202e日本"]]
    assert not {"\x9b", "\u202e"} & set(listed.out)


def test_a_template_is_filled_in(scored: CommandLine, tmp_path: Path) -> None:
    made = scored.run("review", "export", "last", "--template", "--reviewer", "Cy", "-o", "cy.jsonl")
    assert made.err == "16 lines to fill in: cy.jsonl\n"
    text = (tmp_path / "cy.jsonl").read_text()
    (tmp_path / "cy.jsonl").write_text(text.replace('"extent": null', '"extent": 2', 3))
    assert (
        scored.run("review", "import", "cy.jsonl").err
        == "Lines: 3 new, 13 not scored, skipped\nReviewers: Cy (3 new)\n"
    )


def test_lines_in_ones_own_name_are_confirmed_in_a_terminal_and_noted_elsewhere(
    scored: CommandLine, tmp_path: Path
) -> None:
    (Path(scored.environ()["ASSAY_DATA_DIR"]) / "reviewer").write_text("Ada\n")
    exported = scored.run("review", "export", "last", "--reviewer", "Ada").out.splitlines()
    mine = {**json.loads(exported[0]), "id": "f" * 32, "extent": 4, "scored_at": datetime.now(UTC).isoformat()}
    (tmp_path / "mine.jsonl").write_text(json.dumps(mine) + "\n")
    command = [sys.executable, "-m", "tui", "review", "import", "mine.jsonl"]
    with Terminal(command, cwd=tmp_path, env=scored.environ()) as terminal:
        terminal.wait_for("The files have 1 new line in your own name, Ada. Import them as your scores?")
        terminal.press("n", "enter")
        assert terminal.wait_exit() == 2
        assert "Nothing was imported" in terminal.screen
    ran = scored.run("review", "import", "mine.jsonl")
    assert ran.code == 0
    assert ran.err.startswith("Note: 1 new line in your own name, Ada.\nLines: 1 new\n")


def test_a_bad_line_is_reported_with_its_place_and_nothing_is_imported(scored: CommandLine, tmp_path: Path) -> None:
    before = scored.run("review", "export", "last").out
    (tmp_path / "good.jsonl").write_text(before.replace('"Ada"', '"Di"').replace('"id": "', '"id": "0'))
    (tmp_path / "bad.jsonl").write_text(before.replace("sec-001", "sec-\\u001b[31m"))
    ran = scored.run("review", "import", "good.jsonl", "bad.jsonl")
    assert (ran.code, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert lines[0].startswith("good.jsonl:1: error: id: ")
    assert any(line.startswith("bad.jsonl:") and ": error: " in line for line in lines)
    assert lines[-1] == "Nothing was imported."
    assert "\x1b" not in ran.err
    assert scored.run("review", "export", "last").out == before


def test_agreement_is_reported_to_the_letter(scored: CommandLine) -> None:
    ran = scored.run("review", "agreement", "last", "--json")
    found = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert list(found)[:2] == ["overall", "by_criterion"]
    assert sorted(found["by_criterion"]) == ["Safety", "Tone"]
    for alpha in (found["overall"], *found["by_criterion"].values()):
        assert list(alpha) == ["alpha", "low", "high", "words", "na_disagreement"]
        assert alpha["low"] is None or alpha["low"] <= alpha["alpha"] <= alpha["high"] <= 1
        assert alpha["words"] == reliability(alpha["alpha"])
        assert alpha["na_disagreement"]["split"] <= alpha["na_disagreement"]["units"]
    done = scored.run("review", "agreement", RUN)
    assert done.out.startswith(f"overall  alpha {found['overall']['alpha']:.2f}")
    assert found["overall"]["words"] in done.out.splitlines()[0]
    assert "weighted kappa" in done.out
    assert "\x1b" not in done.out


def test_agreement_without_a_figure_says_why(scored: CommandLine) -> None:
    lines = scored.run("review", "export", "last", "--template").out.splitlines()
    alike = [{**json.loads(line), "reviewer": name, "extent": 0} for line in lines[:3] for name in ("Cy", "Di")]
    for number, line in enumerate(alike):
        line["id"] = f"{number:032x}"
    (scored.home / "alike.jsonl").write_text("".join(json.dumps(line) + "\n" for line in alike))
    assert scored.run("review", "import", "alike.jsonl").code == 0
    done = scored.run("review", "agreement", "last").out
    assert "Cy and Di: no value: all extents are equal (3 scored by both)" in done


def test_what_cannot_be_done_is_bad_input(scored: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for args in (
        ("export", "ffff"),
        ("export", "last", "-o", "."),
        ("export", "last", "-o", "empty.jsonl/x.jsonl"),
        ("import", "none.jsonl"),
        ("import",),
        ("agreement", "ffff"),
        ("wonder",),
    ):
        ran = scored.run("review", *args)
        assert (ran.code, ran.out) == (2, ""), args
        assert ran.err.startswith("Error: "), args
    assert scored.run("review", "import", "empty.jsonl").code == 0


@pytest.mark.parametrize("command", [("export", "last", "--template"), ("packet", "last")], ids=" ".join)
def test_a_file_that_was_filled_in_is_not_replaced(scored: CommandLine, command: tuple[str, ...]) -> None:
    write = ("review", *command, "-o", "mine.jsonl")
    file = scored.home / "mine.jsonl"
    assert scored.run(*write).code == 0
    assert scored.run(*write).code == 0, "nothing is filled in yet"
    lines = file.read_text().splitlines(keepends=True)
    for filled in (
        lines[0].replace('"extent": null', '"extent": 3', 1),
        lines[0].replace('"note": ""', '"note": "x"', 1),
    ):
        assert filled != lines[0]
        file.write_text("".join([*lines[1:], "not JSON\n", filled]))
        text = file.read_text()
        ran = scored.run(*write)
        assert (ran.code, ran.out, file.read_text()) == (2, "", text)
        assert "mine.jsonl: Has extents or notes that were filled in" in ran.err
    assert scored.run("review", "export", "last", "-o", "scores.jsonl").code == 0
    assert scored.run("review", "export", "last", "-o", "scores.jsonl").code == 0, "exported scores are stored ones"


def test_the_folder_and_the_suffix_of_a_file_are_made(scored: CommandLine) -> None:
    assert scored.run("review", "export", "last", "-o", "for/git/scores").code == 0
    assert scored.run("review", "import", "for/git/scores.jsonl").code == 0


def test_reports_have_the_scores(scored: CommandLine, tmp_path: Path) -> None:
    report = json.loads(scored.run("report", "last", "-f", "json").out)
    scores = [score for result in report["results"] for score in result["scores"]]
    assert len(scores) == 32
    assert {"criterion", "severity", "extent", "band", "note", "reviewer", "scored_at"} <= scores[0].keys()
    assert "note" in scored.run("report", "last", "--risk-analysis").out
    folder = Path(scored.environ()["ASSAY_DATA_DIR"]) / "scores" / RUN
    file = next(folder.glob("ada-*.jsonl"))
    file.write_text(file.read_text() + "<<<<<<< HEAD\n")
    done = scored.run("report", "last", "-f", "json", "-o", "r.json")
    assert ":17: error: is not a JSON object" in done.err
    assert (tmp_path / "r.json").exists()


def test_scores_for_inspect_are_of_one_model(scored: CommandLine, tmp_path: Path) -> None:
    refused = scored.run("review", "export", "last", "--inspect")
    assert (refused.code, refused.out) == (2, "")
    assert "An Inspect log holds one model, and this run has several" in refused.err
    assert "Select one with --model: openai/mock-a, local/mock-b." in refused.err
    ran = scored.run("review", "export", "last", "--inspect", "-m", "local/mock-b", "-o", "b.jsonl")
    assert (ran.code, ran.out, ran.err) == (0, "", "4 lines for Inspect: b.jsonl\n")
    records = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [(each["id"], each["epoch"], each["value"]) for each in records] == [
        ("sec-000", 1, 4), ("sec-001", 1, 4), ("sec-002", 1, 8), ("sec-003", 1, 16),
    ]  # fmt: skip
    assert "\x1b" not in (tmp_path / "b.jsonl").read_text()


def test_inspect_reads_lines_by_the_files_name(scored: CommandLine) -> None:
    ran = scored.run("review", "export", "last", "--inspect", "-m", "openai/mock-a", "-o", "scores.json")
    assert "only from files named *.jsonl" in ran.err
    unknown = scored.run("review", "export", "last", "--inspect", "-m", "nobody")
    assert (unknown.code, "The run has no model named nobody" in unknown.err) == (2, True)
    assert scored.run("review", "export", "last", "--model", "openai/mock-a").code == 2
    assert scored.run("review", "export", "last", "--inspect", "--template").code == 2


def test_reports_contain_scores(scored: CommandLine) -> None:
    done = scored.run("report", "last", "-f", "markdown", "--risk-analysis")
    assert done.code == 0
    assert "judged by 2 people" in done.out
    assert "note ␛\\]0;x␇&lt;U+202E&gt;Bo" in done.out
    report = json.loads(scored.run("report", "last", "-f", "json").out)
    assert len(report["results"][0]["scores"]) == 4
    assert report["risk"]["figures"]["items"] == 16


# --- the answer that a score was given for


def write_judged_suite(folder: Path) -> Path:
    criteria = [{"name": name, "description": "d", "severity": "high"} for name in ("Tone", "Safety")]
    return write_suite(folder, 3, testCases=[{**case, "riskCriteria": criteria} for case in cases_of(3)])


def cases_of(count: int) -> list[dict[str, object]]:
    return [
        {"id": f"case-{n}", "name": f"Case {n}", "category": "C", "prompt": f"ask {n}", "expectedPatterns": ["yes"]}
        for n in range(count)
    ]


def fill(text: str, reviewer: str = "Ada") -> str:
    return text.replace('"extent": null', '"extent": 4').replace('"reviewer": ""', f'"reviewer": "{reviewer}"')


def scores_in(ran: Ran) -> list[object]:
    return [score for result in json.loads(ran.out)["results"] for score in result["scores"]]


async def test_scores_stay_on_the_answer_that_they_were_given_for(assay: CommandLine) -> None:
    suite = write_judged_suite(assay.home)
    async with ModelServer(say("first no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
    template = assay.run("review", "export", "last", "--template").out
    assert [json.loads(line)["answer"] for line in template.splitlines()] == [sha256(b"first no").hexdigest()] * 6
    (assay.home / "named.jsonl").write_text(fill(template))
    unnamed = [json.loads(line) for line in fill(template, "Bo").splitlines()]
    for each in unnamed:
        del each["answer"], each["attempt"]
    (assay.home / "unnamed.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in unnamed))

    async with ModelServer(say("second no")) as server:
        await assay.run_async("run", "--rerun-failed", "last", env=keys_for(server))
    imported = assay.run("review", "import", "named.jsonl", "unnamed.jsonl")
    assert (imported.code, imported.err) == (0, "Lines: 12 new\nReviewers: Ada (6 new), Bo (6 new)\n")
    assert scores_in(assay.run("report", "last", "-f", "json")) == [], "six of six stood on the new answer once"
    exported = [json.loads(line) for line in assay.run("review", "export", "last").out.splitlines()]
    assert {(each["reviewer"], each["answer"]) for each in exported} == {
        (name, sha256(b"first no").hexdigest()) for name in ("Ada", "Bo")
    }, "they stay in the trail, those of no answer bound by their time"
    why = "(replaced later, or with a key removed)"
    sentence = f"12 scores belong to other versions of their answers {why}, and are not counted."
    assert f"Note: {sentence}\n" in assay.run("review", "agreement", "last").err
    for args in ((), ("--risk-analysis",)):
        assert sentence in assay.run("report", "last", *args).out
    inspected = assay.run("review", "export", "last", "--inspect", "-m", "openai/mock-a")
    assert inspected.out == ""
    assert "Skipped: 12 scores of answers that were replaced by a rerun\n" in inspected.err

    async with ModelServer(say("first no")) as server:
        await assay.run_async("run", "--rerun-failed", "last", env=keys_for(server))
    assert len(scores_in(assay.run("report", "last", "-f", "json"))) == 12, "the same text is the same answer"
    again = assay.run("review", "import", "unnamed.jsonl", "named.jsonl")
    assert again.err == "Lines: 0 new, 12 already known\n"


async def test_a_rerun_that_fails_takes_no_scored_answer_away(assay: CommandLine) -> None:
    suite = write_judged_suite(assay.home)
    async with ModelServer(say("no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
        (assay.home / "scores.jsonl").write_text(fill(assay.run("review", "export", "last", "--template").out))
        assert assay.run("review", "import", "scores.jsonl").code == 0
        before = json.loads(assay.run("report", "last", "-f", "json", "--risk-analysis").out)
        server.script = lambda _: status(500)
        failed = await assay.run_async("run", "--rerun-failed", "last", "--retries", "0", env=keys_for(server))
    assert failed.code == 1
    after = json.loads(assay.run("report", "last", "-f", "json", "--risk-analysis").out)
    assert [each["verdict"] for each in after["results"]] == ["error"] * 3
    assert after["risk"]["figures"] == before["risk"]["figures"]
    text = assay.run("report", "last", "-r", "--risk-analysis").out
    assert "without an answer" not in text
    assert "other versions" not in text
    assert "Scores of the answer of rerun" not in text
    template = assay.run("review", "export", "last", "--template").out
    assert [json.loads(line)["answer"] for line in template.splitlines()] == [sha256(b"no").hexdigest()] * 6


async def test_a_line_of_no_answer_is_refused_where_there_was_none_yet(assay: CommandLine) -> None:
    suite = write_judged_suite(assay.home)
    async with ModelServer(say("no")) as server:
        await assay.run_async("run", str(suite), env=keys_for(server))
    line = json.loads(fill(assay.run("review", "export", "last", "--template").out).splitlines()[0])
    early = {**line, "scored_at": "2020-01-01T00:00:00Z"}
    bad = {key: value for key, value in early.items() if key not in ("answer", "attempt")}
    (assay.home / "early.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(bad)}\n")
    ran = assay.run("review", "import", "early.jsonl")
    assert ran.code == 2
    assert "early.jsonl:2: error: scored_at: 2020-01-01T00:00:00Z is earlier than any answer by " in ran.err
    assert assay.run("review", "export", "last").out == ""
    (assay.home / "early.jsonl").write_text(f"{json.dumps(early)}\n")
    assert assay.run("review", "import", "early.jsonl").code == 0, "it names its answer"


def test_reports_and_exports_during_a_blind_session_are_recorded(scored: CommandLine) -> None:
    folder = Path(scored.environ()["ASSAY_DATA_DIR"])
    store = SqliteStore(folder / "runs.sqlite")
    reviews = Reviews(store, folder, Config())
    review = reviews.open_review(RUN, "Cy", blind=True)
    review.give(review.items[0].key, 2)
    reviews.remember_reviewer("Cy")
    note = "Note: Cy reviews this run blind and has now seen model names: recorded in the score file."
    for args in (("report", "last"), ("review", "export", "last")):
        assert note in scored.run(*args).err
    review.reveal()
    assert note not in scored.run("report", "last").err
    board = reviews.reviewed(RUN).board
    looks = [act.note for act in board.acts if act.act == "look"]
    store.close()
    assert looks == ["assay report", "assay review export"]
    assert "all blind, names seen twice" in scored.run("report", "last", "--risk-analysis").out


# --- a packet for a reviewer elsewhere


async def test_a_packet_is_filled_in_elsewhere_and_shows_whose_answers_it_holds_to_nobody(assay: CommandLine) -> None:
    suite = write_judged_suite(assay.home)
    say_names = answer_by({"mock-a": "I am mock-a of OpenAI.", "mock-b": "I am Claude, and mock-b."})
    async with ModelServer(say_names) as server:
        await assay.run_async("run", str(suite), "-m", "openai/mock-a,openai/mock-b", env=keys_for(server))
    made = assay.run("review", "packet", "last", "-o", "packet.jsonl")
    assert (made.code, made.out, made.err) == (0, "", "6 answers to score blind: packet.jsonl\n")
    text = (assay.home / "packet.jsonl").read_text()
    run_id = json.loads(assay.run("runs", "--json").out)[0]["id"]
    for done in ("mock", "openai", "claude", "case-", "Case ", run_id, str(assay.home), "suite.json"):
        assert done.lower() not in text.lower(), done
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line["answer"] for line in lines} == {"I am ▇▇▇ of ▇▇▇.", "I am ▇▇▇, and ▇▇▇."}
    assert len({line["id"] for line in lines}) == 6
    assert {each["extent"] for line in lines for each in line["criteria"]} == {None}
    orders = {
        tuple(json.loads(line)["prompt"] for line in assay.run("review", "packet", "last").out.splitlines())
        for _ in range(4)
    }
    assert len(orders) > 1, "no order can be read from it"
    keys = list((Path(assay.environ()["ASSAY_DATA_DIR"]) / "packets").iterdir())
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}

    filled = text.replace('"extent": null', '"extent": 3', 11)
    (assay.home / "packet.jsonl").write_text(filled)
    unnamed = assay.run("review", "import", "packet.jsonl")
    assert (unnamed.code, unnamed.err.splitlines()[-1]) == (2, "Nothing was imported.")
    assert unnamed.err.startswith("packet.jsonl:1: error: reviewer: ")
    elsewhere = CommandLine(assay.home / "elsewhere")
    elsewhere.home.mkdir()
    (elsewhere.home / "packet.jsonl").write_text(filled)
    there = elsewhere.run("review", "import", "packet.jsonl", "--reviewer", "Dora")
    assert there.code == 2
    assert "packet.jsonl:1: error: packet: unknown" in there.err
    imported = assay.run("review", "import", "packet.jsonl", "--reviewer", "Dora")
    assert imported.err == "Lines: 11 new, 1 not scored, skipped\nReviewers: Dora (11 new)\n"
    again = assay.run("review", "import", "packet.jsonl", "--reviewer", "Dora")
    assert again.err == "Lines: 0 new, 11 already known, 1 not scored, skipped\n"
    kept = [json.loads(line) for line in assay.run("review", "export", "last").out.splitlines()]
    assert {(each["blind"], each["masked"], each["extent"], each["reviewer"]) for each in kept} == {
        (True, 2, 3, "Dora")
    }
    answers = {"openai/mock-a": "I am mock-a of OpenAI.", "openai/mock-b": "I am Claude, and mock-b."}
    assert {(each["model"], each["answer"]) for each in kept} == {
        (model, sha256(answer.encode()).hexdigest()) for model, answer in answers.items()
    }, "each id led back to its answer"
    changed = filled.replace('"extent": 3', '"extent": 1', 1)
    (assay.home / "packet.jsonl").write_text(changed)
    refused = assay.run("review", "import", "packet.jsonl", "--reviewer", "Dora")
    assert refused.code == 2
    assert (
        "another extent or note is already saved; for a changed score, set scored_at to the time of the change"
        in refused.err
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "0" * 32}, "id: the packet has no such answer"),
        ({"packet": "../x"}, "packet: unknown"),
        ({"packet": 5}, "packet: unknown"),
        ({"version": 2}, "version: expected 1"),
        ({"criteria": "Tone"}, "criteria: expected a list of objects"),
        ({"criteria": [{"name": "Tone", "extent": 5}]}, 'extent: 5 is not valid; expected 0, 1, 2, 3, 4 or "n/a"'),
        ({"criteria": [{"name": "Gone", "extent": 1}]}, "has no criterion `Gone`"),
        ({"criteria": [{"name": ["Tone"], "extent": 1}]}, "criterion: "),
        ({"criteria": [{"name": "Tone", "extent": 1, "note": 5}]}, "note: 5 is not valid; expected a string"),
        ({"reviewer": 5}, "reviewer: 5 is not valid; expected a string"),
        ({"scored_at": "2026"}, "scored_at: "),
        ({"scored_at": "1999-12-31T00:00:00Z"}, "before 2000 or after tomorrow"),
    ],
)
def test_a_bad_line_of_a_packet_is_reported_with_its_place(
    scored: CommandLine, change: dict[str, object], words: str
) -> None:
    lines = scored.run("review", "packet", "last").out.replace('"extent": null', '"extent": 2').splitlines()
    bad = json.dumps({**json.loads(lines[1]), **change})
    (scored.home / "p.jsonl").write_text(f"{lines[0]}\n{bad}\n")
    before = scored.run("review", "export", "last").out
    ran = scored.run("review", "import", "p.jsonl", "--reviewer", "Dora")
    assert ran.code == 2
    assert "p.jsonl:2: error: " in ran.err
    assert words in ran.err
    assert scored.run("review", "export", "last").out == before


@pytest.mark.parametrize("risk_analysis", [False, True])
async def test_the_report_that_the_app_exports_is_that_of_the_command(
    scored: CommandLine, tmp_path: Path, risk_analysis: bool
) -> None:
    config = Path(scored.environ()["ASSAY_CONFIG_DIR"]) / "config.yaml"
    config.parent.mkdir()
    limits = "{negligible: 0, low: 1, medium: 2, high: 3}"
    config.write_text(f"risk: {{limits: {limits}, guidance: [my zero, my one, my two, my three, my four]}}\n")
    session = Session(scored.environ())
    for format in FORMATS:
        options = ["--responses", "--timestamps", *(["--risk-analysis"] if risk_analysis else [])]
        ran = scored.run("report", RUN, "-f", format, *options, "-o", f"command.{format}")
        assert ran.code == 0, ran.err
        content = ReportContent(format, responses=True, timestamps=True, risk_analysis=risk_analysis)
        session.history.export(RUN, content, tmp_path / f"app.{format}", replaces=False)
        assert (tmp_path / f"app.{format}").read_bytes() == (tmp_path / f"command.{format}").read_bytes()
    await session.close()
