"""Anthropic, and any server that speaks its Messages API."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tui.model.provider_messages import Request
from tui.model.subjects import ProviderSettings
from tui.providers.http.limits import Patience
from tui.providers.http.server import Dialect, ServerProvider
from tui.providers.messages import MessagesDecoder
from tui.providers.messages_request import messages_body

TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"  # the name of a variable, no token
# The newest version refuses `temperature` and `top_p`, by which variants are told apart; a header of the config
# chooses another.
_VERSION = "2023-06-01"
_KEY_HEADERS = ("authorization", "x-api-key")


class Messages:
    """The Messages API."""

    path = "/v1/messages"
    thinks_long = True

    def body(self, request: Request) -> bytes:
        """The question."""
        return messages_body(request)

    def unsent(self, request: Request) -> tuple[str, ...]:
        """The seed."""
        if request.subject.settings.seed is None:
            return ()
        return ("The seed was not sent: the Messages API has none",)

    def decoder(self, answer_size: int, event_size: int) -> MessagesDecoder:
        """What reads one answer."""
        return MessagesDecoder(answer_size, event_size)


class AnthropicProvider(ServerProvider):
    """Asks one server, whose `settings.base_url` must be set, with or without `/v1` at its end."""

    def __init__(self, settings: ProviderSettings, patience: Patience | None = None) -> None:
        super().__init__(
            replace(settings, base_url=_root(settings.base_url or "")),
            _headers(settings),
            patience=patience,
            list_path="/v1/models",
            list_query="limit=1000",
        )
        self._messages = Messages()

    def _dialect(self, request: Request) -> Dialect:  # noqa: ARG002 - there is one
        return self._messages

    def _is_offered(self, entry: Mapping[str, Any]) -> bool:
        """A retired model stays in the list, and asking it fails."""
        return entry.get("lifecycle") != "retired"


def _root(base_url: str) -> str:
    """The URL without the `/v1` that the paths bring: written by habit, it would be there twice."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")))


def _headers(settings: ProviderSettings) -> dict[str, str]:
    given = {name.lower() for name in settings.headers}
    headers = {} if "anthropic-version" in given else {"anthropic-version": _VERSION}
    if settings.api_key and not given.intersection(_KEY_HEADERS):
        if settings.key_name == TOKEN_VARIABLE:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        else:
            headers["x-api-key"] = settings.api_key
    return {**headers, **settings.headers}
