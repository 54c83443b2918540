"""What a provider says of itself."""

import logging
from typing import Any

from amplifier_tui.kernel.models import ProviderInfo

logger = logging.getLogger(__name__)


def info_of(provider: Any) -> ProviderInfo | None:
    """Return a provider's description of itself; None where it gives none."""
    try:
        info = provider.get_info()
    except Exception as error:
        # A provider's code: whatever it raises, the session goes on without a description.
        logger.warning("A provider does not describe itself: %s", error)
        return None
    return info if isinstance(info, ProviderInfo) else None
