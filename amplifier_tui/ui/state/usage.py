"""What the session has used: tokens and money."""

from amplifier_tui.host.events import HostEvent, Usage, UsageChanged
from amplifier_tui.ui.state.section import Section


class UsageTotals(Section):
    """Totals as the host counts them; sub-agents are included there."""

    HANDLES: tuple[type[HostEvent], ...] = (UsageChanged,)

    def __init__(self) -> None:
        super().__init__()
        self.session = Usage()
        self.turn = Usage()

    def clear(self) -> None:
        """Start from zero, for another session."""
        self._put(Usage(), Usage())

    def apply(self, event: HostEvent) -> None:
        """Take one event of the session."""
        if isinstance(event, UsageChanged):
            self._put(event.session, event.turn)

    def _put(self, session: Usage, turn: Usage) -> None:
        if (session, turn) != (self.session, self.turn):
            self.session, self.turn = session, turn
            self.touch()
