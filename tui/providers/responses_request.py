"""A Request as the JSON body of OpenAI's Responses API."""

from tui.model.provider_messages import Request
from tui.providers.json_body import encode_body, split_system


def responses_body(request: Request) -> bytes:
    """The body that asks for this answer; the server is asked to keep nothing of it."""
    settings = request.subject.settings
    system, turns = split_system(request.prompt.messages)
    body = {"model": request.subject.model_id, "input": turns, "stream": request.stream, "store": False}
    wishes = (
        ("instructions", system),
        ("temperature", settings.temperature),
        ("top_p", settings.top_p),
        ("max_output_tokens", settings.max_tokens),
    )
    return encode_body(body, wishes)
