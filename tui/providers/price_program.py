"""The program that looks up prices in the price package.

It is a separate process because the package takes half a second, 85 MB and an HTTP library of its own to load. It
does not use the network.

stdin: JSON, a list of [base URL, model id]. stdout: JSON, the package's version and for each a price, or null.
"""

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

# Prices other than those per counted token, or that differ for some tokens.
_UNCOUNTED = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_text_messages_kcount")
_PRICES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_writing": "cache_write_mtok",
}


def main() -> None:
    """Answer the look-ups on stdin."""
    from genai_prices import __version__
    from genai_prices.data_snapshot import get_snapshot

    providers = get_snapshot().providers
    found = [_look_up(providers, base_url, model_id) for base_url, model_id in json.load(sys.stdin)]
    json.dump({"version": __version__, "prices": found}, sys.stdout)


def _look_up(providers: list[Any], base_url: str, model_id: str) -> dict[str, float | int | None] | None:
    for provider in providers:
        if _is_of(provider.api_pattern, base_url):
            model = provider.find_model(model_id, all_providers=providers)
            if model is not None:
                return _price_of(model)
    return None


def _is_of(pattern: str, url: str) -> bool:
    """Return whether the URL belongs to the provider: its whole host matches, not a prefix or a path elsewhere."""
    return re.match(rf"(?:{pattern.replace('.*', '[^/]*')})(?:(?<=\.)[a-z]+)?(?:(?<=/)|/|$)", url) is not None


def _price_of(model: Any) -> dict[str, float | int | None] | None:
    """Return the token prices, or None if the price has other parts or depends on the time of day."""
    if isinstance(model.prices, list) and any(hasattr(each.constraint, "start_time") for each in model.prices):
        return None
    prices = model.get_prices(datetime.now(UTC))
    if any(getattr(prices, name, None) is not None for name in _UNCOUNTED):
        return None
    given = {name: getattr(prices, key) for name, key in _PRICES.items()}
    if given["input"] is None or given["output"] is None:
        return None
    tiers = [tier.start for price in given.values() for tier in getattr(price, "tiers", ())]
    usd = {name: None if price is None else float(getattr(price, "base", price)) for name, price in given.items()}
    return {**usd, "longest_input": min(tiers, default=None)}


if __name__ == "__main__":
    main()
