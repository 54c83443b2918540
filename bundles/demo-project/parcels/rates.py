"""The tariff: what parcels cost by weight."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


class TooHeavy(ValueError):
    """No carrier takes a parcel of this weight."""


@dataclass(frozen=True)
class Bracket:
    """Parcels of up to `limit` kilograms, the limit included, cost `price` euros."""

    limit: Decimal
    price: Decimal


def _brackets(*steps: tuple[str, str]) -> list[Bracket]:
    return [Bracket(Decimal(limit), Decimal(price)) for limit, price in steps]


TARIFF = {
    "domestic": _brackets(("1", "3.80"), ("2", "4.90"), ("5", "6.50"), ("10", "9.40")),
    "abroad": _brackets(("1", "9.20"), ("2", "12.60"), ("5", "19.80"), ("10", "31.50")),
}


def bracket_for(zone: str, weight: Decimal) -> Bracket:
    """Return the bracket a weight in kilograms falls into.

    Raises:
        KeyError: There is no such zone.
        TooHeavy: The weight is beyond the last bracket.
    """
    for bracket in TARIFF[zone]:
        if weight < bracket.limit:
            return bracket
    raise TooHeavy(f"{weight} kg is more than anyone carries")
