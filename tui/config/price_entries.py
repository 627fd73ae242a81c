"""The config's `prices:`: what the tokens of a model cost."""

from tui.config.nodes import Place
from tui.model.prices import MOST_USD, Price

SOURCE = "config"
_NEEDED = ("input", "output")
_FIELDS = (*_NEEDED, "cached", "cache_writing")


def read_prices(section: Place) -> dict[str, Price]:
    """Prices by the name of a model or a variant, USD per million tokens. Problems are noted at their place."""
    return {name: price for name, place in section.entries() if (price := _read_price(place)) is not None}


def _read_price(place: Place) -> Price | None:
    problems = len(place.findings.problems)
    fields = place.fields(_FIELDS)
    if not fields and len(place.findings.problems) > problems:
        return None
    usd = {name: _read_usd(field) for name, field in fields.items()}
    missing = [name for name in _NEEDED if name not in fields]
    if missing:
        place.complain_of_name(f"needs {' and '.join(missing)}: USD per million tokens")
        return None
    read, wrote = usd["input"], usd["output"]
    if read is None or wrote is None:
        return None
    return Price(read, wrote, SOURCE, usd.get("cached"), usd.get("cache_writing"))


def _read_usd(place: Place) -> float | None:
    problems = len(place.findings.problems)
    value = place.value()
    if len(place.findings.problems) > problems:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_USD:
        place.complain(f"must be a number of USD per million tokens, from 0 to {MOST_USD:,.0f}")
        return None
    return float(value)
