"""What it costs to send a parcel."""

from parcels.quote import Parcel, Quote, quote
from parcels.rates import TooHeavy

__all__ = ["Parcel", "Quote", "TooHeavy", "quote"]
