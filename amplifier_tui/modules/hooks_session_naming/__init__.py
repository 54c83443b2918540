"""hooks-session-naming: gives a session a title after its first turn.

The title is written into the session's card (``metadata.json``, key ``name``), where the host and
the Amplifier CLI look for it, with ``name_generated_at``. A card that has a name keeps it. It is
found while the user goes on, in a time limit; the request for it counts like any other, and is not
sent where the user would have to be asked for it. Without a title of the model's, the next turn
tries again, three times in all.

Config:
    by: ``model`` (default) asks a model for it; ``rule`` takes the beginning of the first prompt.
    model: The model that is asked, of the provider that answers. Default its cheapest that can do
        as much as the session's own and is of the same maker; of a provider on this machine, and
        after another provider was chosen, the session's own.
    timeout: Seconds it may take. Default 20.
    max_chars: Most characters of a title. Default 60.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.hooks_session_naming.naming import SessionNaming
from amplifier_tui.modules.hooks_session_naming.settings import NamingSettings

__all__ = ["SessionNaming", "mount"]

__amplifier_module_type__ = "hook"

_NAME = "hooks-session-naming"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Register the handlers, but for a sub-agent, which has no title; returns the cleanup.

    Raises:
        ValueError: A value of the config makes no sense.
    """
    naming = SessionNaming(coordinator, NamingSettings.read(config))
    removes: list[Callable[[], None]] = []
    if coordinator.parent_id is None:
        register = coordinator.hooks.register
        removes = [
            register(events.PROVIDER_REQUEST, naming.asked, priority=900, name=_NAME),
            register(events.PROMPT_COMPLETE, naming.answered, priority=900, name=_NAME),
        ]

    async def cleanup() -> None:
        for remove in removes:
            remove()
        await naming.stop()

    return cleanup
