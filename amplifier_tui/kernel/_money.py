"""Amounts of money: exact decimals in, strings out."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

__all__ = ["Cost"]


def _no_float(value: Any) -> Any:
    if isinstance(value, float):
        raise ValueError("cost_usd must be a Decimal, an int or a string: a float is not exact")
    return value


def _as_text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


Cost = Annotated[
    Decimal | None, BeforeValidator(_no_float), PlainSerializer(_as_text, return_type=str | None)
]
"""US dollars. Dumps to a string in every mode, so that no digit is lost on the way."""
