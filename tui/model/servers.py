"""The built-in providers: their URLs and the environment variables that configure them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote_plus, urlsplit

from tui.model.paths import parse_url, url_secrets
from tui.model.sanitize import sanitize_line
from tui.model.secrets import REMOVED, Secrets, hide_service_keys, key_parts, service_keys
from tui.model.subjects import AGENT_URLS, ProviderKind, ProviderSettings, TokenLimitParameter
from tui.model.suite import RepoClone, Suite

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Server:
    """A built-in provider.

    `url_variable` overrides `base_url`; the first of `key_variables` that is set is the key; `headers` maps a header to
    the variable with its value.
    """

    kind: ProviderKind
    base_url: str | None = None
    url_variable: str = ""
    key_variables: tuple[str, ...] = ()
    key_required: bool = False
    headers: tuple[tuple[str, str], ...] = ()


_ANYWHERE = ".".join("0000")
_OPENAI_HEADERS = (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID"))

SERVERS: Mapping[str, Server] = {
    "openai": Server("openai", OPENAI_URL, "OPENAI_BASE_URL", ("OPENAI_API_KEY",), True, _OPENAI_HEADERS),
    "openrouter": Server("openai", "https://openrouter.ai/api/v1", "", ("OPENROUTER_API_KEY",), True),
    "ollama": Server("openai", "http://localhost:11434/v1", "OLLAMA_HOST", ("OLLAMA_API_KEY",)),
    "lmstudio": Server("openai", "http://localhost:1234/v1", "", ("LM_API_TOKEN",)),
    "llamacpp": Server("openai", "http://localhost:8080/v1", "", ("LLAMA_API_KEY",)),
    "vllm": Server("openai", "http://localhost:8000/v1", "", ("VLLM_API_KEY",)),
    "anthropic": Server(
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        True,
    ),
    "copilot": Server("copilot", None, "", ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")),
    "local": Server("local"),
    "replay": Server("replay"),
    "agent": Server("agent"),
}

KEY_VARIABLES = tuple(dict.fromkeys(name for server in SERVERS.values() for name in server.key_variables))
URL_VARIABLES = tuple(server.url_variable for server in SERVERS.values() if server.url_variable)
# The last word of the name of a key in a query: `access_token`, `mytoken`, `apiKey`, but not `max_tokens`, `keyspace`.
_KEY_WORD = re.compile(
    r"\w*(token|secret|password|passwd|apikey|signature|credentials?)\d*"
    r"|(access|account|app|auth|client|developer|function|license|maps?|master|private|project|secret|service|session"
    r"|shared|subscription|user)?key\d*"
    r"|pass(phrase|code)?|pwd|o?auth(orization)?|bearer|jwt|creds?|sig|hmac|sas|psk|pat|otp|cookies?"
)
_SEPARATORS = re.compile("[?&;]")
# The words of a name: the last of `APIKey` and of `APIkey` is the same.
_WORDS = (re.compile(r"[A-Z\d]+(?![a-z])|[A-Z]?[a-z\d]+"), re.compile(r"[A-Z]?[a-z\d]+|[A-Z\d]+"))


def variable(environ: Mapping[str, str], name: str) -> str | None:
    """Return the value of a variable without surrounding white space, or None if it is unset or empty."""
    return environ.get(name, "").strip() or None


def built_in(name: str, environ: Mapping[str, str]) -> ProviderSettings | None:
    """Return a built-in provider configured from the environment, or None if there is none of that name."""
    server = SERVERS.get(name)
    if server is None:
        return None
    key_name = next((key for key in server.key_variables if variable(environ, key)), "")
    base_url = _base_url(name, server, environ)
    headers = {header: value for header, key in server.headers if (value := variable(environ, key))}
    return ProviderSettings(
        name=name,
        kind=server.kind,
        base_url=base_url,
        api_key=variable(environ, key_name) if key_name else None,
        key_name=key_name or next(iter(server.key_variables), ""),
        headers=headers,
        token_limit=token_limit_for(base_url),
    )


def token_limit_for(base_url: str | None) -> TokenLimitParameter:
    """Return the name of the server's token limit parameter: OpenAI's o-series accepts only the new name."""
    return "max_completion_tokens" if (base_url or "").rstrip("/") == OPENAI_URL else "max_tokens"


def _base_url(name: str, server: Server, environ: Mapping[str, str]) -> str | None:
    given = variable(environ, server.url_variable) if server.url_variable else None
    if given is None:
        return server.base_url
    return ollama_url(given) if name == "ollama" else given


def ollama_url(host: str) -> str:
    """Return the base URL of OLLAMA_HOST: a host, a port, both, or a URL.

    `0.0.0.0` is an address to listen on and is replaced by the address of this machine.
    """
    scheme, mark, rest = host.rpartition("://")
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port or {"http": 80, "https": 443}.get(scheme, 11434)
    except ValueError:
        return host if mark else f"http://{host}"
    name = parts.hostname or "127.0.0.1"
    name = {_ANYWHERE: "127.0.0.1", "::": "[::1]"}.get(name, f"[{name}]" if ":" in name else name)
    return f"{scheme or 'http'}://{name}:{port}{parts.path.rstrip('/')}/v1"


def is_loopback(base_url: str | None) -> bool:
    """Return whether the URL points to this machine."""
    from ipaddress import ip_address

    try:
        host = (urlsplit(base_url or "").hostname or "").rstrip(".")
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def url_fault(url: str) -> str | None:
    """Return why the text is no valid base URL or proxy, in a few words, or None if it is valid."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return "contains a space or a character that is not allowed in a URL"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("http", "https"):
        return "has no http:// or https:// prefix"
    if not parts.hostname or port == 0:
        return "has no host" if port != 0 else "has port 0"
    return "has a #fragment; remove it" if parts.fragment else None


def has_password(url: str) -> bool:
    """Return whether the URL contains a user name or password."""
    return "@" in urlsplit(url).netloc


def agent_url_fault(url: str) -> str | None:
    """Return why the text is no valid URL of an agent, in a few words, or None if it is valid."""
    fault = url_fault(url) or ("contains a user name or password" if has_password(url) else None)
    # A saved run has its agent's URL without the key.
    return "contained a key, which was not saved with the run" if fault and REMOVED in url else fault


def show_url(url: str) -> str:
    """Return a URL for a message that says what is wrong with it: without user, password, query and keys.

    Any other text, such as a path, is returned whole but for keys of known services.
    """
    shown = url.rpartition("@")[2].partition("?")[0] if "://" in url else url
    return sanitize_line(Secrets(query_secrets(url)).hide(hide_service_keys(shown)))


def clone_without_secrets(clone: RepoClone) -> RepoClone:
    """Return the repository of a suite as it may be stored: its URL without the password and keys."""
    url = parse_url(clone.url).url if url_secrets(clone.url) else clone.url
    return replace(clone, url=without_keys(url))


def without_keys(url: str) -> str:
    """Return a URL without the keys in its path and query (`query_secrets`)."""
    return Secrets(query_secrets(url)).hide(url)


def query_secrets(url: str) -> tuple[str, ...]:
    """Return the keys in a URL, decoded and as written, also each part of one that a server may repeat.

    A value in the query is a key if its parameter's name says so, also in a URL within the query. What has the form of
    a key of a known service is one everywhere after the host.
    """
    before, _, query = url.partition("#")[0].partition("?")
    # `;` separates parameters on some servers, and belongs to the value on others.
    parts = [*query.split("&"), *_SEPARATORS.split(query), *before.partition("://")[2].split("/")[1:]]
    both = [(part, unquote_plus(part)) for part in parts]
    both += [(part, part) for part in _SEPARATORS.split(unquote_plus(query))]
    return tuple(dict.fromkeys(key for written, decoded in both for key in _keys_of(written, decoded) if key))


def _keys_of(written: str, decoded: str) -> Iterator[str]:
    """Yield the keys in one parameter of a query, or in one part of a path."""
    name, _, value = decoded.partition("=")
    as_written = written.partition("=")[2]
    if _names_key(name):
        yield from (value, as_written, *key_parts(value))
    if known := service_keys(decoded):
        yield from (*known, as_written or written)  # in which letters may be escaped


def agent_name(written: str) -> str:
    """Return the name of an agent, which is displayed and stored: as it was written, without keys in its URL."""
    return without_keys(written) if written.startswith(AGENT_URLS) else written


def model_names(suite: Suite) -> tuple[str, ...]:
    """Return the name of the suite's agent, or else its models, each once."""
    return _names(suite.agent, suite.models)


def is_agent_of(suite: Suite, model: str) -> bool:
    """Return whether a name is that of the suite's agent."""
    return bool(suite.agent) and model in model_names(suite)


@lru_cache(maxsize=64)
def _names(agent: str | None, models: tuple[str, ...]) -> tuple[str, ...]:
    return (agent_name(agent),) if agent else tuple(dict.fromkeys(models))


def _names_key(name: str) -> bool:
    divided = ([word for word in words.findall(name) if not word.isdigit()] for words in _WORDS)
    return name.lower() == "code" or any(words and _KEY_WORD.fullmatch(words[-1].lower()) for words in divided)
