"""The shape of the config file: keys with their types, bounds, defaults and descriptions.

The sentences about values that do not fit come from `shape_problems`; what depends on more than one value is checked
in `entries`.
"""

import re
from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WrapValidator, with_config
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from tui.model.name_mask import MOST_NAMES, mask_fault
from tui.model.prices import MOST_USD
from tui.model.risk import EXTENTS, BandRule
from tui.model.servers import has_password, url_fault
from tui.model.subjects import LARGEST_INTEGER, Api, TokenLimitParameter

FAULT: Literal["fault"] = "fault"
KEY_FAULT: Literal["key_fault"] = "key_fault"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "accept-encoding"}
_GREATEST_WEIGHT = 100
GREATEST_EXTENT = len(EXTENTS) - 1
_GREATEST_LIMIT = _GREATEST_WEIGHT * GREATEST_EXTENT
_MOST_REPEATS = 30  # percent: repeats are selected from the first third of the answers
_WEIGHTS, _LIMITS = BandRule().weights, dict(BandRule().limits)
# The keys of actions that only move and display.
_PROJECT_KEY = re.compile(r"(look|pane|tabs|answer|list|tree|text|find|jump|search|help|tour)\.")
# Exceptions: `list.choose` confirms dialogs.
_ACTING_KEYS = {
    *("look.edit", "look.edit-check", "look.edit-case", "look.new-case", "look.copy-case"),
    *("answer.copy", "list.choose"),
}
_MOST_ACTIONS, _MOST_KEYS, _LONGEST_KEY = 300, 10, 40
# Without signs: Textual has names for them, so that one key could be written in two ways.
_KEY_NAME = re.compile(r"[A-Za-z0-9_+]+")
IN_CONFIG = "set it in your own config.yaml"
RESERVED_KEYS = frozenset(
    {
        *(
            "ctrl+c",
            "ctrl+e",
            "ctrl+j",
            "ctrl+n",
            "ctrl+o",
            "ctrl+p",
            "ctrl+q",
            "ctrl+r",
            "ctrl+s",
            "ctrl+t",
            "ctrl+z",
            "f2",
        ),
        *("delete", "enter", "escape", "exclamation_mark", "greater_than_sign", "less_than_sign", "minus"),
        *("question_mark", "space", *"01234ADEFJLMPRUWXabcefinpqrstuwxy"),
    }
)
"""The keys of the actions that start, change or confirm something, or leave: a project file cannot take them away."""
STRICT = ConfigDict(strict=True, extra="forbid")


def _check(fault: Callable[[Any], str | None], kind: Literal["fault", "key_fault"] = FAULT) -> AfterValidator:
    """Return a validator that raises the sentence that `fault` returns for an invalid value."""

    def check(value: Any) -> Any:
        if what := fault(value):
            raise PydanticCustomError(kind, "{what}", {"what": what})
        return value

    return AfterValidator(check)


def _variable_fault(text: str) -> str | None:
    if "${" in VARIABLE.sub("", text):
        return "contains a ${ that is not ${NAME}; names have letters, digits and _"
    return None


def _header_name_fault(name: str) -> str | None:
    if not _HEADER.fullmatch(name):
        return "is not a valid header name"
    return "is set by Assay; remove it" if name.lower() in _OURS else None


def _proxy_fault(text: str) -> str | None:
    return "contains a variable; ${NAME} works only in api_key and headers" if "${" in text else url_fault(text)


def _base_url_fault(text: str) -> str | None:
    if url_fault(text) is None and has_password(text):
        return "contains a user name or password; use api_key instead"
    return _proxy_fault(text)


def _display_fault(name: str) -> str | None:
    return None if name.isprintable() else "contains a character that cannot be displayed"


def _line_fault(line: str) -> str | None:
    return "expected a single line" if "\n" in line or "\r" in line else None


def _guidance_fault(lines: list[str]) -> str | None:
    if len(lines) == len(EXTENTS):
        return None
    return f"expected {len(EXTENTS)} lines, one per extent ({', '.join(EXTENTS)}), got {len(lines)}"


def _critical_limit_fault(_: object) -> str:
    return "has no limit, because it is everything above the others; remove it"


def _project_key_fault(name: str) -> str | None:
    if _PROJECT_KEY.match(name) and name not in _ACTING_KEYS:
        return None
    return "cannot be set by a project file, because its action may start, change or confirm something; " + IN_CONFIG


def is_project_key(name: str) -> bool:
    """Return whether a project file can set the keys of the action with this id."""
    return _project_key_fault(name) is None


def _key_names_fault(text: str) -> str | None:
    names = text.split(",")
    if len(names) > _MOST_KEYS:
        return f"has more than {_MOST_KEYS} keys"
    if all(0 < len(name) <= _LONGEST_KEY and name.isprintable() and " " not in name for name in names):
        return None
    return "expected the names of keys, separated by commas, such as ctrl+r or slash,f3"


def reserved_key_fault(text: str, reserved: Collection[str] = RESERVED_KEYS) -> str | None:
    """Return why a project file cannot set these keys, as a sentence, or None if it can."""
    for name in text.split(","):
        if not _KEY_NAME.fullmatch(name):
            return f"contains {name}; a project file needs the names of keys, such as slash"
        if name in reserved:
            return f"contains {name}, the key of an action that may start, change, confirm or leave; {IN_CONFIG}"
    return None


def _strip_names(text: str) -> str:
    return ",".join(name.strip() for name in text.split(","))


def _limit_actions(value: object) -> object:
    if isinstance(value, dict) and len(value) > _MOST_ACTIONS:
        what = f"has more than {_MOST_ACTIONS} actions"
        raise PydanticCustomError(FAULT, "{what}", {"what": what})
    return value


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _empty_if_null(value: object) -> object:
    return {} if value is None else value


def _keep_integer(value: object, validate: Callable[[object], object]) -> object:
    """Return a valid number as it is written: `1` is not sent to a provider as `1.0`."""
    validate(value)
    return value


_STRIP = BeforeValidator(_strip)
_KEEP_INTEGER = WrapValidator(_keep_integer)
_NULLABLE = BeforeValidator(_empty_if_null)
_LIMIT_ACTIONS = BeforeValidator(_limit_actions)

Text = Annotated[str, Field(min_length=1), _STRIP]
TextWithVariables = Annotated[Text, _check(_variable_fault)]
HeaderName = Annotated[str, _check(_header_name_fault, KEY_FAULT)]
ProjectKey = Annotated[str, _check(_project_key_fault, KEY_FAULT)]
KeyNames = Annotated[Text, AfterValidator(_strip_names), _check(_key_names_fault)]
ProjectKeyNames = Annotated[KeyNames, _check(reserved_key_fault)]
Line = Annotated[str, Field(min_length=1, max_length=500), _check(_line_fault), _STRIP]
Usd = Annotated[float, Field(ge=0, le=MOST_USD, allow_inf_nan=False)]
Weight = Annotated[int, Field(ge=1, le=_GREATEST_WEIGHT)]
Limit = Annotated[int, Field(ge=0, le=_GREATEST_LIMIT)]


def _required(*keys: str) -> ConfigDict:
    """Return the settings of a shape with required keys.

    Only the JSON Schema states them: the reader reports a missing key itself, after all other keys were checked.
    """
    return ConfigDict(**STRICT, json_schema_extra={"required": [*keys]})


def _defaulted(description: str, default: int) -> Any:
    return Field(description=description, json_schema_extra={"default": default})


@with_config(_required("id"))
class VariantShape(TypedDict):
    """A named model: an id with a provider and parameters."""

    provider: NotRequired[Annotated[Text, Field(description="Provider: a built-in one or an entry of `providers`")]]
    id: NotRequired[Annotated[Text, Field(description="Id of the model as the provider knows it")]]
    temperature: NotRequired[
        Annotated[
            float | None, Field(ge=0, le=2, allow_inf_nan=False, description="Sampling temperature"), _KEEP_INTEGER
        ]
    ]
    top_p: NotRequired[
        Annotated[
            float | None,
            Field(ge=0, le=1, allow_inf_nan=False, description="Probability mass of the sampling"),
            _KEEP_INTEGER,
        ]
    ]
    seed: NotRequired[Annotated[int | None, Field(ge=0, le=LARGEST_INTEGER, description="Seed of the sampling")]]
    max_tokens: NotRequired[
        Annotated[int | None, Field(ge=1, le=LARGEST_INTEGER, description="Maximum number of tokens in an answer")]
    ]
    system: NotRequired[Annotated[str | None, Field(description="System prompt")]]
    api: NotRequired[Annotated[Api | None, Field(description="OpenAI protocol (default: the one of the provider)")]]


@with_config(STRICT)
class ProviderShape(TypedDict):
    """The connection settings of a provider. A built-in provider of the same name supplies the missing ones."""

    kind: NotRequired[
        Annotated[
            Literal["openai", "local", "anthropic", "copilot"],
            _STRIP,
            Field(description="Kind of the provider (default: the kind of the built-in provider, else openai)"),
        ]
    ]
    base_url: NotRequired[
        Annotated[
            Text,
            _check(_base_url_fault),
            Field(description="URL to which the API's paths are appended", examples=["http://localhost:8080/v1"]),
        ]
    ]
    api_key: NotRequired[
        Annotated[
            TextWithVariables,
            Field(description="API key; `${NAME}` stands for an environment variable", examples=["${MY_KEY}"]),
        ]
    ]
    headers: NotRequired[
        Annotated[
            dict[HeaderName, TextWithVariables],
            _NULLABLE,
            Field(description="Additional HTTP headers; `${NAME}` stands for an environment variable"),
        ]
    ]
    token_limit: NotRequired[
        Annotated[
            TokenLimitParameter,
            _STRIP,
            Field(description="Request parameter that limits the tokens of an answer (default: depends on base_url)"),
        ]
    ]
    api: NotRequired[Annotated[Api, _STRIP, Field(description="OpenAI protocol of models that do not set their own")]]
    proxy: NotRequired[Annotated[Text, _check(_proxy_fault), Field(description="URL of an HTTP proxy")]]


@with_config(_required("input", "output"))
class PriceShape(TypedDict):
    """The price of a model, in USD per million tokens."""

    input: NotRequired[Annotated[Usd, Field(description="Price of input tokens")]]
    output: NotRequired[Annotated[Usd, Field(description="Price of output tokens")]]
    cached: NotRequired[Annotated[Usd, Field(description="Price of input tokens that are read from a cache")]]
    cache_writing: NotRequired[Annotated[Usd, Field(description="Price of input tokens that are written to a cache")]]


@with_config(STRICT)
class WeightsShape(TypedDict):
    """The weight of each severity in a risk score."""

    low: NotRequired[Annotated[Weight, _defaulted("Weight of a criterion of low severity", _WEIGHTS["low"])]]
    medium: NotRequired[Annotated[Weight, _defaulted("Weight of a criterion of medium severity", _WEIGHTS["medium"])]]
    high: NotRequired[Annotated[Weight, _defaulted("Weight of a criterion of high severity", _WEIGHTS["high"])]]
    critical: NotRequired[
        Annotated[Weight, _defaulted("Weight of a criterion of critical severity", _WEIGHTS["critical"])]
    ]


@with_config(STRICT)
class LimitsShape(TypedDict):
    """The greatest risk score of each band; greater scores are critical."""

    negligible: NotRequired[Annotated[Limit, _defaulted("Greatest negligible score", _LIMITS["negligible"])]]
    low: NotRequired[Annotated[Limit, _defaulted("Greatest low score", _LIMITS["low"])]]
    medium: NotRequired[Annotated[Limit, _defaulted("Greatest medium score", _LIMITS["medium"])]]
    high: NotRequired[Annotated[Limit, _defaulted("Greatest high score", _LIMITS["high"])]]
    # Known, so that the message can say why the key is refused.
    critical: NotRequired[
        Annotated[Any, _check(_critical_limit_fault, KEY_FAULT), Field(json_schema_extra={"not": {}})]
    ]


@with_config(STRICT)
class RiskShape(TypedDict):
    """The rule that maps the scores of reviewers to risk bands."""

    weights: NotRequired[Annotated[WeightsShape, _NULLABLE, Field(description="Weight of each severity")]]
    limits: NotRequired[Annotated[LimitsShape, _NULLABLE, Field(description="Greatest score of each band")]]
    guidance: NotRequired[
        Annotated[
            list[Line],
            _check(_guidance_fault),
            Field(
                description="Guidance for reviewers: one line for each extent of violation, 0 to 4",
                json_schema_extra={"minItems": len(EXTENTS), "maxItems": len(EXTENTS)},
            ),
        ]
    ]


@with_config(STRICT)
class ReviewShape(TypedDict):
    """The settings of blind review."""

    mask: NotRequired[
        Annotated[
            list[Annotated[Text, _check(mask_fault)]],
            Field(description="Additional names to mask in answers", json_schema_extra={"maxItems": MOST_NAMES}),
        ]
    ]
    repeats: NotRequired[
        Annotated[int, Field(ge=0, le=_MOST_REPEATS), _defaulted("Percentage of answers that are shown twice", 0)]
    ]


Theme = Annotated[Text, Field(description="Name of the theme of the app")]
Risk = Annotated[RiskShape, _NULLABLE, Field(description="Rule of the risk bands")]
Review = Annotated[ReviewShape, _NULLABLE, Field(description="Settings of blind review")]
_KEYS = "Keys for each binding of the app, separated by commas, by the id of the binding"


@with_config(STRICT)
class ProjectShape(TypedDict):
    """The config file of a project, `.assay.yaml`: settings that a stranger may choose."""

    theme: NotRequired[Theme]
    keys: NotRequired[Annotated[dict[ProjectKey, ProjectKeyNames], _NULLABLE, _LIMIT_ACTIONS, Field(description=_KEYS)]]
    risk: NotRequired[Risk]
    review: NotRequired[Review]


@with_config(STRICT)
class ConfigShape(TypedDict):
    """The config file of Assay."""

    models: NotRequired[
        Annotated[
            dict[str, Annotated[VariantShape, _NULLABLE]],
            _NULLABLE,
            Field(description="Named models with a provider and parameters"),
        ]
    ]
    providers: NotRequired[
        Annotated[
            dict[str, Annotated[ProviderShape, _NULLABLE]], _NULLABLE, Field(description="Providers by their name")
        ]
    ]
    rules: NotRequired[
        Annotated[
            dict[str, Text],
            _NULLABLE,
            Field(description="Provider for each glob over model ids without a provider; the first match applies"),
        ]
    ]
    theme: NotRequired[Theme]
    keys: NotRequired[Annotated[dict[str, KeyNames], _NULLABLE, _LIMIT_ACTIONS, Field(description=_KEYS)]]
    risk: NotRequired[Risk]
    reviewer: NotRequired[
        Annotated[
            str,
            Field(min_length=1, max_length=80),
            _check(_display_fault),
            _STRIP,
            Field(description="Name that is recorded with scores"),
        ]
    ]
    prices: NotRequired[
        Annotated[
            dict[str, Annotated[PriceShape, _NULLABLE]],
            _NULLABLE,
            Field(description="Prices by the name of a model or of an entry of `models`"),
        ]
    ]
    review: NotRequired[Review]
