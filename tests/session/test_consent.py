"""What a stranger's suite may not do unasked."""

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.plans import case_of, suite_of
from tui.model.errors import ConsentNeeded
from tui.model.shipped import shipped_folder
from tui.model.subjects import Subject
from tui.model.suite import CommandCheck, RepoClone, RepositoryContext, Suite
from tui.session.consent import ConsentRecord, agent_consents, consents_of, require


def suite_at(folder: Path) -> Suite:
    return replace(suite_of(case_of("c1")), path=str(folder / "suite.yaml"))


def test_a_plain_suite_needs_none(tmp_path: Path) -> None:
    assert consents_of(suite_at(tmp_path)) == ()


def test_an_agent_file_is_asked_about_until_its_content_is_allowed(tmp_path: Path) -> None:
    suite = replace(suite_at(tmp_path), agent="agent.py")
    (tmp_path / "agent.py").write_text("def agent(input, memory): ...\n")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    (missing,) = record.missing(suite)
    assert missing.kind == "agent"
    record.grant(missing)
    assert ConsentRecord(tmp_path / "data" / "consents.json").missing(suite) == ()
    assert stat.S_IMODE((tmp_path / "data" / "consents.json").stat().st_mode) == 0o600
    (tmp_path / "agent.py").write_text("import os\n")
    assert record.missing(suite) != ()


def test_the_agents_that_ship_with_assay_need_none() -> None:
    suite = replace(suite_at(shipped_folder("test-suites") / "agents"), agent="flight_booking.py")
    assert consents_of(suite) == ()


@pytest.mark.parametrize(("path", "kinds"), [("src", []), ("../elsewhere", ["outside"]), ("/", ["outside"])])
def test_files_from_outside_the_suites_folder(tmp_path: Path, path: str, kinds: list[str]) -> None:
    suite = replace(suite_at(tmp_path), repository_context=RepositoryContext(path))
    assert [consent.kind for consent in consents_of(suite)] == kinds


def test_a_link_that_leads_outside_counts_as_outside(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "src").symlink_to(tmp_path)
    suite = replace(suite_at(tmp_path / "suite"), repository_context=RepositoryContext("src"))
    assert [consent.kind for consent in consents_of(suite)] == ["outside"]


def test_the_refusal_names_the_flag(tmp_path: Path) -> None:
    case = replace(case_of("c1"), command=CommandCheck("make test"))
    consents = consents_of(replace(suite_at(tmp_path), cases=(case,)))
    with pytest.raises(ConsentNeeded, match=r"runs: make test\. To allow it, add --allow-commands\."):
        require(consents, frozenset())
    require(consents, frozenset({"--allow-commands"}))


def test_a_damaged_record_means_that_nothing_was_allowed(tmp_path: Path) -> None:
    file = tmp_path / "consents.json"
    file.write_text("{not json")
    suite = replace(suite_at(tmp_path), agent="cmd:make agent")
    assert len(ConsentRecord(file).missing(suite)) == 1


def command_suite(folder: Path, run: str) -> Suite:
    return replace(suite_at(folder), cases=(replace(case_of("c1"), command=CommandCheck(run)),))


def test_a_record_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "consents.json")
    suite = replace(suite_at(tmp_path), agent="cmd:date")
    assert [missing.kind for missing in ConsentRecord(tmp_path / "consents.json").missing(suite)] == ["agent"]


def test_a_consent_is_for_one_kind_of_action(tmp_path: Path) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    clone = replace(suite_at(tmp_path), repo_clone=RepoClone("./fixtures"))
    (missing,) = record.missing(clone)
    record.grant(missing)
    assert record.missing(clone) == ()
    assert [each.kind for each in record.missing(command_suite(tmp_path, "./fixtures"))] == ["commands"]


def test_files_from_outside_are_allowed_to_one_suite(tmp_path: Path) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    own, strange = (
        replace(suite_at(tmp_path / name), repository_context=RepositoryContext(str(tmp_path / "project")))
        for name in ("own", "strange")
    )
    (missing,) = record.missing(own)
    record.grant(missing)
    assert record.missing(own) == ()
    assert [each.kind for each in record.missing(strange)] == ["outside"]


@pytest.mark.parametrize("agent", ["agent.py", "cmd:python3 helper.py"])
def test_code_beside_an_agent_is_part_of_its_consent(tmp_path: Path, agent: str) -> None:
    suite = replace(suite_at(tmp_path), agent=agent)
    (tmp_path / "agent.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    (missing,) = record.missing(suite)
    record.grant(missing)
    assert record.missing(suite) == ()
    (tmp_path / "helper.py").write_text("import os\n")
    assert [each.kind for each in record.missing(suite)] == ["agent"]


def test_an_agent_of_a_saved_run_needs_consent_although_its_suite_names_none(tmp_path: Path) -> None:
    record, suite = ConsentRecord(tmp_path / "consents.json"), suite_at(tmp_path)
    subjects = [Subject("cmd:touch x", "agent", "cmd:touch x"), Subject("http://h", "agent", "http://h")]
    (missing,) = record.missing(suite, subjects)
    assert missing.what == "The run starts the agent touch x"
    assert agent_consents(suite, subjects) == (missing,)
    assert record.missing(suite, [Subject("openai/m", "openai", "m")]) == ()
