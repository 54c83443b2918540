"""What a provider says of itself."""

import logging
from typing import Any

from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo

logger = logging.getLogger(__name__)


def info_of(provider: Any) -> ProviderInfo | None:
    """Return a provider's description of itself; None where it gives none."""
    try:
        info = provider.get_info()
    except (Exception, SystemExit) as error:
        # A provider's code: whatever it raises, the session goes on without a description.
        logger.warning("A provider does not describe itself: %s", error)
        return None
    return info if isinstance(info, ProviderInfo) else None


async def model_info(provider: Any, model: str) -> ModelInfo | None:
    """Return what a provider says of one of its models; None where it does not list it."""
    try:
        listed = await awaited(provider.list_models())
        found = [each for each in listed if isinstance(each, ModelInfo) and each.id == model]
    except (Exception, SystemExit) as error:
        # A provider's code, and perhaps its server: what is known of the model elsewhere counts.
        logger.info("The models of a provider can't be listed: %s", error)
        return None
    return found[0] if found else None
