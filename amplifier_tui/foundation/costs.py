"""What child sessions cost, added to their parents."""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

COST_CHANNEL = "session.cost"
"""Contribution channel: each contribution is an amount in US dollars, or a mapping with
`cost_usd`."""


def sum_cost_usd(contributions: Iterable[Any]) -> Decimal | None:
    """Add amounts up.

    Args:
        contributions: Numbers, texts, or mappings with `cost_usd`; what is none of these, or not
            finite, is unknown and left out.

    Returns:
        US dollars; None when no amount is known.
    """
    known = [amount for amount in map(_amount, contributions) if amount is not None]
    return sum(known, Decimal(0)) if known else None


async def bridge_child_cost(parent_coordinator: Any, child_coordinator: Any, child_id: str) -> None:
    """Have a parent count what a finished child cost, as contributor `delegate:<child_id>`.

    Nothing is contributed when the child's cost is unknown.
    """
    cost = sum_cost_usd(await child_coordinator.collect_contributions(COST_CHANNEL))
    if cost is not None:
        parent_coordinator.register_contributor(
            COST_CHANNEL, f"delegate:{child_id}", lambda: {"cost_usd": str(cost)}
        )


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, Mapping):
        value = value.get("cost_usd")
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None
