"""The price of a model's tokens, and the cost of answers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor, log10

from tui.model.results import Usage

MOST_USD = 1_000_000.0  # for a price and for the cost of one answer: a larger value is an error
_MILLION = 1_000_000
_MOST_TOKENS = 10**12  # of one answer that can be priced: a server may report any number
_SMALL = 0.1


@dataclass(frozen=True, slots=True)
class Price:
    """A price in USD per million tokens.

    `cached` is for input that was read from the provider's cache, `cache_writing` for input that was written to it;
    None means the price of other input. Above `longest_input` input tokens in one request a different, unknown price
    applies. `source` is `config`, or a package with its version.
    """

    input: float
    output: float
    source: str
    cached: float | None = None
    cache_writing: float | None = None
    longest_input: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """The total cost of some trials in USD.

    `usd` sums what is known, and is None if nothing is; of `known` of the `trials` the whole cost is known.
    """

    usd: float | None = None
    known: int = 0
    trials: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the cost of every trial is known; otherwise `usd` is a lower bound."""
        return self.usd is not None and self.known == self.trials


def price_terms(price: Price | None) -> Price | None:
    """Return a price without its source, to compare it with another one."""
    return None if price is None else replace(price, source="")


def cost(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of an answer in USD, or None if it is unknown.

    It is unknown if there is no price, if a required count is missing or implausibly large, or if the input is longer
    than the price covers. Reasoning tokens are part of `output_tokens`, cached tokens of `input_tokens`. If the number
    of cached tokens is unknown it is assumed to be 0, which gives an upper bound.
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
    """Return the sum of the costs, or None if one is unknown or there are none."""
    total: float | None = None
    for each in costs:
        if each is None:
            return None
        total = (total or 0.0) + each
    return None if total is None else round(total, 12)


def spent_on(costs: Iterable[float | None]) -> Spent:
    """Return the total of some trials' costs, each of which may be None."""
    every = [*costs]
    known = [each for each in every if each is not None]
    return Spent(round(sum(known), 12) if known else None, len(known), len(every))


def cost_text(spent: Spent) -> str:
    """Return a cost as text: `$0.0042`, `≥ $1.20` if some costs are unknown, `unknown` if all are."""
    if spent.usd is None:
        return "unknown"
    return dollars(spent.usd) if spent.is_whole else f"≥ {dollars(spent.usd)}"


def dollars(usd: float) -> str:
    """Return an amount as text: `$12.30`, `$0.0042`; two significant digits below ten cents."""
    if not 0 < usd < _SMALL:
        return f"${usd:,.2f}"
    return f"${usd:.{1 - floor(log10(usd))}f}"


def price_text(price: Price) -> str:
    """Return a price as text: `$1.75 in, $14.00 out, $0.175 cached per million tokens (config)`."""
    parts = [f"{_exact(price.input)} in", f"{_exact(price.output)} out"]
    parts += [] if price.cached is None else [f"{_exact(price.cached)} cached"]
    parts += [] if price.cache_writing is None else [f"{_exact(price.cache_writing)} written to the cache"]
    most = "" if price.longest_input is None else f", for up to {price.longest_input:,} input tokens"
    return f"{', '.join(parts)} per million tokens{most} ({price.source})"


def _exact(usd: float) -> str:
    return f"${usd:,.2f}" if round(usd, 2) == usd else f"${usd:.12f}".rstrip("0")
