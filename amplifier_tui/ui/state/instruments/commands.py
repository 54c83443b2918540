"""The commands of modules, and the agent's commands in the background."""

from dataclasses import replace

from amplifier_tui.host import events
from amplifier_tui.ui.state.section import FieldSection, on


class ModuleCommands(FieldSection):
    """The `/` commands that the session's modules bring, and what `@` can mention of them."""

    def reset(self) -> None:
        """Know of none."""
        self.cards: tuple[events.CommandCard, ...] = ()
        self.mentions: tuple[str, ...] = ()

    @on(events.CommandsChanged, main=True)
    def _changed(self, event: events.CommandsChanged) -> None:
        self.cards = event.commands
        self.mentions = event.mentions


class BackgroundCommands(FieldSection):
    """The agent's commands in the background by id, in the order in which they began."""

    def reset(self) -> None:
        """Know of none."""
        self.by_id: dict[str, events.JobChanged] = {}

    @on(events.JobChanged, live=True, main=True)
    def _changed(self, event: events.JobChanged) -> None:
        before = self.by_id.get(event.job_id)
        if event.running and before is not None and not before.running:
            # Who hears of an event after hooks that take their time hears of the start last.
            return
        tail = event.tail or (before.tail if before is not None else "")
        self.by_id[event.job_id] = replace(event, tail=tail)

    @property
    def running(self) -> list[events.JobChanged]:
        """Those that run, the newest first."""
        return [job for job in reversed(self.by_id.values()) if job.running]
