"""The log of one session: which events it takes, and when they reach the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.hooks_logging.record import level_of, line_of
from amplifier_tui.modules.hooks_logging.settings import LEVELS, Settings
from amplifier_tui.modules.hooks_logging.writer import LineWriter

_ENDS: Final = frozenset({events.EXECUTION_END, events.PROMPT_COMPLETE, events.SESSION_END})
"""Events after which everything has to be on disk."""

_CONTINUE: Final = HookResult(action="continue")


class EventLog:
    """Writes a session's events to a file.

    Args:
        hooks: Where they are emitted.
        path: The file.
        settings: Which ones, and how much of them.
    """

    def __init__(self, hooks: HookRegistry, path: Path, settings: Settings) -> None:
        self.path = path
        self._hooks = hooks
        self._settings = settings
        self._writer = LineWriter(path)
        self._registered: dict[str, Callable[[], None]] = {}

    def listen(self, names: Iterable[str]) -> None:
        """Take these events too; those below the level are left out, unless asked for by name."""
        lowest = LEVELS.index(self._settings.level)
        for name in names:
            wanted = LEVELS.index(level_of(name)) >= lowest
            if name in self._registered or not (wanted or name in self._settings.additional_events):
                continue
            self._registered[name] = self._hooks.register(
                name, self._take, priority=self._settings.priority, name="hooks-logging"
            )

    def writes_to(self, path: Any) -> bool:
        """Whether the log's file is this one."""
        if path is None:
            return False
        return Path(str(path)).expanduser().resolve() == self.path.resolve()

    async def close(self) -> None:
        """Take no more events, and write what is left."""
        for unregister in self._registered.values():
            unregister()
        self._registered.clear()
        await self._writer.flush()

    async def _take(self, event: str, data: dict[str, Any]) -> HookResult:
        # The data is this handler's own copy, so the line can be made later, in the thread.
        whole = self._settings.level == "DEBUG"
        self._writer.add(partial(line_of, event, data, whole=whole))
        if event in _ENDS:
            await self._writer.flush()
        return _CONTINUE
