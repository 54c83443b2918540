"""The prompts that wait for the running turn to end."""

from amplifier_tui.host.events import HostEvent, QueueChanged, SessionClosed
from amplifier_tui.ui.state.section import Section


class PromptQueue(Section):
    """Waiting prompts, first to be sent first."""

    HANDLES: tuple[type[HostEvent], ...] = (QueueChanged, SessionClosed)

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[str, ...] = ()

    def clear(self) -> None:
        """Forget the prompts, for another session."""
        self._put(())

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if event.replayed:
            return
        match event:
            case QueueChanged():
                self._put(event.items)
            case SessionClosed():
                self._put(())
            case _:
                pass

    def _put(self, items: tuple[str, ...]) -> None:
        if items != self.items:
            self.items = items
            self.touch()
