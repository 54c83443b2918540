"""Reads the list of prices; run alone, as a process that ends when it has answered.

Standard input is a JSON list of `[place, model]`, where a place is the address of an API or the id
of its vendor. Standard output is an object: `found` is a list of what is known of each, or null: by
the number of input tokens above which they hold, the prices of input, output, cache reads and cache
writes. `source` says which data this is.
"""

import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

_KINDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")

Row = list[Any]


def main() -> None:
    """Answer what standard input asks."""
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    asked = json.load(sys.stdin)
    found = [_prices(snapshot, place, model) for place, model in asked]
    json.dump({"found": found, "source": _source(snapshot)}, sys.stdout)


def _source(snapshot: Any) -> str:
    """Return the data's name and version, and the day from which its newest price holds."""
    today = datetime.now(UTC).date()
    days = {
        start
        for provider in snapshot.providers
        for model in provider.models
        for price in _dated(model)
        if (start := getattr(price.constraint, "start_date", None)) is not None and start <= today
    }
    newest = f" of {max(days)}" if days else ""
    return f"genai-prices {version('genai-prices')}{newest}"


def _dated(model: Any) -> list[Any]:
    prices = model.prices if isinstance(model.prices, list) else []
    return [*prices, *(getattr(model, "price_variants", None) or ())]


def _prices(snapshot: Any, place: str, model: str) -> list[Row] | None:
    where = (None, place) if "://" in place else (place, None)
    try:
        _, found = snapshot.find_provider_model(model, None, *where)
    except LookupError:
        return None
    prices = found.get_prices(datetime.now(UTC))
    kinds = [getattr(prices, kind, None) for kind in _KINDS]
    if kinds[0] is None or kinds[1] is None:
        return None
    starts = {0, *(tier.start for kind in kinds for tier in getattr(kind, "tiers", ()))}
    return [[start, *(_from(kind, start) for kind in kinds)] for start in sorted(starts)]


def _from(price: Any, start: int) -> str | None:
    """Return a price from a number of input tokens on."""
    if price is None:
        return None
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= start]
    return str(tiers[-1] if tiers else getattr(price, "base", price))


if __name__ == "__main__":
    main()
