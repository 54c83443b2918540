"""What one of the agent's commands in the background prints, while it does."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from amplifier_tui.base.text import clean, one_line, reveal
from amplifier_tui.host.client import SessionClient
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.messages import CopyRequested
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import TextLine


class JobSheet(GuardedSheet[None]):
    """Shows the output of a job, its end first; what comes is added."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False, priority=True),
        Binding("s", "halt", show=False),
        Binding("y", "copy", show=False),
    ]
    IN_PLACE = True
    DECIDES = frozenset(("halt",))
    IS_LIST = True
    AUTO_FOCUS = "#job-output"
    DEFAULT_CSS = """
    JobSheet #job-head { height: auto; max-height: 3; margin-bottom: 1; }
    JobSheet #job-output { background: $panel; }
    JobSheet KeyRow { margin-top: 1; }
    """

    def __init__(self, client: SessionClient, state: SessionState, job_id: str) -> None:
        super().__init__()
        self._client = client
        self._state = state
        self._job_id = job_id
        self._text = ""
        self._version = -1
        self._loading = False

    def _content(self) -> ComposeResult:
        yield Static(id="job-head", markup=False)
        yield ScrollLines(id="job-output")
        yield KeyRow(self._choices())

    def _choices(self) -> Sequence[KeyChoice]:
        job = self._state.jobs.by_id.get(self._job_id)
        stop = [KeyChoice("s", "Stop", "halt")] if job is not None and job.running else []
        return [*stop, KeyChoice("y", "Copy", "copy"), KeyChoice("esc", "Back", "close")]

    def on_mount(self) -> None:
        """Fetch it."""
        self.state_changed()

    def state_changed(self) -> None:
        """Fetch it again, if it may have printed something."""
        if self._version == self._state.jobs.version:
            return
        self._version = self._state.jobs.version
        job = self._state.jobs.by_id.get(self._job_id)
        words = one_line(job.command, 400) if job is not None else self._job_id
        state = one_line(job.state, 40) if job is not None else "gone"
        if job is not None and job.running and job.no_network:
            state += ", no network"
        head = Content.assemble((words, "bold"), (f"   {state}", "$text-muted"))
        self.query_one("#job-head", Static).update(head)
        self.query_one(KeyRow).set_choices(self._choices())
        if not self._loading:
            self._loading = True
            self.run_worker(self._load(), group="job")

    async def _load(self) -> None:
        loaded = -1
        # One after the other: of what prints without a pause something is seen all the same.
        while loaded != self._version:
            loaded = self._version
            try:
                text = await self.answer_of(self._client.job_text(self._job_id))
            except Exception as error:
                # Whatever the session says about it stands in its place.
                text = str(error)
            self._show(clean(text))
        self._loading = False

    def _show(self, text: str) -> None:
        """Show the output; its end, unless the user has scrolled up."""
        output = self.query_one(ScrollLines)
        follows, top = not self._text or output.is_vertical_scroll_end, output.top_line
        self._text = text
        lines = [TextLine(reveal(line)) for line in text.rstrip("\n").split("\n")]
        shown = lines if text.strip() else [TextLine("Nothing yet.", "$text-muted")]
        output.rearrange(shown, 0, top)
        if follows:
            output.action_scroll_edge(1)

    def action_halt(self) -> None:
        """Stop it."""
        self._client.stop_job(self._job_id)

    def action_copy(self) -> None:
        """Copy what it printed."""
        self.post_message(CopyRequested(self._text, "output"))

    def _fit(self, rows: int) -> None:
        self.query_one(ScrollLines).styles.max_height = max(2, rows - 7)
