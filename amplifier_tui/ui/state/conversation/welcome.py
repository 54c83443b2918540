"""The card of an empty session: what is active, what to try, and why it cannot answer."""

from amplifier_tui.host import events
from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.state.conversation.entries import EntryList, ProviderLine, WelcomeEntry
from amplifier_tui.ui.state.instruments.modules import module_key
from amplifier_tui.ui.state.section import Handlers, on


class Welcome(Handlers):
    """Keeps the one `WelcomeEntry` of a session, until something is said in it."""

    def __init__(self, entries: EntryList, mode: str) -> None:
        self._list = entries
        self._entry: WelcomeEntry | None = None
        self._mode = mode
        self._missing: tuple[str, ...] = ()
        self._providers: dict[str, ProviderLine] = {}
        self._problem: events.Failed | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the card is in the conversation."""
        return self._entry is not None

    @on(
        events.BlockStarted,
        events.BlockDelta,
        events.BlockEnded,
        events.ToolStarted,
        events.ToolEnded,
    )
    def drop(self, event: HostEvent | None = None) -> None:
        """Take the card out: something was said."""
        if self._entry is not None:
            self._list.remove(self._entry)
            self._entry = None

    def show(self, event: events.SessionOpened) -> None:
        """Put the card in, or tell it what is active now."""
        entry = self._entry
        if entry is None:
            self._entry = entry = WelcomeEntry(key="welcome")
            self._tell(entry, event)
            self._list.add(entry)
        elif self._tell(entry, event):
            self._list.update(entry)

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        self._mode = mode
        self._refresh()

    def miss(self, names: tuple[str, ...]) -> None:
        """Name environment variables that providers do not find."""
        more = tuple(name for name in names if name not in self._missing)
        if more:
            self._missing += more
            self._refresh()

    @on(events.ApprovalRequested, live=True)
    def _asked(self, event: events.ApprovalRequested) -> None:
        if event.call_id:
            self.drop()

    @on(events.ModuleFailed)
    def _provider_failed(self, event: events.ModuleFailed) -> None:
        if event.kind != "provider":
            return
        name = module_key(event.module_id, event.instance)
        self._providers[name] = ProviderLine(name, event.missing, event.error)
        self.miss(event.missing)
        self._refresh()

    @on(events.ModuleMounted)
    def _provider_mounted(self, event: events.ModuleMounted) -> None:
        if event.kind != "provider":
            return
        self._providers.pop(module_key(event.module_id, event.instance), None)
        self._problem = None
        self._refresh()

    def unready(self, event: events.Failed) -> None:
        """No provider is ready: the card says so and what helps."""
        self._problem = event
        self.miss(event.missing)
        self._refresh()

    def _refresh(self) -> None:
        if self._entry is not None and self._tell(self._entry, None):
            self._list.update(self._entry)

    def _tell(self, entry: WelcomeEntry, opened: events.SessionOpened | None) -> bool:
        """Give the card what there is to say; True when that changed it."""
        problem = self._problem
        values: dict[str, object] = {
            "mode": self._mode,
            "missing": self._missing,
            "problem": problem.message if problem is not None else "",
            "remedy": problem.remedy if problem is not None else "",
            "providers": tuple(self._providers.values()),
        }
        if opened is not None:
            values |= {
                "bundle": opened.bundle,
                "model": opened.model,
                "examples": opened.examples,
            }
        changed = {name: value for name, value in values.items() if getattr(entry, name) != value}
        for name, value in changed.items():
            setattr(entry, name, value)
        return bool(changed)
