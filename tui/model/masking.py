"""Names of models, providers and vendors inside texts, masked so that a blind reviewer cannot read them.

Four groups of names, all whole words:

- `DISTINCT`: names that mean nothing else. Masked always, in any case.
- `FAMILIES`: names that are common words, too (`gemini`, `llama`, `phi`). Masked with a version behind them (`Phi-3`),
  after words that introduce oneself (`I am Gemini`), and wherever a model of the run is of that family or vendor.
- `VENDORS`: the same for companies: masked after words such as `trained by`, and where the run has a model of theirs.
- names of the run: its models' ids, its providers' names, and what the config adds. Masked always.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tui.model.subjects import Subject

MASK = "▇▇▇"
MOST_NAMES, LONGEST_NAME, _LONGEST_ID = 100, 80, 200
NameKind = Literal["model", "provider", "vendor", "own"]
KINDS: dict[NameKind, str] = {
    "model": "a model's name",
    "provider": "a provider's name",
    "vendor": "a vendor's name",
    "own": "a name of the config's list",
}

_DISTINCT_MODELS = (
    "chatgpt|gpt|claude|deepseek|qwen|qwq|mistral|mixtral|codestral|devstral|pixtral|magistral|smollm|smolvlm|codellama|"
    "tinyllama|starcoder|nemotron|ernie bot|chatglm|internlm|olmo|dbrx|copilot chat|"
    r"command[ -]r|o[134][ -](?:mini|pro|preview)"
)
_DISTINCT_VENDORS = (
    "openai|anthropic|deepmind|google deepmind|google ai|meta ai|mistral ai|hugging ?face|huggingfacetb|xai|x\\.ai|"
    "moonshot ai|zhipu(?: ai)?|01\\.ai|alibaba cloud|ai21(?: labs)?|stability ai|allen institute for ai|allenai"
)
_DISTINCT_PROVIDERS = "openrouter|github copilot|azure openai|vertex ai|amazon bedrock|together ai|fireworks ai"
DISTINCT: dict[NameKind, str] = {
    "vendor": _DISTINCT_VENDORS,
    "provider": _DISTINCT_PROVIDERS,
    "model": _DISTINCT_MODELS,
}
FAMILIES: dict[str, tuple[str, ...]] = {
    "anthropic": ("opus", "sonnet", "haiku"),
    "google": ("gemini", "gemma", "palm"),
    "meta": ("llama",),
    "microsoft": ("phi", "copilot"),
    "xai": ("grok",),
    "amazon": ("nova", "titan"),
    "ibm": ("granite",),
    "moonshot": ("kimi",),
    "tii": ("falcon",),
    "zhipu": ("glm",),
    "01": ("yi",),
    "minimax": ("minimax",),
}
VENDORS = (
    "google",
    "meta",
    "microsoft",
    "cohere",
    "amazon",
    "ibm",
    "nvidia",
    "apple",
    "alibaba",
    "baidu",
    "tencent",
    "mosaic",
)
_GENERIC = frozenset(
    ("local", "replay", "agent", "agents", "api", "server", "model", "models", "default", "test", "mock", "remote")
)
_TIERS = (
    "mini|nano|micro|pro|ultra|flash|turbo|preview|lite|opus|sonnet|haiku|instant|instruct|chat|large|medium|small|nemo|"
    "coder|codex|vision|thinking|math|max|plus"
)
_NUMBER = r"v?\d(?:\.?[a-z0-9])*"
_FURTHER = rf"(?:[._-](?:[a-z]?\d(?:\.?[a-z0-9])*)|[ ._-](?:\d+(?:\.\d+)?[bm]|{_TIERS})(?![^\W_]))*"
_SUFFIX = rf"(?:[ ._-]?{_NUMBER})?{_FURTHER}"
"""What may stand behind a family's name: ` 5.2`, `-4o-mini`, ` 3.5 Sonnet`, `-r1`, ` 3.3 70B Instruct`."""
_START, _END = r"(?<![^\W_])", r"(?![^\W_]|\.\d)"
_MADE_BY = (
    r"(?:trained|made|built|created|developed|designed|released|provided|powered|hosted|offered) (?:by|at) (?:the )?"
)
_I_AM = r"(?:\bI am|\bI['’]m|\bmy name is|\bcalled|\bknown as|\bnamed) (?:an? |the )?"


class MaskedName(NamedTuple):
    """Where a mask stands in the masked text (code points), and what kind of name it hides."""

    start: int
    end: int
    kind: NameKind


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with masks in the place of names."""

    text: str
    names: tuple[MaskedName, ...] = ()


class NameMask:
    """Masks the names that tell whose answer a text is. `own` are names that the config adds."""

    def __init__(self, subjects: Iterable[Subject] = (), own: Sequence[str] = ()) -> None:
        subjects = tuple(subjects)
        words = {word for subject in subjects for word in _words_of(subject)}
        vendors = [vendor for vendor, families in FAMILIES.items() if words & {vendor, *families}]
        present = [family for vendor in vendors for family in FAMILIES[vendor]]
        companies = [vendor for vendor in VENDORS if vendor in vendors or vendor in words]
        groups: list[tuple[NameKind, str]] = [
            ("own", _alternatives(name for name in own if name.strip())),
            ("model", _suffixed(_alternatives({name for subject in subjects for name in _ids_of(subject)}))),
            ("provider", _alternatives(_providers_of(subjects))),
            ("vendor", DISTINCT["vendor"]),
            ("provider", DISTINCT["provider"]),
            ("model", rf"(?:{DISTINCT['model']}){_SUFFIX}"),
            ("model", rf"(?:{_alternatives(present)}){_SUFFIX}" if present else ""),
            ("model", rf"(?:{_alternatives(_every_family())})[._-]?{_NUMBER}{_FURTHER}"),
            # With a space before the number only as a proper noun: `the falcon 3 miles away` is a bird.
            ("model", rf"(?-i:{'|'.join(_capitalised(_every_family()))}) {_NUMBER}{_FURTHER}"),
            # Case-sensitive: `meta tags` and `the amazon` are no companies.
            ("vendor", f"(?-i:{'|'.join(_capitalised(companies))})" if companies else ""),
        ]
        self._kinds = [kind for kind, pattern in groups if pattern]
        alternatives = "|".join(f"({pattern})" for _, pattern in groups if pattern)
        self._names = re.compile(f"{_START}(?:{alternatives}){_END}", re.IGNORECASE)
        self._introduced: tuple[tuple[NameKind, re.Pattern[str]], ...] = (
            ("vendor", _introduced(_MADE_BY, VENDORS)),
            ("model", _introduced(_I_AM, _every_family())),
        )

    def mask(self, text: str) -> MaskedText:
        """Return the text with `▇▇▇` in the place of every name."""
        found = [(*match.span(), self._kinds[(match.lastindex or 1) - 1]) for match in self._names.finditer(text)]
        for kind, pattern in self._introduced:
            found += [(*match.span(1), kind) for match in pattern.finditer(text)]
        pieces: list[str] = []
        names: list[MaskedName] = []
        at = length = 0
        for start, end, kind in sorted(found):
            if start < at:
                continue
            pieces += (text[at:start], MASK)
            length += start - at + len(MASK)
            names.append(MaskedName(length - len(MASK), length, kind))
            at = end
        return MaskedText("".join((*pieces, text[at:])), tuple(names)) if names else MaskedText(text)


def mask_fault(name: str) -> str | None:
    """Return why this cannot be a name to be masked; None where it can."""
    if 2 <= len(name.strip()) <= LONGEST_NAME and name.isprintable():
        return None
    return f"a name to be masked has 2 to {LONGEST_NAME} printable characters"


def _every_family() -> list[str]:
    return [family for families in FAMILIES.values() for family in families]


def _introduced(words: str, names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{words})({_alternatives(names)}){_END}", re.IGNORECASE)


def _capitalised(names: Iterable[str]) -> list[str]:
    return [form for name in names for form in (name.capitalize(), name.upper())]


def _alternatives(names: Iterable[str]) -> str:
    """The longest first: an alternative that begins another one must not end the match."""
    return "|".join(
        _spelled(name) for name in sorted({name.strip() for name in names}, key=lambda each: (-len(each), each))
    )


def _spelled(name: str) -> str:
    """A name as people write it: `gpt-5.2` also with a space or nothing before its digits."""
    pieces = re.split(r"[ ._-]+(?=\d)", name)
    return r"[ ._-]?".join(re.escape(piece) for piece in pieces)


def _suffixed(alternatives: str) -> str:
    return f"(?:{alternatives}){_SUFFIX}" if alternatives else ""


def _words_of(subject: Subject) -> set[str]:
    """The words of a subject's names, without digits: `openai/gpt-5.2` gives openai and gpt."""
    return {word for name in (subject.provider, subject.model_id) for word in re.findall("[a-z]+", name.lower())}


def _ids_of(subject: Subject) -> set[str]:
    """What a model is called: its name and its id, whole and without what stands before the last slash. Ordinary words
    are left out: only what has a digit or joins several words is a name for sure."""
    whole = {subject.name.partition("?")[0], subject.model_id}
    names = whole | {name.rpartition("/")[2] for name in whole}
    names |= {name.partition(":")[0] for name in names}
    return {
        name
        for name in names
        if 2 <= len(name) <= _LONGEST_ID and re.search(r"[a-z]", name, re.IGNORECASE) and re.search(r"[\d/._:-]", name)
    }


def _providers_of(subjects: Iterable[Subject]) -> set[str]:
    names = {subject.provider for subject in subjects}
    return {name for name in names if 2 <= len(name) <= _LONGEST_ID and name.lower() not in _GENERIC}
