"""The list of the agent's commands in the background."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import SessionClient
from amplifier_tui.host.events import JobChanged
from amplifier_tui.ui.dialogs.jobs.output import JobSheet
from amplifier_tui.ui.dialogs.parts.picker import Picker
from amplifier_tui.ui.dialogs.parts.row_about import RowText
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.widgets.pick_list import PickRow

_ALONE: Final = (
    "It has no network: its ports are reached by nobody, your browser neither. "
    "Ask the agent to run it outside of the sandbox."
)


class JobPicker(Picker):
    """Lists jobs, the newest first; looks at one, and stops it."""

    TITLE = "In the background"
    CHOOSE = "Look"
    EMPTY = ("No command was run in the background.", "No command matches.")
    ROWS = (4, 12)
    ON_ROW = frozenset({"choose", "halt"})
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "halt", show=False)]

    def __init__(self, client: SessionClient, state: SessionState) -> None:
        super().__init__()
        self._client = client
        self._state = state

    def _choices(self) -> Sequence[KeyChoice]:
        look, close = super()._choices()
        return (look, KeyChoice("ctrl+s", "Stop", "halt"), close)

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        newest = list(self._state.jobs.by_id.values())[::-1]
        found = rank(query, newest, lambda job: f"{job.job_id} {job.command}")
        return [_row(job) for job in found]

    def _below(self) -> ComposeResult:
        yield RowText()

    def _highlighted(self, row: PickRow | None) -> None:
        job = self._state.jobs.by_id.get(row.id) if row is not None else None
        self._tell_whole(_ALONE if job is not None and job.running and job.no_network else "")

    def state_changed(self) -> None:
        """Show how the jobs stand now."""
        self.refill(self.rows.row_id)

    def _chosen(self, row: PickRow) -> None:
        if row.id:
            sheet = JobSheet(self._client, self._state, row.id)
            # What happens below it is not told to the list.
            self.app.push_screen(sheet, lambda _: self.state_changed())

    def action_halt(self) -> None:
        """Stop the job with the cursor."""
        row = self.rows.row
        if row is not None and row.id:
            self._client.stop_job(row.id)


def _row(job: JobChanged) -> PickRow:
    glyph, style = ("◐ ", "$text-accent") if job.running else ("· ", "$text-muted")
    left = Content.assemble(
        (glyph, style),
        (f"{one_line(job.job_id, 12)}  ", "$text-muted"),
        one_line(job.command, 300),
        (f"  {one_line(job.tail, 200)}" if job.tail else "", "$text-muted"),
    )
    state = "no network" if job.running and job.no_network else one_line(job.state, 40)
    return PickRow(job.job_id, left, Content.styled(state, "$text-muted"))
