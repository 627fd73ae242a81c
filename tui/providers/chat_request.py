"""A Request as the JSON body of chat completions."""

import json
from typing import Any

from tui.model.chunks import Request
from tui.model.subjects import TokenLimitParameter

_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


def chat_body(request: Request, token_limit: TokenLimitParameter) -> bytes:
    """The body that asks for this answer; what the settings leave open is left to the server. The system prefix is
    part of the prompt already."""
    settings = request.subject.settings
    body: dict[str, Any] = {
        "model": request.subject.model_id,
        "messages": [{"role": message.role, "content": message.content} for message in request.prompt.messages],
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
    body.update((name, value) for name, value in wishes if value is not None)
    return _ENCODE(body).encode("ascii")
