"""Removing what earlier sessions left on disk and none needs any more."""

import logging
from collections.abc import Callable

from amplifier_tui.base.files.scratch import remove_abandoned
from amplifier_tui.foundation.paths import get_amplifier_home
from amplifier_tui.host.events import Level
from amplifier_tui.host.session.places.workspaces import prune_workspaces

logger = logging.getLogger(__name__)


def remove_old(session_id: str, say: Callable[[Level, str], None]) -> None:
    """Remove what killed processes left, old workspaces, and modules that newer commits replaced.

    Args:
        session_id: Whose workspace stays.
        say: Tells the user what was removed.
    """
    from amplifier_tui.foundation.modules.pruning import KEPT_DAYS, prune_installed

    remove_abandoned()
    prune_workspaces(session_id)
    try:
        count = prune_installed(get_amplifier_home() / "cache")
    except OSError as error:
        logger.warning("Old installed modules are not removed: %s", error)
        return
    if count:
        what = "1 old version" if count == 1 else f"{count} old versions"
        say("info", f"Removed {what} of installed modules, unused for {KEPT_DAYS} days")
