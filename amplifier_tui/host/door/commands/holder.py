"""The session that is open, and what is said about it."""

from collections.abc import Callable
from time import time
from typing import Final

from amplifier_tui.host.events import Failed, HostEvent, Level, Notice
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.stream.sender import Stamp

NO_SESSION: Final = "No session is open"


class SessionHolder:
    """Holds the session that is open, and the one that opens.

    Args:
        put: Takes events on their way up.
    """

    def __init__(self, put: Callable[[HostEvent], None]) -> None:
        self._put = put
        self._live: LiveSession | None = None
        self._opening: Opening | None = None

    def _stamp(self, session_id: str = "") -> Stamp:
        """Return the fields of an event that happens now, in the session that is open or opens."""
        session = self._live or self._opening
        known = session.session_id if session is not None else ""
        return {"session_id": session_id or known, "agent": "main", "at": time()}

    def _say(self, level: Level, text: str, source: str = "host") -> None:
        self._put(Notice(**self._stamp(), level=level, text=text, source=source))

    def _refuse(self, kind: str, message: str, remedy: str, prompt: str = "") -> None:
        stamp = self._stamp()
        self._put(Failed(**stamp, kind=kind, message=message, remedy=remedy, prompt=prompt))

    def _opened(self) -> LiveSession | None:
        """Return the session; None, which the user is told, when there is none."""
        if self._live is None:
            self._say("warning", NO_SESSION)
        return self._live

    @property
    def _session(self) -> LiveSession:
        """The session that is open.

        Raises:
            RuntimeError: There is none.
        """
        if self._live is None:
            raise RuntimeError(NO_SESSION)
        return self._live
