"""What of the session is written, and where to."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input, Static

from amplifier_tui.host.client import ExportRequest, RewindPoint
from amplifier_tui.ui.dialogs.export.options import ExportOptions
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.pick_list import PickList

_LONGEST = 4_096


class ExportSheet(GuardedSheet[ExportRequest]):
    """Returns what is to be written; None to write nothing.

    Args:
        points: Asks for the prompts it can begin with.
        problem: Why nothing was written the last time; empty the first time.
    """

    SCOPE = "export"
    DECIDES = frozenset(("write", "edit"))
    BINDINGS: ClassVar[list[BindingType]] = bindings("export")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ExportSheet #export-title { height: 1; text-style: bold; color: $text-secondary; }
    ExportSheet #export-problem { color: $text-warning; margin-top: 1; }
    ExportSheet PickList { height: auto; margin-top: 1; background: $panel; }
    ExportSheet Input { margin-top: 1; }
    ExportSheet KeyRow { margin-top: 1; }
    ExportSheet.-small PickList, ExportSheet.-small KeyRow, ExportSheet.-small #export-problem,
    ExportSheet.-small Input { margin-top: 0; }
    ExportSheet .-hidden { display: none; }
    """

    def __init__(
        self,
        request: ExportRequest,
        points: Callable[[], Future[tuple[RewindPoint, ...]]],
        keymap: Keymap,
        problem: str = "",
    ) -> None:
        super().__init__()
        self._options = ExportOptions(request)
        self._points = points
        self._keymap = keymap
        self._problem = problem

    def _content(self) -> ComposeResult:
        yield Static("Export this session, without secrets", id="export-title", markup=False)
        problem = Static(self._problem, id="export-problem", markup=False)
        yield problem.set_class(not self._problem, "-hidden")
        yield PickList()
        yield TextField(max_length=_LONGEST, select_on_focus=False, classes="-hidden")
        yield KeyRow()

    def on_mount(self) -> None:
        """Show the choices; the prompts come when the session has told them."""
        self._show()
        self.run_worker(self._load(), group="export")

    async def _load(self) -> None:
        try:
            points = await self.answer_of(self._points())
            self._options.take_points(points)
        except Exception as error:
            # Whatever the disk said: it begins where it was told to, or with the first prompt.
            self.log.warning(f"The prompts can't be listed: {error}")
        self._show()

    @property
    def _list(self) -> PickList:
        return self.query_one(PickList)

    @property
    def _chosen(self) -> str:
        return self._list.row_id

    @property
    def _typing(self) -> bool:
        # Not `has_focus`, which changes an event later: the keys would say what is over.
        return self.focused is self.query_one(Input)

    def _show(self) -> None:
        self._list.set_rows(self._options.rows(), self._chosen)
        self._show_keys()

    @on(PickList.Highlighted)
    @on(events.DescendantFocus)
    def _show_keys(self) -> None:
        if self._typing:
            choices = [KeyChoice("enter", "Keep", "keep"), KeyChoice("esc", "Back", "close")]
        elif self._options.is_typed(self._chosen):
            choices = [self.choice("edit", "Edit")]
        else:
            choices = [self.choice("next", "Change")]
        if not self._typing:
            choices = [self.choice("write", "Write it"), *choices, self.choice("close", "Close")]
        self.query_one(KeyRow).set_choices(choices)

    @on(PickList.Chosen)
    def _clicked(self, event: PickList.Chosen) -> None:
        event.stop()
        self.action_step(1)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._list.action_move(by)

    def action_step(self, by: int) -> None:
        """Change the row under the cursor."""
        if self._options.is_typed(self._chosen):
            self.action_edit()
        else:
            self._options.step(self._chosen, by)
            self._show()

    def action_edit(self) -> None:
        """Type the value of the row under the cursor, or else the name of the file."""
        if not self._options.is_typed(self._chosen):
            self._list.set_rows(self._options.rows(), "path")
        line = self.query_one(Input)
        line.value = self._options.typed(self._chosen)
        line.remove_class("-hidden")
        line.focus()
        line.cursor_position = len(line.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Take what was typed."""
        self._options.write(self._chosen, self.query_one(Input).value)
        self._leave_line()

    def _leave_line(self) -> None:
        self.query_one(Input).add_class("-hidden")
        self.set_focus(None)
        self._show()

    def action_write(self) -> None:
        """Write it."""
        self.finish(self._options.request)

    def action_close(self) -> None:
        """Write nothing; where a line is being typed, only give that up."""
        if self._typing:
            self._leave_line()
        else:
            self.finish()
