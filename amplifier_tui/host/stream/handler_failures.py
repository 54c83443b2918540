"""Hook handlers that fail: each is told of once for every event it fails at."""

from amplifier_tui.host.events import HandlerTrace, HookTraced, ModuleFailed
from amplifier_tui.host.session.modules.facts import ModuleFacts, Planned
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.events import TOOL_PRE


class HandlerFailures:
    """Says whose handlers fail, where in their code, and what to do.

    A module that is mounted anew is told of anew.
    """

    def __init__(self, sender: Sender, facts: ModuleFacts) -> None:
        self._sender = sender
        self._facts = facts

    def take(self, trace: HookTraced) -> None:
        """Take a row of the event log."""
        for handler in trace.handlers:
            if not handler.error or handler.ended:
                continue
            who = handler.module or handler.name
            told = self._facts.broken.setdefault(who, set())
            if trace.event in told:
                continue
            told.add(trace.event)
            if trace.event == TOOL_PRE and handler.verdict == "error":
                self._judged_nothing(who, handler)
            else:
                text = f"The handler of {trace.event} failed: {handler.problem}"
                self._sender.notice("warning", text, f"hook:{who}", trace.agent)

    def _judged_nothing(self, who: str, handler: HandlerTrace) -> None:
        """The gate asks instead, for as long as the module fails."""
        planned = self._facts.find(who) or Planned(who, "hook")
        self._sender.send(
            ModuleFailed(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                error=f"failed while it judged a call: {handler.error}",
                remedy="Correct it there and reload it. Until it works, every call it fails on is "
                "asked about.",
            )
        )
