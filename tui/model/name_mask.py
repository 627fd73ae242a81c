"""Mask the names of models, providers and vendors in texts for blind review.

There are four groups of names, all matched as whole words; a letter of a script without spaces (`我是ChatGPT`) ends a
word:

- `DISTINCT`: names with no other meaning. Always masked, in any case.
- `FAMILIES`: names that are also common words (`gemini`, `llama`, `phi`). Masked before a version or a tier (`Phi-3`,
  `Nova Pro`), after an introduction (`I am Gemini`), and everywhere if a model of the run is of that family or vendor;
  those in `_COMMON` only with a capital, so that `a magnum opus` stays readable.
- `VENDORS`: the names of companies. Masked after words such as `trained by`, and if the run has a model of theirs.
- Names of the run: ids of its models, names of its providers, and names from the config. Always masked.

Marks of emphasis, any kind of hyphen, a dot, an underscore, a space or nothing may separate the parts of a name
(`**GPT**-4`, `Acme_Coder`), and the end of a line those of a name of the run. Names are also found in full-width
letters, and with stars or invisible characters between their letters.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple

from tui.model.errors import AssayError
from tui.model.subjects import Subject

MASK = "▇▇▇"
MOST_NAMES, LONGEST_NAME, _LONGEST_ID = 100, 80, 200
NameKind = Literal["model", "provider", "vendor", "own"]
KINDS: dict[NameKind, str] = {
    "model": "a model's name",
    "provider": "a provider's name",
    "vendor": "a vendor's name",
    "own": "a name from the config file",
}

_DISTINCT_MODELS = (
    # Exclude the partition table and the names of people.
    "chatgpt|gpts?(?! (?:partition|disk|table|header|scheme|label))|"
    "(?<!jean[ -])claude(?! (?:monet|debussy|shannon|bernard|chabrol|juncker|l[ée]vi|lorrain|rains|van damme))(?:ai)?|"
    "deepseek|qwen|qwq|mixtral|codestral|devstral|pixtral|magistral|ministral|smollm|smolvlm|codellama|tinyllama|"
    "starcoder|nemotron|ernie bot|chatglm|internlm|olmo|dbrx|copilot chat|text-davinci|stablelm|hunyuan|doubao|"
    "qianwen|jamba|microsoft copilot|(?-i:LaMDA)|通义千问|文心一言|豆包|混元|"
    r"command[ -]r(?:[ -]?plus|\+|7b)|o[134][ -](?:mini|pro|preview)"
)
_DISTINCT_VENDORS = (
    "openai|open-ai|(?-i:Open AI)|anthropic(?:ai)?|deepmind|google deepmind|google ai|meta ai|mistral ai|hugging ?face|"
    "huggingfacetb|(?-i:xAI)|x\\.ai|moonshot ai|zhipu(?: ai)?|01\\.ai|alibaba cloud|ai21(?: ?labs)?|stability ai|"
    "allen institute for ai|allenai|meta-llama(?=/)|mistralai|x-ai|moonshotai|z-ai|zai-org|01-ai|ibm-granite|tiiuae|"
    "cohereforai|c4ai|minimaxai|深度求索|智谱|月之暗面"
)
_DISTINCT_PROVIDERS = "openrouter|groq|github copilot|azure openai|vertex ai|amazon bedrock|together ai|fireworks ai"
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
    "mistral": ("mistral",),
    "cohere": ("command r", "command-r", "command a", "command-a"),
    "baidu": ("ernie",),
    "01": ("yi",),
    "minimax": ("minimax",),
}
_COMMON = frozenset(
    ("opus", "sonnet", "haiku", "palm", "llama", "phi", "copilot", "nova", "titan", "granite", "falcon", "minimax")
) | {"mistral"}
_SPELLINGS = {"llama": ("LLaMA",), "palm": ("PaLM",), "minimax": ("MiniMax",), "command r": ("Command R",)}
_VARIABLES = frozenset(("phi", "yi", "nova", "opus", "palm"))
"""Families that are also names of variables: `phi3` and `phi_1` are no models, but `phi-3` is."""
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
_UNCOMMON_VENDORS = ("google", "microsoft", "ibm", "nvidia", "alibaba", "baidu", "tencent")
_GENERIC = frozenset(
    ("local", "replay", "agent", "agents", "api", "server", "model", "models", "default", "test", "mock", "remote")
)
_ORDINARY = _GENERIC | {"assistant", "chat", "main", "example", "tool", "tools", "python", "text", "search"}
_ORDINARY |= {"latest", "localhost"}
_TIERS = (
    "mini|nano|micro|pro|ultra|flash|turbo|preview|lite|opus|sonnet|haiku|instant|instruct|chat|large|medium|small|nemo|"
    "coder|codex|vision|thinking|math|max|plus|oss"
)
_FORMATS = "bf16|fp16|fp8|int[48]|awq|gptq|gguf|hf|it|base"
_HYPHEN = "._\\-\u058a\u05be\u1806\u2010-\u2015\u2043\u2212\u2e17\u30a0\ufe58\ufe63"
_SPACE = " \u00a0\u2000-\u200a\u202f\u205f\u3000"
_MARKUP = "[*_`~]{0,3}"
# Not before a full stop that ends a sentence: `GPT 5.2. 3 reasons`. Markdown escapes a hyphen: `GPT\\-4`.
# Atomic: an underscore is markup and a hyphen, and all readings of all separators would be tried in exponential time.
_BETWEEN = rf"(?>{_MARKUP}\\?[{_SPACE}{_HYPHEN}]?{_MARKUP})"
_LOOSE = rf"(?>{_MARKUP}\\?[{_HYPHEN}]?\r?\n[ \t>]{{0,8}}{_MARKUP}|{_BETWEEN})"
"""As `_BETWEEN`, or the end of a line that was wrapped within a name."""
_JOINED = rf"(?>{_MARKUP}\\?[{_HYPHEN}]{_MARKUP})"
_SEPARATOR = re.compile(rf"([{_SPACE}{_HYPHEN}!-/:-@\[-`{{-~]+)")
"""What separates the parts of a name of the run: `zephyr:7b`, `foo@bar`, `Acme Coder`."""
_TAG = re.compile(r":[^/]*\Z")
_LETTERS = "A-Za-zÀ-ɏͰ-ӿ"
_START, _END = rf"(?<![{_LETTERS}0-9])", rf"(?![{_LETTERS}0-9]|\.\d)"
"""The borders of a word: no letters or digits of scripts that separate words by spaces, so `私はGPT-4です` matches."""
_NUMBER = r"[vkmr]?\d(?:\.?[a-z0-9])*"
# Without the lookahead, a dot inside a number could also separate two, and a long number takes exponential time.
_FURTHER = (
    rf"(?:(?!\.[a-z0-9])(?>{_MARKUP}(?:\\?[{_HYPHEN}]|[:@/](?=\d)){_MARKUP})(?:[a-z]?\d(?:\.?[a-z0-9])*|(?:{_FORMATS}){_END})"
    rf"|{_BETWEEN}(?<=[{_SPACE}{_HYPHEN}*_`~])(?:\d+(?:\.\d+)?[bm]|(?:{_TIERS})(?:{_BETWEEN}v?\d+(?:\.\d+)*)?){_END}"
    rf"|[{_SPACE}]\((?:{_TIERS})\))*"
)
_SUFFIX = rf"(?:{_BETWEEN}{_NUMBER}|\.[a-z]\d(?:\.?[a-z0-9])*)?{_FURTHER}"
"""What may follow a family's name: ` 5.2`, `-4o-mini`, ` 3.5 Sonnet`, ` Opus 4.5`, `-r1`, ` 3.3 70B Instruct`."""
_SPACED = rf"(?:\d\.\d+|\d+(?:\.\d+)?b|[vkmr]?[1-5]{_END})"
"""A version after a space: `Gemini 2.5`, `Falcon 40B`, `Opus 4`; not `Sonnet 18`, `Falcon 9`, `Gemini 12`."""
_FOLDED = re.compile(
    r"((?<=[^\W_])\*{1,3}(?=[^\W_])"
    r"|[\xad\xae\u2122\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff])"
    r"|[\u2100-\u214f\u24b6-\u24e9\uff0d\uff0e\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff]"
    r"|[\u0300-\u036f\u3099\u309a]+"
)
"""What may disguise a name: stars between letters (`G**PT**`), invisible characters, trademark signs, full-width and
styled letters, letters with separate accents."""
_MOST_PASSES = 3
_PREFIX = re.compile(rf"{_START}(?:{'|'.join(VENDORS)}|{_DISTINCT_VENDORS})[/.:-](?:(?:meta|c4ai)-)?\Z", re.IGNORECASE)
"""The vendor before the name of a model in an id: `google/gemma-3`, `meta-llama/Meta-Llama-3`, `amazon.nova-pro`."""
_LONGEST_PREFIX = 60
_PIECE, _MARGIN = 16_384, 2_048
"""The characters that are searched at a time, and those at the end of them on which no earlier match depends."""
_QUOTED = r"[*_`~\"'“”‘’]{0,3}"
_MADE_BY = (
    r"(?:(?:trained|made|built|created|developed|designed|released|provided|powered|hosted|offered) (?:by|at)"
    r"|(?:model|assistant|AI|chatbot) (?:by|from|of)) (?:the )?"
)
_I_AM = (
    r"(?:\bI am|\bI['’]m|\bich bin|\bje suis|\bsoy|\bmy name is|\bcall me|"
    r"\b(?:I am|I['’]m|assistant|AI|model|chatbot),? (?:called|known as|named)) (?:an? |the )?"
)


class MaskedName(NamedTuple):
    """The range of a mask in the masked text, in code points, and the kind of name that it replaces."""

    start: int
    end: int
    kind: NameKind


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with its names replaced by masks."""

    text: str
    names: tuple[MaskedName, ...] = ()


class MaskingStopped(AssayError):
    """The names in a text are no longer searched: nobody waits for them."""

    def __init__(self) -> None:
        super().__init__("The search for names in this answer was stopped", fix="Open the review again.")


class NameMask:
    """Masks the names that identify the model behind a text.

    `own` are additional names from the config. Long texts take seconds: `is_stopped` returns whether to end early.
    """

    def __init__(
        self,
        subjects: Iterable[Subject] = (),
        own: Sequence[str] = (),
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        subjects, self._is_stopped = tuple(subjects), is_stopped
        groups = [(kind, pattern) for kind, pattern in _name_patterns(subjects) if pattern]
        self._kinds = [kind for kind, _ in groups]
        alternatives = "|".join(f"({pattern})" for _, pattern in groups)
        # Without this, each alternative is tried at each sign and space, which takes ten times as long.
        first = rf"(?=[\w{re.escape(''.join(sorted(_first_signs(subjects, own))))}])"
        self._names = re.compile(f"{first}{_START}(?:{alternatives}){_END}", re.IGNORECASE)
        # Apart from the others, which may be longer or shorter at the same place: `acme` and `acme-coder:latest`.
        added = _alternatives(name for name in own if name.strip())
        self._own = re.compile(f"{first}{_START}(?:{added}){_END}", re.IGNORECASE) if added else None
        plain = _alternatives({name for subject in subjects for name in _plain_names_of(subject)})
        self._introduced: tuple[tuple[NameKind, re.Pattern[str]], ...] = (
            ("vendor", _introduced(_MADE_BY, f"(?-i:{'|'.join((*_capitalised(VENDORS), *_UNCOMMON_VENDORS))})")),
            ("model", _introduced(_I_AM, "|".join(filter(None, (_alternatives(_every_family()), _suffixed(plain)))))),
        )

    def mask(self, text: str) -> MaskedText:
        """Return the text with `▇▇▇` in the place of every name. Raises MaskingStopped."""
        found = self._find(text)
        if next(_matches(_FOLDED, text, self._is_stopped), None):
            # With the names that were found already: what follows them may be disguised (`GPT` in `GPT\u200b-4`).
            found += self._find_disguised(text)
            # Once more without them: a name may end where another one that was disguised begins.
            for _ in range(_MOST_PASSES if found else 0):
                found += (disguised := self._find_disguised(_blanked(text, found)))
                if not disguised:
                    break
        pieces: list[str] = []
        names: list[MaskedName] = []
        at = length = 0
        for start, end, kind in _merged(found):
            pieces += (text[at:start], MASK)
            length += start - at + len(MASK)
            names.append(MaskedName(length - len(MASK), length, kind))
            at = end
        return MaskedText("".join((*pieces, text[at:])), tuple(names)) if names else MaskedText(text)

    def _find(self, text: str) -> list[tuple[int, int, NameKind]]:
        found: list[tuple[int, int, NameKind]] = []
        if self._own is not None:
            found += [(*match.span(), "own") for match in _matches(self._own, text, self._is_stopped)]
        matches = _matches(self._names, text, self._is_stopped)
        found += [(*match.span(), self._kinds[(match.lastindex or 1) - 1]) for match in matches]
        for kind, pattern in self._introduced:
            found += [(*match.span(1), kind) for match in _matches(pattern, text, self._is_stopped)]
        return [(_start_of_prefix(text, start) if kind == "model" else start, end, kind) for start, end, kind in found]

    def _find_disguised(self, text: str) -> list[tuple[int, int, NameKind]]:
        folded = _FoldedText(text, self._is_stopped)
        found = self._find(folded.text)
        return [
            (folded.place(start), _after_accents(text, folded.place(end - 1) + 1), kind) for start, end, kind in found
        ]


class _FoldedText:
    """A text without what may disguise a letter, and the places of its characters in the original."""

    def __init__(self, text: str, is_stopped: Callable[[], bool]) -> None:
        pieces: list[str] = []
        self._folded: list[int] = []
        self._shifts: list[int] = []
        at = length = 0
        for match in _matches(_FOLDED, text, is_stopped):
            start = match.start()
            if start > at and unicodedata.combining(match[0][0]):
                start -= 1  # An accent is composed with the letter before it.
            disguised = text[start : match.end()]
            letter = "" if match[1] else unicodedata.normalize("NFKC", disguised)
            letter = disguised if len(letter) > 1 else letter
            pieces += (text[at:start], letter)
            length += start - at + len(letter)
            at = match.end()
            self._folded.append(length)
            self._shifts.append(at - length)
        self.text = "".join((*pieces, text[at:]))

    def place(self, index: int) -> int:
        """Return the place of a character in the original text."""
        edit = bisect_right(self._folded, index)
        return index + (self._shifts[edit - 1] if edit else 0)


def _matches(pattern: re.Pattern[str], text: str, is_stopped: Callable[[], bool]) -> Iterator[re.Match[str]]:
    """Yield the same matches as `finditer`, and search the text in pieces: other threads run between two of them.

    Raises MaskingStopped.
    """
    at, size = 0, _PIECE
    while at < len(text):
        if is_stopped():
            raise MaskingStopped
        end = min(at + size, len(text))
        match = pattern.search(text, at, end)
        certain = end - _MARGIN if end < len(text) else end
        if match is None or match.start() > certain:
            at, size = certain, _PIECE
        elif match.end() > certain:  # It may be longer than in this piece.
            at, size = match.start(), size * 2 if match.start() == at else _PIECE
        else:
            yield match
            at, size = match.end(), _PIECE


def _start_of_prefix(text: str, start: int) -> int:
    """Return where the vendor before the name of a model begins, or the start of the name if there is none."""
    if text[start - 1 : start] not in ("/", ".", ":", "-"):
        return start
    begin = max(0, start - _LONGEST_PREFIX)
    prefix = _PREFIX.search(text[begin:start])
    return begin + prefix.start() if prefix else start


def _after_accents(text: str, end: int) -> int:
    """Return where the separate accents of the letter before this place end."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def _blanked(text: str, found: Iterable[tuple[int, int, NameKind]]) -> str:
    """Return the text with a mask of the same length in the place of each range."""
    pieces: list[str] = []
    at = 0
    for start, end, _ in _merged(found):
        pieces += (text[at:start], MASK[0] * (end - start))
        at = end
    return "".join((*pieces, text[at:]))


def _merged(found: Iterable[tuple[int, int, NameKind]]) -> list[tuple[int, int, NameKind]]:
    """Return the ranges in order, those that overlap as one, of the kind of the first."""
    merged: list[tuple[int, int, NameKind]] = []
    for start, end, kind in sorted(found, key=lambda each: (each[0], -each[1])):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, kind))
    return merged


def mask_fault(name: str) -> str | None:
    """Return why this cannot be a name to be masked; None where it can."""
    if 2 <= len(name.strip()) <= LONGEST_NAME and name.isprintable():
        return None
    return f"expected a name of 2 to {LONGEST_NAME} printable characters"


def _name_patterns(subjects: Sequence[Subject]) -> list[tuple[NameKind, str]]:
    """Return the patterns of the names to mask with their kinds, the first choice first; some may be empty."""
    words = {word for subject in subjects for word in _words_of(subject)}
    vendors = [vendor for vendor, families in FAMILIES.items() if words & {vendor, *families}]
    present = [family for vendor in vendors for family in FAMILIES[vendor]]
    companies = [vendor for vendor in VENDORS if vendor in vendors or vendor in words]
    families = _every_family()
    ids = {name for subject in subjects for name in _ids_of(subject)}
    plain = _alternatives({name for subject in subjects for name in _plain_names_of(subject)})
    hyphened = _alternatives(family for family in families if family in _VARIABLES)
    return [
        ("model", _suffixed(_alternatives(ids))),
        ("model", _suffixed("|".join(sorted(filter(None, map(_unversioned, ids)), reverse=True)))),
        ("model", rf"(?:{plain})(?=[._][^\W\d_])|(?<=[^\W_][._])(?:{plain})" if plain else ""),
        ("provider", _alternatives(_providers_of(subjects))),
        ("vendor", DISTINCT["vendor"]),
        ("provider", DISTINCT["provider"]),
        ("model", rf"(?:{DISTINCT['model']}){_SUFFIX}"),
        ("model", _suffixed(_present(present))),
        ("model", rf"(?:{_alternatives({*families} - _VARIABLES)})[{_HYPHEN}]?{_NUMBER}{_FURTHER}"),
        (
            "model",
            rf"(?:{_alternatives(families)})(?:{_NUMBER})?:(?:\d+(?:\.\d+)?b|latest|{_TIERS}){_END}{_FURTHER}",
        ),
        ("model", rf"(?:{hyphened})[.\-\u2010-\u2015]{_NUMBER}{_FURTHER}"),
        ("model", rf"(?:{_alternatives(families)})-(?:{_TIERS}){_END}{_FURTHER}"),
        # With a space before the number only as a proper noun: `the falcon 3 miles away` is a bird.
        (
            "model",
            rf"(?-i:{'|'.join(_capitalised(families))})[{_SPACE}](?:{_SPACED}|(?-i:{_proper(_TIERS)})){_FURTHER}",
        ),
        ("model", rf"(?-i:{'|'.join(_capitalised(_VARIABLES))})[{_HYPHEN}]?{_NUMBER}{_FURTHER}"),
        # Case-sensitive: `meta tags` and `the amazon` are no companies.
        ("vendor", f"(?-i:{'|'.join(_capitalised(companies))})" if companies else ""),
    ]


def _first_signs(subjects: Iterable[Subject], own: Iterable[str]) -> set[str]:
    """Return the first characters of names that begin with neither a letter nor a digit: `@acme/coder`."""
    names = {*own, *(name for subject in subjects for name in (subject.provider, *_names_of(subject)))}
    first = {unicodedata.normalize("NFC", name.strip())[:1] for name in names}
    return {sign for sign in first if sign and not re.match(r"\w", sign)}


def _every_family() -> list[str]:
    return [family for families in FAMILIES.values() for family in families]


def _introduced(words: str, names: str) -> re.Pattern[str]:
    return re.compile(rf"(?=\w)(?:{words}){_QUOTED}({names}){_END}", re.IGNORECASE)


def _present(families: Iterable[str]) -> str:
    """Return the pattern for families of the run: common words match only as proper nouns or with a version."""
    families = tuple(families)
    common = _capitalised(family for family in families if family in _COMMON)
    names = [_alternatives(family for family in families if family not in _COMMON)]
    names += [f"(?-i:{'|'.join(common)})"] if common else []
    names += [rf"(?:{_alternatives(set(families) & _COMMON)})(?={_BETWEEN}\d)"] if common else []
    return "|".join(filter(None, names))


def _proper(alternatives: str) -> str:
    return "|".join(_capitalised(alternatives.split("|")))


def _capitalised(names: Iterable[str]) -> list[str]:
    spelled = {name: [name.capitalize(), name.upper(), *_SPELLINGS.get(name, ())] for name in names}
    return [form for forms in spelled.values() for form in forms]


def _alternatives(names: Iterable[str]) -> str:
    """Return the names as alternatives, longest first: a name that is a prefix of another must not match first."""
    return "|".join(
        _spelled(name) for name in sorted({name.strip() for name in names}, key=lambda each: (-len(each), each))
    )


def _spelled(name: str) -> str:
    """Return the pattern of a name with other separators: `acme-coder-7b` also as `Acme Coder_7B` and `AcmeCoder7b`.

    Where a part is short, or all are common words, there has to be a separator, and a space only if the name has it:
    `mock a server`.
    """
    pieces = _SEPARATOR.split(unicodedata.normalize("NFC", name))
    is_common = all(part.lower() in _ORDINARY for part in pieces[::2] if part)
    pattern = re.escape(pieces[0])
    for before, separator, part in zip(pieces[::2], pieces[1::2], pieces[2::2], strict=False):
        is_loose = part[:1].isdigit() or not (is_common or _is_short(before) or _is_short(part))
        between = (_LOOSE if is_loose else _JOINED) if before and part else ""
        own = re.escape(separator)
        if between:
            own = between if re.fullmatch(between, separator) else f"(?>{own}|{between})"
        pattern += own + re.escape(part)
    return pattern


def _unversioned(name: str) -> str:
    """Return the pattern of a name of several words without the version at its end, or an empty string.

    Without a version it may be ordinary words, so a space separates them only in a proper noun: `Acme Coder`.
    """
    parts = _parts_of(name.rpartition("/")[2])
    words = _words_before_version(parts)
    if not 1 < len(words) < len(parts) or any(_is_short(word) or word.lower() in _ORDINARY for word in words):
        return ""
    joined = f"(?>{_MARKUP}[{_HYPHEN}]?{_MARKUP})".join(map(re.escape, words))
    proper = [
        f"{_MARKUP}[{_SPACE}]{_MARKUP}".join(re.escape(form(word)) for word in words)
        for form in (str.capitalize, str.upper)
    ]
    return f"{joined}|(?-i:{'|'.join(proper)})"


def _parts_of(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name)[::2] if part]


def _words_before_version(parts: Iterable[str]) -> list[str]:
    return list(takewhile(lambda part: not any(map(str.isdigit, part)), parts))


def _is_short(part: str, most: int = 2) -> bool:
    """Return whether this is too short for a word, in a script that separates words by spaces."""
    return re.fullmatch(f"[{_LETTERS}]{{0,{most}}}", part) is not None


def _suffixed(alternatives: str) -> str:
    return f"(?:{alternatives}){_SUFFIX}" if alternatives else ""


def _words_of(subject: Subject) -> set[str]:
    """Return the words of a subject's names, without digits: `openai/gpt-5.2` gives openai and gpt."""
    return {word for name in (subject.provider, subject.model_id) for word in re.findall("[a-z]+", name.lower())}


def _names_of(subject: Subject) -> set[str]:
    """Return the names of a model: its name and its id, whole and shortened.

    Removed are what precedes the last slash, the tag (`zephyr:7b`) and the suffix of an agent's file.
    """
    names = {unicodedata.normalize("NFC", name) for name in (subject.name.partition("?")[0], subject.model_id)}
    names |= {name.rpartition("/")[2] for name in names}
    names |= {_TAG.sub("", name) for name in names}
    return names | {name.removesuffix(".py") for name in names}


def _ids_of(subject: Subject) -> set[str]:
    """Return the names of a model that have a digit or several parts; others may be ordinary words."""
    return {
        name
        for name in _names_of(subject)
        if 2 <= len(name) <= _LONGEST_ID
        and any(map(str.isalpha, name))
        and (_parts_of(name) != [name] or any(map(str.isdigit, name)))
    }


def _plain_names_of(subject: Subject) -> set[str]:
    """Return the names of a model that may be ordinary words: `lookup` of `lookup.py`, `zephyr` of `zephyr-7b`."""
    words = [_words_before_version(_parts_of(name.rpartition("/")[2])) for name in _names_of(subject)]
    plain = {each[0] for each in words if len(each) == 1}
    return {name for name in plain if not _is_short(name, 3) and name.lower() not in _ORDINARY}


def _providers_of(subjects: Iterable[Subject]) -> set[str]:
    names = {subject.provider for subject in subjects}
    return {name for name in names if 2 <= len(name) <= _LONGEST_ID and name.lower() not in _GENERIC}
