"""What going back before a turn would do, and how much of it is to be done."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import RewindPreview
from amplifier_tui.host.events import RewindScope
from amplifier_tui.ui.dialogs.parts.previewing import PreviewingSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.dialogs.questions import Confirm
from amplifier_tui.ui.dialogs.rewind.words import facts, file_row
from amplifier_tui.ui.keys.actions import bindings
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.widgets.pick_list import PickList

_LIST = 10
_NAMED = 3
"""Files that are named before they are overwritten."""


@dataclass(frozen=True, slots=True)
class RewindChoice:
    """How to go back: before which prompt, and `overwrite` as of `SessionClient.rewind`."""

    scope: RewindScope | Literal["fork"]
    overwrite: tuple[str, ...] = ()
    prompt: str = ""


class RewindSheet(PreviewingSheet[RewindChoice, RewindPreview]):
    """Returns how to go back; None to stay.

    `ask` finds out what it would do; nothing goes back while the session is `busy` with a turn.
    `show_diff` shows what it does to a file.
    """

    SCOPE = "rewind"
    DECIDES = frozenset(("both", "anyway", "conversation", "files", "fork", "overwrite", "along"))
    BINDINGS: ClassVar[list[BindingType]] = bindings("rewind")
    DEFAULT_CSS = """
    RewindSheet #rewind-title { text-style: bold; color: $text-secondary; }
    RewindSheet #rewind-facts { margin-top: 1; }
    RewindSheet PickList { margin-top: 1; background: $panel; }
    RewindSheet KeyRow { margin-top: 1; }
    RewindSheet.-small #rewind-facts, RewindSheet.-small PickList, RewindSheet.-small KeyRow {
        margin-top: 0;
    }
    RewindSheet .-hidden { display: none; }
    """

    def __init__(
        self,
        ask: Callable[[], Future[RewindPreview]],
        busy: Callable[[], bool],
        show_diff: Callable[[str], None],
        keymap: Keymap,
    ) -> None:
        super().__init__(ask, busy)
        self._show_diff = show_diff
        self._keymap = keymap
        self._overwrite: set[str] = set()

    def _content(self) -> ComposeResult:
        yield Static(id="rewind-title", classes="one-row", markup=False)
        yield PickList(id="files")
        yield Static(id="rewind-facts", markup=False)
        yield KeyRow()

    @property
    def _files(self) -> PickList:
        return self.query_one(PickList)

    @property
    def _turns_files(self) -> bool:
        """Whether files would go back."""
        preview = self._preview
        return preview is not None and any(
            not file.problem and (not file.conflict or file.path in self._overwrite)
            for file in preview.files
        )

    @property
    def _doubtful(self) -> set[str]:
        """What a command changed, or the user while it ran."""
        files = self._preview.files if self._preview is not None else ()
        return {file.path for file in files if file.perhaps and not file.problem}

    def _show(self) -> None:
        preview = self._preview
        prompt = one_line(preview.prompt, 400) if preview is not None else ""
        title = self.query_one("#rewind-title", Static)
        title.update(f"Go back before: {prompt}" if prompt else "Go back")
        rows = []
        if preview is not None:
            rows = [file_row(file, file.path in self._overwrite) for file in preview.files]
        self._files.set_rows(rows, self._files.row_id)
        self._files.set_class(not rows, "-hidden")
        key, along = self.choice("along", "").key, self._overwrite
        words = facts(preview, self._problem, busy=self._busy(), along=along, key=key)
        self.query_one("#rewind-facts", Static).update(words)
        self.query_one(KeyRow).set_choices(self._choices())
        self._fit(self.room())

    def _choices(self) -> list[KeyChoice]:
        preview = self._preview
        found: list[KeyChoice] = []
        if preview is not None and not self._busy():
            if self._turns_files and preview.elsewhere:
                found.append(self.choice("both", "Conversation"))
                found.append(self.choice("anyway", "Conversation and files"))
                found.append(self.choice("files", "Files"))
            elif self._turns_files:
                found.append(self.choice("both", "Conversation and files"))
                found.append(self.choice("conversation", "Conversation"))
                found.append(self.choice("files", "Files"))
            else:
                found.append(self.choice("both", "Go back"))
            found.append(self.choice("fork", "Fork instead"))
            if doubtful := self._doubtful:
                verb = "Leave" if doubtful <= self._overwrite else "Take along"
                found.append(self.choice("along", f"{verb} {len(doubtful)}"))
        row = self._files.row
        if preview is not None and row is not None:
            found.append(self.choice("diff", "Diff"))
            file = next(file for file in preview.files if file.path == row.id)
            if file.conflict:
                other = "Take it along" if file.perhaps else "Overwrite"
                said = "Leave as it is" if file.path in self._overwrite else other
                found.append(self.choice("overwrite", said))
        return [*found, self.choice("close", "Stay")]

    def _fit(self, rows: int) -> None:
        """The keys are always in view; the list takes what is left of the facts."""
        width = max(1, self.app.size.width - (2 if self.has_class("-small") else 4))
        words = self.query_one("#rewind-facts", Static)
        keys = self.query_one(KeyRow).get_content_height(self.size, self.size, width)
        gaps = 0 if self.has_class("-small") else 5
        left = rows - gaps - keys - 1
        count = len(self._files.rows)
        said = words.get_content_height(self.size, self.size, width)
        words.styles.max_height = max(1, left - (1 if count else 0))
        self._files.styles.height = max(1, min(count, _LIST, left - said))

    @on(PickList.Highlighted)
    def _moved(self) -> None:
        self.query_one(KeyRow).set_choices(self._choices())

    @on(PickList.Chosen)
    def _clicked(self, event: PickList.Chosen) -> None:
        event.stop()
        self.action_diff()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._files.action_move(by)

    def action_both(self) -> None:
        """Go back, files included; without them where they are another branch's."""
        preview = self._preview
        # One branch's files on another would show as changes there, and be committed as such.
        elsewhere = preview is not None and preview.elsewhere
        self._go("both" if self._turns_files and not elsewhere else "conversation")

    def action_anyway(self) -> None:
        """Go back, files included, whatever is checked out."""
        self._go("both" if self._turns_files else "conversation")

    def action_conversation(self) -> None:
        """Leave the files as they are."""
        self._go("conversation")

    def action_files(self) -> None:
        """Leave the conversation as it is."""
        if self._turns_files:
            self._go("files")
        else:
            self.app.bell()

    def action_fork(self) -> None:
        """Leave all as it is, and go on in a copy of what came before."""
        self._go("fork")

    def _go(self, scope: RewindScope | Literal["fork"]) -> None:
        if self._preview is None or self._busy():
            self._show()
            self.app.bell()
            return
        chosen, doubtful = tuple(sorted(self._overwrite)), self._doubtful
        choice = RewindChoice(scope, chosen, self._preview.prompt)
        lost = [path for path in chosen if path not in doubtful]
        if not lost or scope not in ("both", "files"):
            self.finish(choice)
            return
        # What it promised to leave: the user's own work.
        names = ", ".join(one_line(path, 60) for path in lost[:_NAMED])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        question = f"What was changed since is overwritten: {names}{more}."
        self.app.push_screen(
            Confirm(question, "Overwrite it"), lambda yes: self.finish(choice) if yes else None
        )

    def action_overwrite(self) -> None:
        """Have a file that somebody else changed go back, too; or not."""
        files = self._preview.files if self._preview is not None else ()
        file = next((file for file in files if file.path == self._files.row_id), None)
        if file is None or not file.conflict:
            self.app.bell()
            return
        self._overwrite ^= {file.path}
        self._show()

    def action_along(self) -> None:
        """Have all go back that perhaps the user changed while commands ran; or none of it."""
        doubtful = self._doubtful
        if not doubtful:
            self.app.bell()
            return
        if doubtful <= self._overwrite:
            self._overwrite -= doubtful
        else:
            self._overwrite |= doubtful
        self._show()

    def action_diff(self) -> None:
        """Show what it does to a file."""
        row = self._files.row
        if row is None or self._preview is None:
            self.app.bell()
        else:
            self._show_diff(row.id)
