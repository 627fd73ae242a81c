"""A Request as the JSON body of Anthropic's Messages API."""

from tui.model.provider_messages import Request
from tui.providers.json_body import encode_body, split_system

MAX_TOKENS = 4_096


def messages_body(request: Request) -> bytes:
    """The body that asks for this answer; the protocol wants a limit of tokens, so there is always one."""
    settings = request.subject.settings
    system, turns = split_system(request.prompt.messages)
    body = {
        "model": request.subject.model_id,
        "max_tokens": MAX_TOKENS if settings.max_tokens is None else settings.max_tokens,
        "messages": turns,
        "stream": request.stream,
    }
    wishes = (("system", system), ("temperature", settings.temperature), ("top_p", settings.top_p))
    return encode_body(body, wishes)
