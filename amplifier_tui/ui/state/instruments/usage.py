"""The session's total of tokens and money, and its limit."""

from decimal import Decimal

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


def raised_limit(asked: events.LimitAsked) -> tuple[str, int]:
    """Return a limit in dollars and in tokens, each doubled until what waits there fits."""
    spent = Decimal(asked.used_cost or 0) + Decimal(asked.next_cost or 0)
    cost = format(_doubled(Decimal(asked.cost), spent), "f") if asked.cost else ""
    needed = Decimal(asked.used_tokens + asked.next_tokens)
    return cost, int(_doubled(Decimal(asked.tokens), needed))


def _doubled(limit: Decimal, needed: Decimal) -> Decimal:
    """Return a limit times two, four and so on: the first that is enough."""
    limit *= 2
    while 0 < limit < needed:
        limit *= 2
    return limit
