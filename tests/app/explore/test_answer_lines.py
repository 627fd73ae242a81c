"""The note of a pane in which there is no text yet."""

import pytest

from tui.app.explore.answer_lines import waiting_note
from tui.model.progress import AttemptProgress, StepProgress, TrialProgress
from tui.model.results import ToolUse, TrialKey


@pytest.mark.parametrize(
    ("model", "sent_at", "note"),
    [
        ("openai/gpt-5.2", 1.0, "Request sent. No text received yet."),
        ("local/smollm2-135m", 1.0, "Request sent. No text received yet."),
        ("local/smollm2-135m", None, "Waiting for the local model to finish another answer."),
        ("openai/gpt-5.2", None, "Waiting until the provider accepts another request."),
    ],
)
def test_a_running_trial_without_text_says_what_it_waits_for(model: str, sent_at: float | None, note: str) -> None:
    attempt = AttemptProgress(1, 1, steps=[StepProgress(sent_at=sent_at)])
    assert waiting_note(TrialProgress(TrialKey("one", model), "running", [attempt])) == note


def test_a_turn_without_text_yet_names_the_tools_that_were_called() -> None:
    calls = [ToolUse("turn 1", kind="model"), ToolUse("search\x1b", parent=0), ToolUse("search\x1b", parent=0)]
    attempt = AttemptProgress(1, 1, steps=[StepProgress(sent_at=1.0, turns=1, tool_calls=calls)])
    note = waiting_note(TrialProgress(TrialKey("one", "a"), "running", [attempt]))
    assert note == "Called search␛. No text received since."
