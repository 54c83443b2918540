"""Tells when code of a module does not give the engine back."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import PurePath
from typing import Any, Final, Protocol

from amplifier_tui.host.door.engine import Engine
from amplifier_tui.host.door.stacks import Place, module_at

BLOCKED_AFTER: Final = 1.0
"""Seconds the engine has to take up what is sent."""
_LOOK: Final = 0.5
"""Seconds between two looks while modules are mounted."""
_LOOKS: Final = 5
"""Looks at which one module has the engine until it counts as blocked: imports take long, too."""


class TellsBlocked(Protocol):
    """Says that a module blocks the engine, or that it does so no more; from any thread."""

    def __call__(self, module: str = "", *, over: bool = False) -> None:
        """Say it; `module` is empty where it can't be told."""


class EngineWatch:
    """Looks whether one engine takes up what is posted to it; used from any thread.

    Args:
        tell: Called once when the engine is blocked, and once when it is free again.
    """

    def __init__(self, engine: Engine, tell: TellsBlocked) -> None:
        self._engine = engine
        self._tell = tell
        self._blocked = False
        """Whether it was told that a module blocks the engine."""
        self._telling = threading.Lock()

    def look(self, late: Callable[[], object]) -> None:
        """Tell when the engine does not take up in time what was sent, and call `late` then."""
        taken_up = self._ask()

        def wait() -> None:
            # Once that is known, nobody has to wait to see it.
            if not taken_up.wait(0 if self._blocked else BLOCKED_AFTER):
                late()
                self._say_blocked(module_at(self._engine.where()), taken_up)

        in_thread(wait)

    def follow(self, work: "Future[Any]") -> None:
        """Tell when a module blocks the engine, for as long as some work that mounts some lasts."""
        over = threading.Event()
        work.add_done_callback(lambda _: over.set())

        def wait() -> None:
            taken_up, holder, looks = self._ask(), None, 0
            while not over.wait(_LOOK):
                if taken_up.is_set():
                    taken_up, looks = self._ask(), 0
                    continue
                found = _holder(self._engine.where())
                looks = looks + 1 if found == holder else 1
                holder = found
                if holder is not None and looks >= _LOOKS:
                    self._say_blocked(holder, taken_up)

        in_thread(wait)

    def _ask(self) -> threading.Event:
        """Return what is set once the engine takes up what is sent now."""
        taken_up = threading.Event()

        async def answer() -> None:
            with self._telling:
                taken_up.set()
                blocked, self._blocked = self._blocked, False
                if blocked:
                    self._tell(over=True)

        self._engine.post(answer, "tell that the engine is free")
        return taken_up

    def _say_blocked(self, module: str, taken_up: threading.Event) -> None:
        with self._telling:
            if not (self._blocked or taken_up.is_set()):
                self._blocked = True
                self._tell(module)


def in_thread(call: Callable[[], object]) -> None:
    """Call something that waits in a thread that keeps no program from ending."""
    threading.Thread(target=call, name="amplifier-sent", daemon=True).start()


def _holder(places: list[Place]) -> str | None:
    """Return the module whose code is being run, empty for an unknown one that is being mounted.

    None where it is the program's own code, such as the imports of the first opening.
    """
    mounting = any(PurePath(file).parts[-2:] == ("mounting", "mount.py") for _, file, _ in places)
    return module_at(places) or ("" if mounting else None)
