"""hooks-approval: decides which tool calls stop and wait for the user.

It answers ``tool:pre`` with ``ask_user``, ``deny`` or nothing. Who asks the user, shows the call
and remembers answers is the session's approval system; the ecosystem's other way, a provider
registered as ``approval.register_provider``, is not needed beside it.

A host that judges every call itself says so with the capability ``session.gate``. There the policy,
the rules under ``allow`` and those about files, servers and arguments under ``ask`` and ``deny``
are the host's to apply, and the module asks and denies by its other rules only: ``careful`` and
``standard`` mean the mode ``ask`` (``careful`` asks about commands that only read, too),
``relaxed`` the mode ``edits``.

Config:
    policy: What happens to calls no rule speaks of. ``careful``: only reading files goes through.
        ``standard`` (default): reading, searching, fetching and delegating go through; writing,
        commands and unknown tools ask. ``relaxed``: writing files and harmless commands such as
        ``ls`` go through as well.
    allow, ask, deny: Rules; ``deny`` wins over ``ask``, and ``ask`` over ``allow``.
    timeout: Seconds the user has; then the call is denied. Default 300.
    priority: Of the handler. Default 90, after hooks that change the call.

A rule is a tool's name with ``*`` for any characters, or for commands ``tool(words)``: it speaks of
command lines whose commands begin with these words, such as ``bash(git status)`` or
``bash(npm run *)``. Under such a host, ``read(secrets/**)`` and ``write(src/**)`` speak of files,
``web(docs.python.org)`` of a server, ``own_tool({"name": 1})`` of exactly these arguments, as the
user's rules do. A command line is allowed only if every command of it is, and never if it writes to
files by redirection or hides commands in substitutions. A mistake in the config makes the module
``careful``, not absent.
"""

import logging
from collections.abc import Callable
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.hooks_approval.approval import ApprovalHook
from amplifier_tui.modules.hooks_approval.settings import ApprovalSettings

__all__ = ["ApprovalHook", "mount"]

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

_GATE = "session.gate"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handler; the function it returns unregisters it."""
    settings, problems = ApprovalSettings.read_leniently(config)
    mistakes = [problem.message for problem in problems]
    for mistake in mistakes:
        logger.error("%s; nearly everything asks until this is corrected", mistake)
    if mistakes:
        settings = settings.model_copy(update={"policy": "careful", "allow": ()})
    return coordinator.hooks.register(
        events.TOOL_PRE,
        ApprovalHook(
            settings,
            mistakes[0] if mistakes else "",
            lambda: coordinator.get_capability(_GATE) is not None,
        ),
        priority=settings.priority,
        name="hooks-approval",
    )
