"""The finish reasons of an answer: the words of each provider, and which mean that the answer is incomplete."""

import re
from collections.abc import Mapping

from tui.model.provider_messages import FinishReason

# What the servers of each protocol send, and what the results of other tools contain.
_WORDS: Mapping[FinishReason, str] = {
    "stop": "stop eos eos_token end_turn stop_sequence",
    "length": "length max_tokens max_output_tokens max_new_tokens model_length length_limit",
    "context_window": "context_window model_context_window_exceeded",
    "tool_calls": "tool_calls tool_use function_call tool_call",
    "content_filter": "content_filter content_filtered guardrail_intervened safety recitation blocklist "
    "prohibited_content spii sensitive image_safety language model_armor",
    "refusal": "refusal",
    "declined": "declined",
    "pause": "pause pause_turn",
    "incomplete": "incomplete error failed timeout abort aborted cancelled user_cancelled interrupted network_error "
    "insufficient_system_resource malformed_model_output malformed_function_call unexpected_tool_call "
    "too_many_tool_calls missing_thought_signature repetition",
}
_REASONS: Mapping[str, FinishReason] = {
    word.replace("_", ""): reason for reason, words in _WORDS.items() for word in words.split()
}
# Providers invent new words for early stops, so a part of an unknown word decides; the first that occurs counts.
_PARTS: Mapping[FinishReason, str] = {
    "content_filter": "filter safety toxic prohibit recitation blocklist blocked moderat guardrail",
    "context_window": "contextwindow contextlength",
    "length": "length maxtoken maxoutput maximumtoken tokenlimit truncat",
    "refusal": "refus",
    "incomplete": "error fail malformed cancel abort timeout timedout interrupt incomplete unfinished notfinished "
    "unexpected overload exceed limit",
}
FINISH_WORDS = tuple(word for words in _WORDS.values() for word in words.split())
"""The words for finish reasons that are known, as servers write them."""
_BETWEEN = re.compile(r"[^\w\s-]+")
_IGNORED = re.compile(r"[\s_-]+")
_EARLY: Mapping[FinishReason, str] = {
    "length": "token limit",
    "context_window": "context window full",
    "content_filter": "content filter",
    "refusal": "refusal by the provider's filter",
    "pause": "paused by the provider",
    "incomplete": "incomplete, by the provider",
}


def finish_reason_of(word: str, otherwise: FinishReason = "other") -> FinishReason:
    """Return the finish reason that a provider's word means; `otherwise` for an unknown word.

    Upper and lower case, `_`, `-` and spaces make no difference: `max_tokens`, `MAX_TOKENS` and `maxTokens` mean the
    same. In `content_filter: RECITATION` or `FinishReason.STOP` each part counts, and an early stop most. An unknown
    word that names an early stop, such as `malformed_reply`, means that one.
    """
    if (exact := _REASONS.get(_normalized(word))) is not None:
        return exact
    known = [reason for part in _BETWEEN.split(word) if (reason := _REASONS.get(_normalized(part))) is not None]
    whole = _normalized(word)
    named = [reason for reason, parts in _PARTS.items() if any(part in whole for part in parts.split())]
    return next((reason for reason in (*known, *named) if reason in _EARLY), known[-1] if known else otherwise)


def _normalized(word: str) -> str:
    return _IGNORED.sub("", word.casefold())


def combined_reason(first: FinishReason | None, second: FinishReason) -> FinishReason:
    """Return the finish reason of an answer that reports two: the second, unless the first is an early stop."""
    return first if first is not None and first in _EARLY else second


def early_stop(finish_reason: str | None) -> str | None:
    """Return a sentence that explains why the answer is incomplete, or None if the finish reason is no early stop.

    For example `The answer stopped early: token limit (length)`.
    """
    reason = _EARLY.get(finish_reason_of(finish_reason or ""))
    return f"The answer stopped early: {reason} ({finish_reason})" if reason else None
