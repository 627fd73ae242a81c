"""Errors of one try, as messages for the user, and whether a retry can succeed."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tui.model.errors import ProviderError, ProviderFault
from tui.model.sanitize import sanitize_line

WHITE = b"\xef\xbb\xbf \t\r\n"  # white space and a byte order mark before an answer
_WORDS = 300
_DEEPEST = 16
_RETRIED = (408, 409, 429, 529)
_WITHOUT_TOOLS = (400, 404, 422, 501)
_TOOL_WORD = re.compile(r"tools?\b|tool_|functions?\b", re.IGNORECASE)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "insufficient_credits", "credit_balance_exhausted")
# An error object in a 200 response with one of these codes is as final as that status.
_FINAL_TYPES = (
    "invalid_request_error", "authentication_error", "permission_error", "not_found_error", "billing_error",
    "request_too_large", "invalid_prompt", "bio_policy", "misalignment_policy_violation", "data_residency_mismatch",
    *_NO_CREDIT,
)  # fmt: skip
_LIMITED_TYPES = ("rate_limit_error", "rate_limit_exceeded")
_FINAL_CODES = (400, 401, 402, 403, 404, 413, 422)

Effect = Literal["none", "pause", "stop"]


class TryFailed(Exception):
    """One try failed.

    `tries` is how many tries this kind of fault is worth in all, `least_wait_s` the delay that the server asks for;
    `effect` is the consequence for the provider's whole queue, `status` the HTTP status if that was the failure.
    """

    def __init__(
        self,
        error: ProviderError,
        *,
        tries: int = 1,
        least_wait_s: float | None = None,
        effect: Effect = "none",
        status: int | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error, self.tries, self.least_wait_s, self.effect = error, tries, least_wait_s, effect
        self.status = status


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error status with the headers and body of its response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    least_wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """The server of a request, as it is named in messages.

    `host` has its port if the URL has one, `address` always. `key_name` is the variable of the key, empty if there is
    none; `has_key` says whether one was sent; `tries` is how many tries a temporary fault is worth.
    """

    host: str
    address: str
    key_name: str = ""
    has_key: bool = False
    tries: int = 1

    def fail(self, fault: ProviderFault, what: str, fix: str = "", *, tries: int = 1) -> TryFailed:
        """Return a failed try with a message."""
        return TryFailed(ProviderError(fault, what, fix=fix), tries=tries)


def refusal_fault(refusal: Refusal, peer: Peer, model: str, *, offers_tools: bool = False) -> TryFailed:
    """Return the failure for an error status; `offers_tools` says that the request did."""
    status = refusal.status
    if offers_tools and status in _WITHOUT_TOOLS and _TOOL_WORD.search(words := words_of(refusal.body)):
        what = f"{peer.host} refused the tools of the case ({status}): {words}"
        return peer.fail("refused", what, "Select a model that supports tools, or correct the tools.")
    if 300 <= status < 400:
        return peer.fail(
            "garbled",
            f"{peer.host} redirected the request ({status}); Assay does not follow redirects",
            "Check the base URL.",
        )
    if status in (401, 403):
        return _unauthorized(refusal, peer)
    if status == 404:
        return peer.fail("not_found", f'Model "{sanitize_line(model, 120)}" or URL not found at {peer.host}')
    words = words_of(refusal.body)
    detail = f": {words}" if words else ""
    if status == 402 or _has_no_credit(refusal.body):
        where = f" (key {peer.key_name})" if peer.key_name else ""
        fix = f"Check the plan and billing of this account{where}."
        return peer.fail("refused", f"The quota at {peer.host} is used up ({status}){detail}", fix)
    again = refusal.headers.get("x-should-retry", "").strip().lower()
    if again != "true" and (again == "false" or not (status in _RETRIED or status >= 500)):
        fault: ProviderFault = "overloaded" if status in _RETRIED or status >= 500 else "refused"
        return peer.fail(fault, f"{peer.host} refused the request ({status}){detail}")
    what = f"{peer.host} {_complaint(status)} ({status}){detail}"
    return TryFailed(
        ProviderError("overloaded", what),
        tries=peer.tries,
        least_wait_s=refusal.least_wait_s,
        effect="pause" if status == 429 else "none",
        status=status,
    )


def _complaint(status: int) -> str:
    if status == 429:
        return "reached its rate limit"
    return {408: "timed out", 409: "reported a conflict", 529: "is overloaded", 503: "is overloaded"}.get(
        status, "failed"
    )


def _unauthorized(refusal: Refusal, peer: Peer) -> TryFailed:
    # The body of a 401 often quotes a part of the key; that of a 403 says what is not allowed.
    words = words_of(refusal.body) if refusal.status == 403 else ""
    detail = f": {words}" if words else ""
    if peer.has_key and refusal.status == 403:  # of this model or prompt: the key may be good for others
        what = f"{peer.host} denied access ({refusal.status}){detail}"
        return peer.fail("unauthorized", what, f"Check what {peer.key_name or 'the API key'} has access to.")
    if peer.has_key:
        what = f"{peer.host} rejected the API key ({refusal.status})"
        fix = f"Check {peer.key_name}." if peer.key_name else "Check the API key."
    else:
        what = f"{peer.host} requires an API key ({refusal.status}){detail}"
        fix = f"Set {peer.key_name}." if peer.key_name else "Add an api_key to the provider in config.yaml."
    return TryFailed(ProviderError("unauthorized", what, fix=fix), effect="stop")


def error_object_fault(error: object, peer: Peer) -> TryFailed:
    """Return the failure for an error object in place of an answer."""
    words = _message_of(error) or "an error without a message"
    if not isinstance(error, dict):
        return peer.fail("refused", f"{peer.host} sent an error: {words}", tries=peer.tries)
    kinds = (error.get("type"), error.get("code"))
    if any(kind in _LIMITED_TYPES for kind in kinds if isinstance(kind, str)):
        limited = ProviderError("overloaded", f"{peer.host} rate limit reached: {words}")
        return TryFailed(limited, tries=peer.tries, effect="pause")
    if "overloaded_error" in kinds:
        return peer.fail("overloaded", f"{peer.host} is overloaded: {words}", tries=peer.tries)
    final = any(kind in _FINAL_TYPES for kind in kinds if isinstance(kind, str)) or error.get("code") in _FINAL_CODES
    return peer.fail("refused", f"{peer.host} sent an error: {words}", tries=1 if final else peer.tries)


def words_of(body: bytes) -> str:
    """Return the server's message in an error body: one line, at most 300 characters, empty for a web page."""
    text = body.decode("utf-8-sig", errors="replace").strip()
    try:
        return _message_of(json.loads(text))
    except (ValueError, RecursionError):
        return "" if text.startswith("<") else sanitize_line(text, _WORDS)


def _message_of(error: Any, depth: int = 0) -> str:
    """Return the message in one of the shapes in which servers send it, empty if it is nested too deep."""
    if isinstance(error, str):
        return sanitize_line(error, _WORDS)
    if depth == _DEEPEST:
        return ""
    if isinstance(error, list) and error:
        return _message_of(error[0], depth + 1)
    if not isinstance(error, dict):
        return ""
    for name in ("message", "error", "detail", "msg"):
        if error.get(name):
            words = _message_of(error[name], depth + 1)
            metadata = error.get("metadata")
            raw = metadata.get("raw") if isinstance(metadata, dict) else None
            return sanitize_line(f"{words}: {raw}", _WORDS) if isinstance(raw, str) and raw else words
    return ""


def _has_no_credit(body: bytes) -> bool:
    return any(word.encode() in body for word in _NO_CREDIT)


def is_page(data: bytes) -> bool:
    """Return whether the data is the beginning of a web page."""
    return data.lstrip(WHITE)[:1] == b"<"


def page_fault(peer: Peer) -> TryFailed:
    """Return the failure for a web page in place of an answer."""
    return peer.fail("garbled", f"{peer.host} sent a web page instead of an API response; check the base URL")
