"""Choosing the cheapest model of a provider."""

from decimal import Decimal
from typing import Any

from amplifier_tui.base.prices import list_prices
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import capabilities


async def cheapest_model(provider: Any) -> str | None:
    """Return the cheapest model of a provider; None where its own is the one to take.

    That is so where no prices are known, and on this machine, where another model would have to be
    loaded. A model that can do less than the session's own, which uses tools, is not chosen; nor is
    one that would have the conversation read by others than the session's own has: that of another
    maker, or one for nothing. Where the provider does not have the session's own, because the user
    chose another provider, there is none to choose.
    """
    info = await awaited(provider.get_info())
    if capabilities.LOCAL in info.capabilities:
        return None
    own = str((getattr(info, "defaults", None) or {}).get("model") or "")
    everything = await awaited(provider.list_models())
    if own and not any(each.id == own or each.id.startswith(f"{own}-") for each in everything):
        return None
    listed = [each for each in everything if _can_talk(each) and _maker(each.id) == _maker(own)]
    asked = [(info.id, each.id) for each in listed if each.pricing is None]
    prices = await list_prices(asked)
    costs: dict[str, Decimal] = {}
    for each in listed:
        if each.pricing is not None:
            costs[each.id] = _sum(each.pricing.input_per_million, each.pricing.output_per_million)
        elif found := prices.get((info.id, each.id)):
            costs[each.id] = _sum(found[0].input, found[0].output)
    paid = [model for model, cost in costs.items() if cost]
    return min(paid, key=lambda model: costs[model], default=None)


def _maker(model: str) -> str:
    """Return whose a model is, as its name says where there are models of several makers."""
    return model.rpartition("/")[0]


def _can_talk(info: Any) -> bool:
    return capabilities.TOOLS in info.capabilities


def _sum(*prices: float | str) -> Decimal:
    return sum((Decimal(str(price)) for price in prices), Decimal(0))
