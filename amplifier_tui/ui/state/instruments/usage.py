"""The session's total of tokens and money, and its limit."""

from amplifier_tui.host import events
from amplifier_tui.ui.state.section import FieldSection, on


class UsageTotals(FieldSection):
    """The session's total as the host counts it, sub-agents included, and the limit of it.

    `limit_cost` is in dollars, as decimal text; empty and 0 mean that there is none. `at_limit`: a
    request waits there for the user.
    """

    def reset(self) -> None:
        """Start from zero."""
        self.session = events.Usage()
        self.limit_cost = ""
        self.limit_tokens = 0
        self.at_limit = False

    @on(events.LimitAsked, live=True)
    def _asked(self, event: events.LimitAsked) -> None:
        self.at_limit = True

    @on(events.LimitResolved, events.TurnEnded, events.SessionClosed, live=True)
    def _goes_on(self, event: events.HostEvent) -> None:
        self.at_limit = False

    @on(events.LimitChanged)
    def _limited(self, event: events.LimitChanged) -> None:
        self.limit_cost, self.limit_tokens = event.cost, event.tokens

    @on(events.UsageChanged)
    def _changed(self, event: events.UsageChanged) -> None:
        self.session = event.session
