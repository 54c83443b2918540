"""From a parcel to its price."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from parcels.rates import bracket_for

VOLUME_PER_KILOGRAM = Decimal(5000)
"""Cubic centimetres that count as one kilogram."""

BULKY_GIRTH = Decimal(150)
"""Length plus twice width and height, in centimetres, from which a parcel is bulky."""

BULKY_FEE = Decimal("2.50")
VAT = Decimal("0.19")


@dataclass(frozen=True)
class Parcel:
    """A parcel: weight in kilograms, sides in centimetres."""

    weight: str
    length: int
    width: int
    height: int

    @property
    def charged_weight(self) -> Decimal:
        """The weight that is paid for: the real one, or what the size stands for."""
        volume = Decimal(self.length * self.width * self.height)
        return max(Decimal(self.weight), volume / VOLUME_PER_KILOGRAM)

    @property
    def is_bulky(self) -> bool:
        """Whether it needs a place of its own in the van."""
        return self.length + 2 * (self.width + self.height) > BULKY_GIRTH


@dataclass(frozen=True)
class Quote:
    """A price in euros."""

    net: Decimal
    vat: Decimal

    @property
    def total(self) -> Decimal:
        """What the customer pays."""
        return self.net + self.vat


def quote(parcel: Parcel, zone: str) -> Quote:
    """Return what it costs to send a parcel.

    Args:
        parcel: The parcel.
        zone: "domestic" or "abroad".

    Raises:
        KeyError: There is no such zone.
        TooHeavy: The parcel is beyond the last bracket.
    """
    net = bracket_for(zone, parcel.charged_weight).price
    if parcel.is_bulky:
        net += BULKY_FEE
    vat = (net * VAT).quantize(Decimal("0.01"), ROUND_HALF_UP) if zone == "domestic" else Decimal(0)
    return Quote(net, vat)
