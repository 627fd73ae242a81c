"""The provider for OpenAI-compatible servers: OpenAI, OpenRouter, Ollama, llama.cpp, LM Studio, vLLM, the local one."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from tui.model.provider_messages import Request
from tui.model.servers import OPENAI_URL
from tui.model.subjects import Api, ProviderSettings, TokenLimitParameter
from tui.providers.http.limits import RetryLimits
from tui.providers.http.server import Dialect, ServerProvider
from tui.providers.openai.chat import ChatDecoder, chat_body
from tui.providers.openai.responses import ResponsesDecoder, responses_body

# Models that OpenAI serves by the Responses API only; its other models have both, so a wide pattern does no harm.
_RESPONSES_ONLY = (
    "*-pro", "*-pro-20??-*", "*codex*", "*-deep-research*", "computer-use-*", "gpt-*-cyber", "gpt-daybreak-*",
    "gpt-rosalind-*", "gpt-*-rosalind",
)  # fmt: skip


class ChatCompletions:
    """Chat Completions as a dialect, which all of these servers support."""

    path = "/chat/completions"
    thinks_long = False

    def __init__(self, token_limit: TokenLimitParameter) -> None:
        self._token_limit = token_limit

    def body(self, request: Request) -> bytes:
        """Return the request body as JSON."""
        return chat_body(request, self._token_limit)

    def unsupported(self, request: Request) -> tuple[str, ...]:  # noqa: ARG002 - everything has its place
        """Return the settings that this API does not support: none."""
        return ()

    def decoder(self, answer_size: int, event_size: int) -> ChatDecoder:
        """Return a decoder for one answer."""
        return ChatDecoder(answer_size, event_size)


class Responses:
    """The Responses API as a dialect."""

    path = "/responses"
    thinks_long = True

    def body(self, request: Request) -> bytes:
        """Return the request body as JSON."""
        return responses_body(request)

    def unsupported(self, request: Request) -> tuple[str, ...]:
        """Return the settings that this API does not support: the seed."""
        if request.subject.settings.seed is None:
            return ()
        return ("The seed was not sent, because the Responses API does not support it",)

    def decoder(self, answer_size: int, event_size: int) -> ResponsesDecoder:
        """Return a decoder for one answer."""
        return ResponsesDecoder(answer_size, event_size)


class OpenAIProvider(ServerProvider):
    """The provider of one server. `settings.base_url` must be set; `called` names the server in messages."""

    def __init__(self, settings: ProviderSettings, patience: RetryLimits | None = None, *, called: str = "") -> None:
        super().__init__(settings, _headers(settings), patience=patience, called=called)
        self._settings = settings
        self._dialects: Mapping[Api, Dialect] = {
            "chat": ChatCompletions(settings.token_limit),
            "responses": Responses(),
        }

    def _dialect(self, request: Request) -> Dialect:
        return self._dialects[choose_api(request, self._settings)]


def choose_api(request: Request, settings: ProviderSettings) -> Api:
    """Return the API for a request.

    It is the variant's `api`, else the provider's, else the Responses API for models that OpenAI serves by nothing
    else, and Chat Completions for all others.
    """
    chosen = request.subject.settings.api or settings.api
    if chosen is not None:
        return chosen
    model = request.subject.model_id
    is_openai = (settings.base_url or "").rstrip("/") == OPENAI_URL
    return "responses" if is_openai and any(fnmatchcase(model, name) for name in _RESPONSES_ONLY) else "chat"


def _headers(settings: ProviderSettings) -> dict[str, str]:
    has_own = any(name.lower() == "authorization" for name in settings.headers)
    key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key and not has_own else {}
    return {**key, **settings.headers}
