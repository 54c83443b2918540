"""What a front end without a screen says of modules that hold an opening or the engine up."""

from time import monotonic
from typing import Final

from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import (
    MAIN_LANE,
    EngineBlocked,
    Failed,
    HostEvent,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    SessionOpened,
)

_WAITS: Final = "Opening waits for the module"
_SLOW: Final = 5.0
"""Seconds after which it is said which module an opening waits for."""


class WaitingModules:
    """Knows which module is being mounted, and says of each once that it takes long."""

    def __init__(self) -> None:
        self._mounting: dict[str, float] = {}
        self._said: set[str] = set()
        self._opened = ""

    def see(self, event: HostEvent) -> str:
        """Follow an opening; returns what is to be said at once, empty for nothing."""
        match event:
            case ModuleLoading() if event.session_id != self._opened and event.agent == MAIN_LANE:
                self._mounting[event.instance or event.module_id] = monotonic()
            case ModuleMounted() | ModuleFailed():
                self._mounting.pop(event.instance or event.module_id, None)
            case SessionOpened():
                self._opened = event.session_id
                self._mounting.clear()
            case Failed():
                self._mounting.clear()
            case EngineBlocked(over=False):
                name = event.module or next(iter(self._mounting), "a module")
                self._said.add(name)
                if not self._opened:
                    # It may be at work, such as importing what it needs.
                    return f"{_WAITS} {one_line(name, 100)}, which lets nothing else run"
                return f"{one_line(name, 100)} blocks the engine and can't be stopped"
        return ""

    def late(self) -> list[str]:
        """Return what is to be said of what takes long by now."""
        now = monotonic()
        late = [
            name
            for name, since in self._mounting.items()
            if now - since >= _SLOW and name not in self._said
        ]
        self._said.update(late)
        return [f"{_WAITS} {one_line(name, 100)}" for name in late]

    @property
    def seconds(self) -> float:
        """In how many seconds `late` may have something to say; infinite where it has nothing."""
        left = [since for name, since in self._mounting.items() if name not in self._said]
        return max(0.0, min(left) + _SLOW - monotonic()) if left else float("inf")
