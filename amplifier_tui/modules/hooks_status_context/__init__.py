"""hooks-status-context: tells the model where it is: the folder, the state of git, the date.

It answers ``provider:request`` with a text for that one request, which is never stored. Git is
asked again when a tool has run since, without taking locks and without running what a repository's
own configuration names.

Config:
    git: Whether to tell the branch. Default true.
    git_status: Whether to tell changed files. Default true.
    max_files: Changed files that are listed. Default 20.
    commits: Latest commits that are listed. Default 0.
    date: Whether to tell date and time. Default true.
    timeout: Seconds git may take, else its part is left out. Default 2.
    priority: Of the handler. Default 5.
    working_dir: The folder where no capability ``session.working_dir`` tells it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.modules.hooks_status_context.status import StatusContext, StatusSettings

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["StatusContext", "mount"]

__amplifier_module_type__ = "hook"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers; returns the cleanup."""
    settings = StatusSettings.read(config)
    status = StatusContext(coordinator, settings)
    cleanup = ExitStack()
    for event, handler, priority in (
        (events.PROVIDER_REQUEST, status, settings.priority),
        (events.PROMPT_SUBMIT, status.note_change, 0),
        (events.TOOL_POST, status.note_change, 0),
        (events.TOOL_ERROR, status.note_change, 0),
    ):
        name = "hooks-status-context"
        cleanup.callback(coordinator.hooks.register(event, handler, priority, name))
    return cleanup.close
