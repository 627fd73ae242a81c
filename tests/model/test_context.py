"""What went along with prompts, in figures and in words."""

import pytest

from tui.model.context import SentContext, SentFiles, merge_sent, sent_trials, sent_with
from tui.model.results import IncludedFile, LeftOutFile, Message, Prompt, TrialKey


def prompt(text: str, *files: str, left_out: tuple[LeftOutFile, ...] = ()) -> Prompt:
    content = f"{text}\n\nGo on." if text else "Go on."
    messages = (Message("system", "Be brief."), Message("user", content))
    return Prompt("Go on.", messages, tuple(IncludedFile(file, 1) for file in files), left_out)


def test_only_the_text_of_the_files_counts() -> None:
    assert sent_with(prompt("é" * 98, "a.py")) == SentContext((1, 1), (100, 100))
    assert sent_with(prompt("")) == SentContext((0, 0), (0, 0))


def test_several_prompts_give_a_range_and_each_left_out_file_once() -> None:
    link, large = LeftOutFile("a", "is a symbolic link"), LeftOutFile("b", "is binary")
    parts = [prompt("x" * 8, "a", left_out=(link,)), prompt("x" * 1999, "a", "b", left_out=(link, large))]
    assert merge_sent(map(sent_with, parts)) == SentContext((1, 2), (10, 2001), (link, large))
    assert merge_sent([]) is None


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (SentContext((0, 0), (0, 0)), "no file"),
        (SentContext((1, 1), (9, 9)), "1 file, 9 characters, about 3 tokens per prompt"),
        (SentContext((0, 1), (0, 4)), "0–1 files, 0–4 characters, about 0–1 tokens per prompt"),
        (SentContext((1200, 1200), (5000, 5000)), "1,200 files, 5,000 characters, about 1,250 tokens per prompt"),
    ],
)
def test_the_figures_in_words(sent: SentContext, words: str) -> None:
    assert sent.words == words


def test_what_was_left_out_is_grouped_by_reason_and_bounded() -> None:
    many = tuple(LeftOutFile(f"f{number}", "is a symbolic link") for number in range(7))
    others = tuple(LeftOutFile(f"g{number}", f"reason {number}") for number in range(20))
    words = SentContext((0, 0), (0, 0), (*many, *others)).left_out_words
    assert words.startswith("is a symbolic link: f0, f1, f2, f3 and 3 more; reason 0: g0; ")
    assert words.endswith("; reason 10: g10; 9 more reasons")
    assert SentContext((0, 0), (0, 0)).left_out_words == ""


def test_names_from_outside_cannot_act_on_a_terminal() -> None:
    sent = SentContext((0, 0), (0, 0), (LeftOutFile("a\x1b[2J\u202e", "is a symbolic link"),))
    assert "\x1b" not in sent.left_out_words
    assert "\u202e" not in sent.left_out_words


def test_what_a_case_sent_is_in_a_trial_that_is_no_replay_if_there_is_one() -> None:
    one, other, replay = TrialKey("one", "a"), TrialKey("one", "b"), TrialKey("one", "replay/r1/a")
    only = TrialKey("two", "replay/r1/a")
    assert sent_trials([replay, one, only, other]) == {"one": one, "two": only}
    assert sent_trials([other, replay, one]) == {"one": other}


def test_files_are_outdated_if_a_newer_run_sent_others() -> None:
    sent = {
        ("r1", "one", "a"): "old",
        ("r1", "one", "b"): "new of b",
        ("r1", "two", "a"): "old",
        ("r1", "two", "b"): None,
        ("r2", "one", "a"): "new of a",
        ("r2", "one", "b"): "new of b",
        ("r3", "one", "a"): None,
        ("r3", "two", "a"): None,
    }
    trials = [(run, TrialKey(case, model)) for run, case, model in sent]
    files = SentFiles(trials, lambda run, trial: sent[run, trial.case, trial.model])
    outdated = [(run, trial.case, trial.model) for run, trial in trials if files.are_outdated(run, trial)]
    assert outdated == [("r1", "one", "a")], "a run that sent nothing tells nothing, and models may be sent other texts"
