"""What answers cost: a model's price, and what follows from the tokens that were counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10

from tui.model.results import Usage

MOST_USD = 1_000_000.0  # of a price, and of what one answer may cost: more is a mistake
_MILLION = 1_000_000
_MOST_TOKENS = 10**12  # of one answer: a server may claim anything
_SMALL = 0.1


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens. `cached` is for input that the provider had in its cache, `cache_writing` for input that
    it put there; None means: like other input. Above `longest_input` tokens of one question another price holds, which
    is not known here. `source` says where it is from: `config`, or a package with its version."""

    input: float
    output: float
    source: str
    cached: float | None = None
    cache_writing: float | None = None
    longest_input: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What some trials cost together, in USD: the sum of those whose cost is known, and of how many that is. `usd` is
    None where it is known of none."""

    usd: float | None = None
    known: int = 0
    trials: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing from the sum; otherwise it is the least that was spent."""
        return self.usd is not None and self.known == self.trials


def cost(usage: Usage, price: Price | None) -> float | None:
    """What an answer costs, in USD. None, which is never nothing, where there is no price, a count that it needs was
    not told or is beyond all reason, or the question was longer than the price holds for.

    Reasoning tokens are part of `output_tokens`, cached ones of `input_tokens`. Where nobody says how many were cached,
    none were: the cost is then the most that it can be.
    """
    read, wrote = usage.input_tokens, usage.output_tokens
    if price is None or read is None or wrote is None or max(read, wrote) > _MOST_TOKENS:
        return None
    if price.longest_input is not None and read > price.longest_input:
        return None
    cached = min(usage.cached_tokens or 0, read)
    stored = min(usage.cache_writing_tokens or 0, read - cached)
    total = (
        (read - cached - stored) * price.input
        + cached * (price.input if price.cached is None else price.cached)
        + stored * (price.input if price.cache_writing is None else price.cache_writing)
        + wrote * price.output
    )
    return round(total / _MILLION, 12)


def add_costs(costs: Iterable[float | None]) -> float | None:
    """The sum of costs that belong together; None where one of them is not known, or there is none."""
    total: float | None = None
    for each in costs:
        if each is None:
            return None
        total = (total or 0.0) + each
    return None if total is None else round(total, 12)


def spent_on(costs: Iterable[float | None]) -> Spent:
    """What trials cost together, each with its own cost or None."""
    every = [*costs]
    known = [each for each in every if each is not None]
    return Spent(round(sum(known), 12) if known else None, len(known), len(every))


def cost_text(spent: Spent) -> str:
    """`$0.0042`, `≥ $1.20` where some is not known, `unknown` where nothing is."""
    if spent.usd is None:
        return "unknown"
    return dollars(spent.usd) if spent.is_whole else f"≥ {dollars(spent.usd)}"


def dollars(usd: float) -> str:
    """`$12.30`, `$0.0042`: cents, and of less than ten of them the first two digits."""
    if not 0 < usd < _SMALL:
        return f"${usd:,.2f}"
    return f"${usd:.{1 - floor(log10(usd))}f}"


def price_text(price: Price) -> str:
    """`$1.75 in, $14.00 out, $0.175 cached per million tokens (config)`."""
    said = [f"{_exact(price.input)} in", f"{_exact(price.output)} out"]
    said += [] if price.cached is None else [f"{_exact(price.cached)} cached"]
    said += [] if price.cache_writing is None else [f"{_exact(price.cache_writing)} put in the cache"]
    most = "" if price.longest_input is None else f", up to {price.longest_input:,} tokens in"
    return f"{', '.join(said)} per million tokens{most} ({price.source})"


def _exact(usd: float) -> str:
    return f"${usd:,.2f}" if round(usd, 2) == usd else f"${usd:.12f}".rstrip("0")
