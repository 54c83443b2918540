"""Collecting what contributors of a channel offer (spec 002, collect_contributions)."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any

from amplifier_tui.kernel._cancel_requests import cancel_requests, is_genuine_cancellation

logger = logging.getLogger(__name__)


async def collect_contributions(
    channels: dict[str, list[dict[str, Any]]], channel: str
) -> list[Any]:
    """Ask every contributor of a channel, in order of registration.

    Args:
        channels: Contributors (``name`` and ``callback``) by channel.
        channel: The channel to collect from.

    Returns:
        What they gave, without None. A contributor that fails is logged and left out; one that
        raises ``CancelledError`` ends the collection with what is there.

    Raises:
        asyncio.CancelledError: The collecting task was cancelled.
    """
    collected: list[Any] = []
    baseline = cancel_requests()
    for contributor in tuple(channels.get(channel, ())):
        name = contributor["name"]
        try:
            offered = contributor["callback"]()
            if inspect.isawaitable(offered):
                offered = await offered
        except asyncio.CancelledError:
            if is_genuine_cancellation(baseline):
                raise
            logger.warning(
                "Contributor '%s' to '%s' was cancelled; its successors were not asked",
                name,
                channel,
            )
            break
        except Exception as error:
            logger.warning("Contributor '%s' to '%s' failed: %s", name, channel, error)
            continue
        if offered is not None:
            collected.append(offered)
    return collected
