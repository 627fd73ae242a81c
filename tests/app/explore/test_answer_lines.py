"""The note of a pane in which there is no text yet."""

import pytest

from tui.app.explore.answer_lines import waiting_note
from tui.model.results import TrialKey
from tui.model.state import AttemptProgress, StepProgress, TrialProgress


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
