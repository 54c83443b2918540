"""What waits: prompts for the running turn to end, messages for its next step."""

from amplifier_tui.host.events import HostEvent, QueueChanged, SessionClosed
from amplifier_tui.ui.state.section import Section


class PromptQueue(Section):
    """Waiting prompts, first to be sent first, and messages that steer the running turn."""

    HANDLES: tuple[type[HostEvent], ...] = (QueueChanged, SessionClosed)

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[str, ...] = ()
        self.steering: tuple[str, ...] = ()

    def clear(self) -> None:
        """Forget the prompts, for another session."""
        self._put(())

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if event.replayed:
            return
        match event:
            case QueueChanged():
                self._put(event.items, event.steering)
            case SessionClosed():
                self._put(())
            case _:
                pass

    def _put(self, items: tuple[str, ...], steering: tuple[str, ...] = ()) -> None:
        if (items, steering) != (self.items, self.steering):
            self.items, self.steering = items, steering
            self.touch()
