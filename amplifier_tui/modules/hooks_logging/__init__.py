"""hooks-logging: every event of a session as a line of JSON.

A line has ``ts``, ``lvl``, ``schema``, ``event``, ``session_id`` (``parent_id`` in a child session)
and ``data``. Secrets are replaced. Writing happens in a thread; what is not on disk yet is written
at the end of a turn, twice a second, and at the end.

Where the host writes the session's events itself (capability ``session.events_path``) and this
module's target is the same file, nothing is written twice.

Config:
    session_log_template: Path of the file; ``{project}``, ``{session_id}``, ``~`` and environment
        variables are replaced. It has to lie below the session's folder, the user's log folder or
        the project, and may not be a file that configures or starts programs.
        Default: ``events.jsonl`` in the session's folder of the Amplifier home.
    level: ``INFO`` (default) leaves out the pieces of streams and the messages of a request;
        ``DEBUG`` writes everything; ``WARNING`` only failures; ``ERROR`` only errors.
    additional_events: Events to write beside the kernel's and those that modules announce
        (``observability.events``).
    enabled: Whether to write at all. Default true.
    priority: Of the handlers. Default 100.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.modules._shared.session_paths import EVENTS_PATH_CAPABILITY
from amplifier_tui.modules.hooks_logging.log import LoggingSettings, SessionLog, log_path

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["SessionLog", "mount", "on_session_ready"]

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

CAPABILITY = "hooks-logging.log"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Register for every event the kernel knows and the additional ones; returns the cleanup."""
    settings = LoggingSettings.read(config)
    path = log_path(settings.session_log_template, coordinator)
    log = SessionLog(coordinator.hooks, path, settings)
    by_host = log.writes_to(coordinator.get_capability(EVENTS_PATH_CAPABILITY))
    if settings.enabled and not by_host:
        log.listen([*events.ALL_EVENTS, "session:config", *settings.additional_events])
        coordinator.register_capability(CAPABILITY, log)
    return log.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Register for the events that modules announced; step back where the host writes the file."""
    log = coordinator.get_capability(CAPABILITY)
    if not isinstance(log, SessionLog):
        return
    if log.writes_to(coordinator.get_capability(EVENTS_PATH_CAPABILITY)):
        logger.debug("The host writes %s itself", log.path)
        await log.close()
        return
    for contribution in await coordinator.collect_contributions("observability.events"):
        if isinstance(contribution, list | tuple | set | frozenset):
            log.listen([name for name in contribution if isinstance(name, str)])
        elif isinstance(contribution, str):
            log.listen([contribution])
