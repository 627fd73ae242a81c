"""The finish reasons of an answer that the provider stopped early."""

from collections.abc import Mapping

# The reasons of `tui.model.provider_messages.FinishReason`, and those that the results of other tools contain.
_EARLY: Mapping[str, str] = {
    "length": "token limit",
    "max_tokens": "token limit",
    "max_output_tokens": "token limit",
    "model_length": "token limit",
    "context_window": "context window full",
    "model_context_window_exceeded": "context window full",
    "content_filter": "content filter",
    "safety": "content filter",
    "refusal": "refusal by the provider's filter",
    "pause": "paused by the provider",
    "pause_turn": "paused by the provider",
    "incomplete": "incomplete, by the provider",
}


def early_stop(finish_reason: str | None) -> str | None:
    """Return a sentence that explains why the answer is incomplete, or None if the finish reason is no early stop.

    For example `The answer stopped early: token limit (length)`.
    """
    reason = _EARLY.get((finish_reason or "").casefold())
    return f"The answer stopped early: {reason} ({finish_reason})" if reason else None
