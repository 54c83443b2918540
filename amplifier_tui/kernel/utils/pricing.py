"""What a response cost."""

from decimal import Decimal
from typing import Final

from amplifier_tui.kernel.message_models import Usage
from amplifier_tui.kernel.models import Pricing

_MILLION: Final = Decimal(1_000_000)


def usage_cost(usage: Usage, pricing: Pricing | None) -> Decimal | None:
    """The cost of a response, or None where the prices are not known.

    Args:
        usage: The tokens; `input_tokens` counts cache reads and writes too.
        pricing: Prices per million tokens. Cache prices that are not known count as the input's.

    Returns:
        The cost in the currency of the prices.
    """
    if pricing is None:
        return None
    base = pricing.input_per_million
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    parts = (
        (usage.input_tokens - read - written, base),
        (read, pricing.cache_read_per_million),
        (written, pricing.cache_write_per_million),
        (usage.output_tokens, pricing.output_per_million),
    )
    total = sum(
        (count * _exact(base if price is None else price) for count, price in parts), Decimal(0)
    )
    return total / _MILLION


def _exact(price: float) -> Decimal:
    # The digits somebody wrote down, not the nearest binary fraction.
    return Decimal(str(price))
