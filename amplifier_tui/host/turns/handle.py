"""A running turn as other threads see it: something to stop, even when its thread is blocked."""

import threading
from collections.abc import Callable

from amplifier_tui.host.door.stacks import Place, described, innermost
from amplifier_tui.host.events import CancelRequested, Failed, TurnEnded
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.cancellation import CancellationToken


class TurnHandle:
    """Stops one turn from any thread."""

    def __init__(self, number: int, token: CancellationToken, sender: Sender) -> None:
        self._number = number
        self._token = token
        self._sender = sender
        self._lock = threading.Lock()
        self._taken_up = False
        self._over = False
        self._reported = False

    def ask(self, immediate: bool, *, told: bool = False) -> None:
        """Set the token, whatever the engine is busy with, and say so unless that was `told`."""
        with self._lock:
            if self._over:
                return
            names = tuple(self._token.running_tool_names)
            if immediate:
                self._token.request_immediate()
            else:
                self._token.request_graceful()
        if not told:
            stamp = self._sender.stamp()
            self._sender.put(CancelRequested(**stamp, immediate=immediate, running_tools=names))

    def taken_up(self) -> None:
        """The engine carries the stop out."""
        with self._lock:
            self._taken_up = True

    def end(self) -> bool:
        """The turn is over.

        Returns:
            True when the screen was told so before, because the engine was blocked.
        """
        with self._lock:
            self._over = True
            return self._reported

    def report_blocked(self, where: Callable[[], list[Place]]) -> bool:
        """Tell the user that a module blocks the engine, unless the stop was taken up.

        Returns:
            Whether that was so.
        """
        with self._lock:
            if self._taken_up or self._over or self._reported:
                return False
            self._reported = True
        places, stamp = where(), self._sender.stamp()
        self._sender.put(
            Failed(
                **stamp,
                kind="blocked",
                message=f"A module blocks the engine and can't be stopped: {innermost(places)}",
                remedy="The turn counts as stopped. Your next prompt runs as soon as the module "
                "gives the engine back; if it does not, quit and resume the session.",
                detail=described(places),
            )
        )
        self._sender.put(TurnEnded(**stamp, turn=self._number, status="cancelled"))
        return True
