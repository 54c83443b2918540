"""What the status bar and the terminal title say about the session."""

from amplifier_tui.host import events
from amplifier_tui.ui.state.conversation.entries import AGAIN
from amplifier_tui.ui.state.section import FieldSection, assign, on, told


class Facts(FieldSection):
    """What the status bar and the terminal title say about the session.

    It is ready for a prompt once it is `opened`, and `opening` until then or until that has failed;
    `absent` says that there was none to open, `unopened` that one was not and can be opened again.
    `earlier` counts the stored rows that were not
    replayed. `mode` is the one the gate applies; `sandbox` says why commands can't run in one.
    `efforts` are the levels of effort the model has, and `effort` the one it is told.
    `resume_command` is known when it is closed. `held` says that another window has it open, or
    had it until now. `saved` is False while something of it waits for the disk; `unsaved` says
    what was lost when it was closed, `ends` what does not hold when it is resumed, `aside` what was
    moved aside in it.
    """

    def reset(self) -> None:
        """Know nothing yet."""
        self.session_id = ""
        self.opening = True
        self.opened = False
        self.closed = False
        self.absent = self.unopened = False
        self.title = ""
        self.first_prompt = ""
        self.bundle = ""
        self.model = ""
        self.effort = ""
        self.efforts: tuple[str, ...] = ()
        self._answered = ""
        self.cwd = ""
        self.directory = ""
        self.branch = ""
        self.earlier = 0
        self.mode: events.Mode = "ask"
        self.sandbox = self.uncopied = ""
        self.resume_command = ""
        self.last_answer = ""
        self.held: events.SessionHeld | None = None
        self.saved = True
        self.unsaved = self.ends = self.aside = ""

    def begin(self, session_id: str) -> None:
        """Follow another session from here on; what was known stays until it is open."""
        self.session_id = session_id
        self.opening = True
        self.opened = self.closed = self.absent = self.unopened = False
        self.saved, self.unsaved, self.ends, self.aside = True, "", "", ""
        self.resume_command = self.last_answer = ""
        self.touch()

    @property
    def comes_again(self) -> bool:
        """Whether a new session is what was asked for, as it is not open yet or could not be."""
        return self.opening or self.unopened

    def set_title(self, title: str) -> None:
        """Show another title, such as one the user just gave."""
        self.track(setattr, self, "title", title)

    @on(events.SessionOpened)
    def _opened(self, event: events.SessionOpened) -> None:
        self.session_id = event.session_id
        self.opening = False
        self.opened, self.closed, self.absent, self.unopened = True, False, False, False
        self.held = None
        names = ("title", "first_prompt", "bundle", "model", "cwd", "directory", "branch")
        assign(self, **told(event, *names, "earlier"))

    @on(events.Failed, live=True)
    def _failed(self, event: events.Failed) -> None:
        self.opening = False
        self.absent = event.kind == "no_session" and not self.opened
        self.unopened = event.kind in AGAIN and not self.opened

    @on(events.SessionHeld)
    def _held(self, event: events.SessionHeld) -> None:
        self.held = event

    @on(events.Rewound)
    def _rewound(self, event: events.Rewound) -> None:
        if event.scope != "files":
            self.earlier = event.earlier

    @on(events.TitleChanged)
    def _title_changed(self, event: events.TitleChanged) -> None:
        self.title = event.title

    @on(events.BranchChanged)
    def _branch_changed(self, event: events.BranchChanged) -> None:
        self.branch = event.branch

    @on(events.ModeChanged)
    def _mode_changed(self, event: events.ModeChanged) -> None:
        assign(self, **told(event, "mode", "sandbox", "uncopied"))

    @on(events.ModelChanged)
    def _model_changed(self, event: events.ModelChanged) -> None:
        if event.model != self.model:
            # A request to the model before may still be answered.
            self._answered = self.model
        assign(self, **told(event, "model", "effort", "efforts"))

    @on(events.SessionClosed)
    def _closed(self, event: events.SessionClosed) -> None:
        self.closed, self.opened = True, False
        self.resume_command = event.resume_command
        self.last_answer = event.last_answer
        self.unsaved, self.ends, self.aside = event.unsaved, event.ends, event.aside

    @on(events.SavingChanged, live=True)
    def _saving_changed(self, event: events.SavingChanged) -> None:
        self.saved = not event.problem

    @on(events.UsageChanged, live=True, main=True)
    def _uses(self, event: events.UsageChanged) -> None:
        # The model of an answer that was counted before may have been left since.
        if event.model != self._answered:
            self._answered = event.model
            self.model = event.model or self.model
