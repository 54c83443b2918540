"""The session that is open, and what is said about it."""

from collections.abc import Callable
from time import time
from typing import Final

from amplifier_tui.host.events import Failed, HostEvent, Level, Notice
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.session.opening.viewing import ViewedSession
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Stamp

NO_SESSION: Final = "No session is open"
ELSEWHERE: Final = "This session is open in another window: here it can only be read"


class SessionHolder:
    """Holds the session that is open, and the one that opens.

    Args:
        put: Takes events on their way up.
    """

    def __init__(self, put: Callable[[HostEvent], None]) -> None:
        self._put = put
        self._live: LiveSession | None = None
        self._opening: Opening | None = None
        self._viewed: ViewedSession | None = None
        """The session of another window that is shown in place of an open one."""

    def _stamp(self, session_id: str = "") -> Stamp:
        """Return the fields of an event that happens now, in the session that is open or opens."""
        session = self._live or self._viewed or self._opening
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
            self._say("warning", self._missing)
        return self._live

    @property
    def _session(self) -> LiveSession:
        """The session that is open.

        Raises:
            RuntimeError: There is none.
        """
        if self._live is None:
            raise RuntimeError(self._missing)
        return self._live

    @property
    def _missing(self) -> str:
        """Why there is no open session."""
        return NO_SESSION if self._viewed is None else ELSEWHERE

    @property
    def _stored(self) -> SessionStore | ViewedSession | None:
        """What can be read of the session on screen, be it open here or in another window."""
        return self._live.store if self._live is not None else self._viewed
