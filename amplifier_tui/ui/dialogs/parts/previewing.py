"""A sheet that shows what something would do before it is done."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.dialogs.parts.guarded import GuardedSheet

T = TypeVar("T")
P = TypeVar("P")


class PreviewingSheet(GuardedSheet[T], Generic[T, P]):
    """Asks for a preview when it opens; the screen goes on meanwhile.

    Args:
        ask: Finds out what would be done.
        busy: Whether a turn runs just now.
    """

    def __init__(self, ask: Callable[[], Future[P]], busy: Callable[[], bool]) -> None:
        super().__init__()
        self._ask = ask
        self._busy = busy
        self._preview: P | None = None
        self._problem = ""
        """Why there is no preview."""

    def on_mount(self) -> None:
        """Ask."""
        self._show()
        self.run_worker(self._load(), group="preview")

    async def _load(self) -> None:
        try:
            self._preview = await self.answer_of(self._ask())
        except Exception as error:
            # Whatever the session could not do is shown in place of it.
            self._problem = one_line(str(error), 400) or type(error).__name__
        self._show()

    def _show(self) -> None:
        """Show the preview, the problem, or that it is still being asked for."""
