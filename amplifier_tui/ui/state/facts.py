"""Which session this is: title, bundle, model, where it runs."""

from amplifier_tui.host.events import (
    MAIN_LANE,
    HostEvent,
    SessionClosed,
    SessionOpened,
    UsageChanged,
)
from amplifier_tui.ui.state.section import Section


class Facts(Section):
    """What the status bar and the terminal title say about the session.

    Attributes:
        opened: The session is ready for a prompt.
        closed: The session has ended.
        earlier: Stored rows that were not replayed.
        mode: The permission mode; the app sets it.
        resume_command: Opens the session again; known once it is closed.
    """

    HANDLES: tuple[type[HostEvent], ...] = (SessionOpened, SessionClosed, UsageChanged)

    def __init__(self) -> None:
        super().__init__()
        self.session_id = ""
        self.opened = False
        self.closed = False
        self.resumed = False
        self.title = ""
        self.bundle = ""
        self.provider = ""
        self.model = ""
        self.context_window = 0
        self.cwd = ""
        self.branch = ""
        self.directory = ""
        self.earlier = 0
        self.examples: tuple[str, ...] = ()
        self.mode = "ask"
        self.resume_command = ""
        self.last_answer = ""
        self.close_reason = ""

    def begin(self, session_id: str) -> None:
        """Follow another session from here on; what was known stays until it is open."""
        self.session_id = session_id
        self.opened = self.closed = self.resumed = False
        self.resume_command = self.last_answer = self.close_reason = ""
        self.touch()

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        before = self.values()
        match event:
            case SessionOpened():
                self._opened(event)
            case SessionClosed():
                self.closed, self.opened = True, False
                self.close_reason = event.reason
                self.resume_command = event.resume_command
                self.last_answer = event.last_answer
            case UsageChanged() if event.agent == MAIN_LANE and not event.replayed:
                self.provider = event.provider or self.provider
                self.model = event.model or self.model
            case _:
                pass
        if self.values() != before:
            self.touch()

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        if mode != self.mode:
            self.mode = mode
            self.touch()

    def set_title(self, title: str) -> None:
        """Show another title, such as one the user just gave."""
        if title != self.title:
            self.title = title
            self.touch()

    def values(self) -> tuple[object, ...]:
        """Return every field, for comparison."""
        return tuple(value for name, value in vars(self).items() if name != "version")

    def _opened(self, event: SessionOpened) -> None:
        self.session_id = event.session_id
        self.opened, self.closed = True, False
        self.resumed = event.resumed
        self.title = event.title
        self.bundle = event.bundle
        self.provider = event.provider
        self.model = event.model
        self.context_window = event.context_window
        self.cwd = event.cwd
        self.branch = event.branch
        self.directory = event.directory
        self.earlier = event.earlier
        self.examples = event.examples
