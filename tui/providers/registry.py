"""The factory of providers from settings; each provider is imported on first use."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from urllib.parse import unquote

from tui.model.errors import ConfigError, ModelUnresolved
from tui.model.sanitize import sanitize_line
from tui.model.servers import SERVERS, built_in, has_password, is_loopback, url_fault, variable
from tui.model.subjects import (
    PARAMETERS,
    Config,
    ProviderSettings,
    Settings,
    Subject,
    is_replay_name,
    parameter_fault,
    parameter_from_text,
    settings_from,
)
from tui.model.suggest import did_you_mean
from tui.providers.copilot_runtime import COPILOT, copilot_version, require_copilot
from tui.providers.protocol import Provider

_MODULES = {
    "openai": "tui.providers.openai.provider",
    "anthropic": "tui.providers.anthropic",
    "copilot": "tui.providers.copilot",
    "local": "tui.providers.local",
    "agent": "tui.providers.agent",
    "replay": "tui.providers.replay",
}


def import_provider(kind: str) -> None:
    """Import the modules of a kind of provider; the HTTP library takes tenths of a second. Call it in a thread."""
    import_module(_MODULES[kind])


def open_provider(settings: ProviderSettings, environ: Mapping[str, str], secrets: Collection[str]) -> Provider:
    """Return the provider of these settings. Nothing is connected or started before the first request.

    Processes of agents, of the local model and of Copilot get `environ` without keys and without values that contain
    one of `secrets`. Raises ConfigError for a kind that cannot be opened from settings alone: a
    recording needs a run.
    """
    match settings.kind:
        case "openai":
            from tui.providers.openai.provider import OpenAIProvider

            return OpenAIProvider(settings)
        case "anthropic":
            from tui.providers.anthropic import AnthropicProvider

            return AnthropicProvider(settings)
        case "copilot":
            from tui.providers.copilot import CopilotProvider

            return CopilotProvider(settings, environ, secrets=secrets)
        case "local":
            from tui.providers.local import LocalProvider

            return LocalProvider(environ, secrets)
        case "agent":
            from tui.providers.agent import AgentProvider

            return AgentProvider(settings, environ, secrets=secrets)
        case "replay":
            raise ConfigError(f"{settings.name} has no run id", fix="Use replay/RUN/MODEL.")


_BARE_RULES = (("gpt-*", "openai"), ("o*", "openai"), ("claude-*", "anthropic"), ("*", "openrouter"))
_RETIRED = ("github", "github-models", "githubmodels")
_KEY_HEADERS = ("authorization", "api-key", "x-api-key")


def resolve_subject(name: str, config: Config, environ: Mapping[str, str]) -> Subject:
    """Resolve a model name: a variant, `provider/model-id` or a bare id, with or without `?temperature=0.8&…`.

    All of `replay/RUN/MODEL` after the run is the recorded name, such as the URL of an agent with a query. Raises
    ModelUnresolved if the name cannot be resolved and ConfigError if the provider cannot be used, both before any
    request is sent.
    """
    is_replay = is_replay_name(name.lstrip())
    bare, mark, query = (name, "", "") if is_replay else name.partition("?")
    settings = _inline_settings(name, query) if mark else {}
    home = _find_home(bare.strip(), config, environ)
    subject = replace(home, name=name, settings=settings_from(settings, home.settings))
    kind = provider_settings(subject.provider, config, environ).kind
    if subject.settings.api is not None and kind != "openai":
        raise ConfigError(
            f"api selects one of the OpenAI protocols, and {subject.provider} uses none of them",
            where=sanitize_line(name),
            fix="Remove it.",
        )
    return subject


def provider_settings(name: str, config: Config, environ: Mapping[str, str]) -> ProviderSettings:
    """Return the validated settings of a provider.

    Raises ConfigError if it is unknown, its key is missing (the text names the variable, never the value) or
    something that it needs is not installed.
    """
    settings = config.providers.get(name) or built_in(name, environ)
    if settings is None:
        raise _unknown_provider(name, "", config)
    if settings.missing:
        names = " and ".join(settings.missing)
        raise ConfigError(
            f"{name} needs {names}, used in the config file but not set in the environment",
            fix=f"Set {names}.",
            needs=names,
        )
    if settings.kind in ("openai", "anthropic"):
        _check_server(settings)
    if settings.kind == "copilot":
        _check_copilot(settings)
    return settings


def _check_server(settings: ProviderSettings) -> None:
    name, url = settings.name, settings.base_url
    server = SERVERS.get(name)
    place = (server.url_variable if server else "") or f"providers.{name}.base_url"
    if url is None:
        raise ConfigError(
            f"{name} has no base_url", where="config.yaml", fix=f"Set providers.{name}.base_url in the config file."
        )
    if fault := url_fault(url):
        raise ConfigError(f"the base URL of {name} {fault}", where=place, fix="Example: http://localhost:8080/v1")
    if has_password(url):
        raise ConfigError(
            f"the base URL of {name} contains a user name or password", where=place, fix="Use api_key instead."
        )
    for header, value in settings.headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ConfigError(
                f"the header {header} of {name} contains a character that cannot be sent", where="config.yaml"
            )
    if settings.api_key is not None:
        _check_key(settings.key_name, settings.api_key)
    elif server is not None and server.key_required and not is_loopback(url) and not _has_key_header(settings):
        raise ConfigError(
            f"{name} needs an API key: {settings.key_name} is not set",
            fix=f"Set {settings.key_name} (to any value if the server needs no key), or use another provider.",
            needs=settings.key_name,
        )


def _check_copilot(settings: ProviderSettings) -> None:
    if settings.api_key is not None:
        _check_key(settings.key_name, settings.api_key)
    require_copilot(settings.name)


def _has_key_header(settings: ProviderSettings) -> bool:
    return any(header.lower() in _KEY_HEADERS for header in settings.headers)


def _check_key(name: str, key: str) -> None:
    for place, character in enumerate(key, start=1):
        if not "!" <= character <= "~":
            raise ConfigError(
                f"{name} contains a character that is not allowed in a header, at place {place} of {len(key)}",
                fix="Copy the key again, without line breaks or spaces.",
            )


def _find_home(name: str, config: Config, environ: Mapping[str, str]) -> Subject:
    """Resolve a name without inline settings; the subject's `name` is not yet the whole name."""
    variant = config.variants.get(name)
    if variant is not None:
        if variant.provider is None:
            return replace(_find_model(variant.id, config, environ), settings=variant.settings)
        return _model_of(variant.provider, variant.id, f"variant {name} of the config file", variant.settings)
    return _find_model(name, config, environ)


def _find_model(name: str, config: Config, environ: Mapping[str, str]) -> Subject:
    provider, slash, model_id = name.partition("/")
    if not slash:
        return _find_bare(name, config, environ)
    if provider == "agent":
        raise _agent_named(name)
    if provider in config.providers or provider in SERVERS:
        if not model_id.strip():
            raise ModelUnresolved(f"{sanitize_line(name)} has no model id", fix=f"Use {provider}/MODEL.")
        return _subject(provider, model_id, "")
    if provider.lower() in _RETIRED:
        raise ModelUnresolved(
            f"{name}: GitHub Models was retired in July 2026",
            fix="Use another provider, for example openai/MODEL or openrouter/VENDOR/MODEL.",
        )
    raise _unknown_provider(provider, model_id, config, environ)


def _find_bare(name: str, config: Config, environ: Mapping[str, str]) -> Subject:
    """Resolve a bare id by the documented order; variants have been checked before."""
    if not name:
        raise ModelUnresolved("empty model name", fix="Use provider/model-id.")
    for pattern, provider in config.rules:
        if fnmatchcase(name, pattern):
            return _model_of(provider, name, f"rule {pattern} of the config file")
    if variable(environ, "OPENAI_BASE_URL"):
        return _subject("openai", name, "because OPENAI_BASE_URL is set")
    for pattern, provider in _BARE_RULES:
        if fnmatchcase(name, pattern) and (key := _key_at_hand(provider, config, environ)):
            return _subject(provider, name, key)
    if (login := _key_at_hand("copilot", config, environ)) and copilot_version() is not None:
        return _subject("copilot", name, f"{login} and {COPILOT} is installed")
    raise _homeless(name, config)


def _key_at_hand(provider: str, config: Config, environ: Mapping[str, str]) -> str:
    """Return why the provider can be used (its key is set), or an empty string if it cannot."""
    settings = config.providers.get(provider) or built_in(provider, environ)
    if settings is None or settings.missing or not (settings.api_key or _has_key_header(settings)):
        return ""
    has_name = settings.api_key and settings.key_name
    return f"because {settings.key_name} is set" if has_name else "because the config file has a key for it"


def _agent_named(name: str) -> ModelUnresolved:
    return ModelUnresolved(
        f"{sanitize_line(name)} names an agent, not a model",
        fix="Select an agent with --agent, or with agent: in the suite.",
    )


def _model_of(provider: str, model_id: str, why: str, settings: Settings | None = None) -> Subject:
    """Return the subject that the config file names; a model name never starts an agent. Raises ModelUnresolved."""
    if provider == "agent":
        raise _agent_named(model_id)
    return _subject(provider, model_id, why, settings)


def _subject(provider: str, model_id: str, why: str, settings: Settings | None = None) -> Subject:
    how = f"provider {provider}, {why}" if why else f"provider {provider}"
    return Subject(model_id, provider, model_id, settings or Settings(), how=how)


def _inline_settings(name: str, query: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for part in query.split("&"):
        key, equals, text = part.partition("=")
        if key not in PARAMETERS:
            raise ConfigError(
                f"unknown parameter {sanitize_line(key, 60) or '(empty)'}",
                where=sanitize_line(name),
                fix=f"{did_you_mean(key, PARAMETERS)}Parameters are {', '.join(PARAMETERS)}.",
            )
        value = parameter_from_text(key, unquote(text))
        fault = "is set twice" if key in values else "has no value" if not equals else parameter_fault(key, value)
        if fault:
            raise ConfigError(f"{key} {fault}", where=sanitize_line(name), fix="Example: model?temperature=0.8&seed=7")
        values[key] = value
    return values


def _unknown_provider(
    provider: str, model_id: str, config: Config, environ: Mapping[str, str] | None = None
) -> ModelUnresolved:
    known = sorted({*SERVERS, *config.providers})
    written = f"{provider}/{model_id}" if model_id else provider
    homes = ["openai"] if environ and variable(environ, "OPENAI_BASE_URL") else []
    homes += ["openrouter"] if environ and variable(environ, "OPENROUTER_API_KEY") else []
    ways = f" If {sanitize_line(written)} is the model id, use {homes[0]}/{sanitize_line(written)}." if homes else ""
    return ModelUnresolved(
        f"{sanitize_line(written)}: unknown provider {sanitize_line(provider, 60)}",
        fix=f"{did_you_mean(provider, known)}Providers are {', '.join(known)}.{ways}",
    )


def _variable_for(name: str) -> str:
    """Return the variable with the key of the first provider that a bare model id belongs to."""
    provider = next(provider for pattern, provider in _BARE_RULES if fnmatchcase(name, pattern))
    return SERVERS[provider].key_variables[0]


def _homeless(name: str, config: Config) -> ModelUnresolved:
    shown = sanitize_line(name)
    return ModelUnresolved(
        f"{shown}: no provider found for this model",
        fix=(
            f"{did_you_mean(name, config.variants)}Use provider/{shown}; or set OPENAI_BASE_URL for a server, "
            "OPENAI_API_KEY for gpt-* and o*, ANTHROPIC_API_KEY for claude-*, or OPENROUTER_API_KEY for any model; or "
            f"install {COPILOT} and set COPILOT_GITHUB_TOKEN; or add the model under models: or rules: in "
            "config.yaml. local/smollm2-135m needs no key."
        ),
        needs=_variable_for(name),
    )
