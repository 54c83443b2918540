"""Which session this is and what it has used: title, bundle, model, folder, tokens, money."""

from amplifier_tui.host.events import SessionClosed, SessionOpened, Usage, UsageChanged
from amplifier_tui.ui.state.section import FieldSection, on


class Facts(FieldSection):
    """What the status bar and the terminal title say about the session.

    Attributes:
        opened: The session is ready for a prompt.
        closed: The session has ended.
        earlier: Stored rows that were not replayed.
        mode: The permission mode; the app sets it.
        resume_command: Opens the session again; known once it is closed.
    """

    def reset(self) -> None:
        """Know nothing yet."""
        self.session_id = ""
        self.opened = False
        self.closed = False
        self.title = ""
        self.bundle = ""
        self.provider = ""
        self.model = ""
        self.cwd = ""
        self.branch = ""
        self.earlier = 0
        self.mode = "ask"
        self.resume_command = ""
        self.last_answer = ""

    def begin(self, session_id: str) -> None:
        """Follow another session from here on; what was known stays until it is open."""
        self.session_id = session_id
        self.opened = self.closed = False
        self.resume_command = self.last_answer = ""
        self.touch()

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        self.track(setattr, self, "mode", mode)

    def set_title(self, title: str) -> None:
        """Show another title, such as one the user just gave."""
        self.track(setattr, self, "title", title)

    @on(SessionOpened)
    def _opened(self, event: SessionOpened) -> None:
        self.session_id = event.session_id
        self.opened, self.closed = True, False
        self.title = event.title
        self.bundle = event.bundle
        self.provider = event.provider
        self.model = event.model
        self.cwd = event.cwd
        self.branch = event.branch
        self.earlier = event.earlier

    @on(SessionClosed)
    def _closed(self, event: SessionClosed) -> None:
        self.closed, self.opened = True, False
        self.resume_command = event.resume_command
        self.last_answer = event.last_answer

    @on(UsageChanged, live=True, main=True)
    def _uses(self, event: UsageChanged) -> None:
        self.provider = event.provider or self.provider
        self.model = event.model or self.model


class UsageTotals(FieldSection):
    """Totals as the host counts them; sub-agents are included there."""

    def reset(self) -> None:
        """Start from zero."""
        self.session = Usage()
        self.turn = Usage()

    @on(UsageChanged)
    def _changed(self, event: UsageChanged) -> None:
        self.session, self.turn = event.session, event.turn
