"""Prices a day of parcels, batch by batch: `python3 -m parcels.weigh`."""

from __future__ import annotations

import time
from decimal import Decimal

from parcels.quote import Parcel, quote

BATCHES = 12
SIZE = 25


def main() -> None:
    """Print how far the day is, and what its parcels bring."""
    total = Decimal(0)
    for batch in range(1, BATCHES + 1):
        for number in range(SIZE):
            grams = 300 + (batch * SIZE + number) % 90 * 100
            parcel = Parcel(str(Decimal(grams) / 1000), length=20, width=15, height=10)
            total += quote(parcel, "domestic").total
        print(f"{batch * SIZE:4} parcels  {total:9} €", flush=True)
        time.sleep(0.3)
    print("That was the day.")


if __name__ == "__main__":
    main()
