"""A Request as the JSON body of chat completions."""

from typing import Any

from tui.model.provider_messages import Request
from tui.model.subjects import TokenLimitParameter
from tui.providers.json_body import encode_body, plain


def chat_body(request: Request, token_limit: TokenLimitParameter) -> bytes:
    """The body that asks for this answer; what the settings leave open is left to the server. The system prefix is
    part of the prompt already."""
    settings = request.subject.settings
    body: dict[str, Any] = {
        "model": request.subject.model_id,
        "messages": plain(request.prompt.messages),
        "stream": request.stream,
    }
    if request.stream:
        body["stream_options"] = {"include_usage": True}
    wishes = (
        ("temperature", settings.temperature),
        ("top_p", settings.top_p),
        ("seed", settings.seed),
        (token_limit, settings.max_tokens),
    )
    return encode_body(body, wishes)
