"""What is known of a provider's models: sizes and prices."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.prices import is_near, list_prices, price_at
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.models import ModelInfo, Pricing

logger = logging.getLogger(__name__)

_PATIENCE: Final = 0.5
"""How long an answer is held back for its price, in seconds."""


@dataclass(frozen=True)
class KnownModel:
    """What is known of a model: sizes in tokens, and the price if it is known for certain."""

    context_window: int
    max_output_tokens: int
    pricing: Pricing | None = None


class ModelPrices:
    """The prices of the models at one address.

    Args:
        url: The address of the API.
        known: Returns what a model costs, or None where that is not known. Its second argument is
            what the list of prices says, None before that was asked.
    """

    def __init__(self, url: str, known: Callable[[str, Pricing | None], Pricing | None]) -> None:
        self._url = url
        self._known = known

    async def of(self, model: str, input_tokens: int = 0) -> Pricing | None:
        """Return what a request of some size costs; None where nobody knows."""
        known = self._known(model, None)
        if known is not None:
            return known
        found = await list_prices([(self._url, model)])
        price = price_at(next(iter(found.values()), ()), input_tokens)
        if price is None:
            return None
        return self._known(
            model,
            Pricing(
                input_per_million=float(price.input),
                output_per_million=float(price.output),
                cache_read_per_million=_number(price.cache_read),
                cache_write_per_million=_number(price.cache_write),
                source=price.source,
            ),
        )

    async def soon(self, model: str, input_tokens: int) -> Pricing | None:
        """As `of`, for an answer that is there: None where it is not known in a moment."""
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self.of(model, input_tokens)
        except TimeoutError:
            logger.info("The price of %s comes too late for its answer", model)
            return None

    async def filled_in(self, models: list[ModelInfo]) -> list[ModelInfo]:
        """Return models with the prices that are known; those next door are local."""
        near = is_near(self._url)
        if not near:
            await list_prices([(self._url, m.id) for m in models if not self._known(m.id, None)])
        return [
            model.model_copy(
                update={
                    "pricing": await self.of(model.id) or model.pricing,
                    "capabilities": [
                        *dict.fromkeys((*model.capabilities, *([capabilities.LOCAL] * near)))
                    ],
                }
            )
            for model in models
        ]


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
