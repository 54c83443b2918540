"""Choosing the cheapest model of a provider."""

from decimal import Decimal
from typing import Any

from amplifier_tui.base.prices import list_prices
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import capabilities


async def cheapest_model(provider: Any) -> str | None:
    """Return the cheapest model of a provider; None where its own is the one to take.

    That is so where no prices are known, and on this machine, where another model would have to be
    loaded. A model that can do less than the session's own, which uses tools, is not chosen.
    """
    info = await awaited(provider.get_info())
    if capabilities.LOCAL in info.capabilities:
        return None
    listed = [each for each in await awaited(provider.list_models()) if _can_talk(each)]
    asked = [(info.id, each.id) for each in listed if each.pricing is None]
    prices = await list_prices(asked)
    costs: dict[str, Decimal] = {}
    for each in listed:
        if each.pricing is not None:
            costs[each.id] = _sum(each.pricing.input_per_million, each.pricing.output_per_million)
        elif found := prices.get((info.id, each.id)):
            costs[each.id] = _sum(found[0].input, found[0].output)
    return min(costs, key=lambda model: costs[model], default=None)


def _can_talk(info: Any) -> bool:
    return capabilities.TOOLS in info.capabilities


def _sum(*prices: float | str) -> Decimal:
    return sum((Decimal(str(price)) for price in prices), Decimal(0))
