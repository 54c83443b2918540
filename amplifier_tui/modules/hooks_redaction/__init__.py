"""hooks-redaction: secrets stay out of what the model reads and of what later hooks get.

What a tool answers is changed before the model sees it. The data of all other events is changed for
the hooks that run later, such as a log. What a tool is called with is never changed: it would do
something else than the model asked for, so ``tool:pre`` is left alone.

Config:
    rules: What to look for. ``secrets`` (default): published formats of API keys, private keys,
        bearer tokens, and the values of this program's own secret variables. ``assignments``
        (default): values in lines like ``DB_PASSWORD=…``. ``fields`` (default): values of fields
        with names like ``api_key``; events only. ``pii``: e-mail addresses and phone numbers.
    patterns: More regular expressions, a list of texts or a mapping of names to texts. Where one
        has a group, the group is what is replaced.
    allow: Regular expressions of texts that are no secrets, such as an example key.
    prompts: Whether the user's own prompts are changed too. Default false.
    tell: Whether to show the user that something was kept from the model. Default true.
    priority: Of the handlers. Default 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amplifier_tui.kernel import events
from amplifier_tui.modules.hooks_redaction.redaction import NAME, RedactionHook, RedactionSettings

if TYPE_CHECKING:
    from amplifier_tui.kernel.coordinator import ModuleCoordinator

__all__ = ["RedactionHook", "mount"]

__amplifier_module_type__ = "hook"

_LEFT_ALONE = frozenset(
    {
        events.TOOL_PRE,
        # One per token: no piece of them is long enough to tell, and their sum comes again.
        events.CONTENT_BLOCK_DELTA,
        events.THINKING_DELTA,
    }
)


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers; the function it returns unregisters them.

    Raises:
        ValueError: A value of the config makes no sense.
    """
    settings = RedactionSettings.read(config)
    hook = RedactionHook(settings, coordinator.hooks.emit)
    names = [name for name in events.ALL_EVENTS if name not in _LEFT_ALONE]
    if not settings.prompts:
        names.remove(events.PROMPT_SUBMIT)
    registered = [
        coordinator.hooks.register(name, hook, priority=settings.priority, name=NAME)
        for name in names
    ]

    def cleanup() -> None:
        for unregister in registered:
            unregister()

    return cleanup
