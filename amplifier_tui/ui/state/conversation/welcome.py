"""The card of an empty session."""

from amplifier_tui.host import events
from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.state.conversation.entries import (
    EntryList,
    NoteEntry,
    ProviderLine,
    WelcomeEntry,
)
from amplifier_tui.ui.state.instruments.modules import module_key
from amplifier_tui.ui.state.section import Handlers, assign, on, told


class Welcome(Handlers):
    """Keeps the card of an empty session, shown until something is said in it."""

    def __init__(self, entries: EntryList, mode: str) -> None:
        self._list = entries
        self.card = WelcomeEntry(key="welcome", mode=mode)
        self._providers: dict[str, ProviderLine] = {}
        self.is_shown = False
        self.no_server = ""
        """Why no model server was found; empty where none was looked for."""

    @on(
        events.BlockStarted,
        events.BlockDelta,
        events.BlockEnded,
        events.ToolStarted,
        events.ToolEnded,
        events.ShellStarted,
        events.ShellEnded,
    )
    def drop(self, event: HostEvent | None = None) -> None:
        """Take the card out: something was said."""
        if self.is_shown:
            self._list.remove(self.card)
            self.is_shown = False

    def tells(self, item: events.ReportItem) -> bool:
        """Whether the card says already that no provider is ready, this one among them."""
        return self.is_shown and bool(self.card.problem) and item.part == "provider"

    def show(self, event: events.SessionOpened) -> None:
        """Put the card in, or tell it what is active now."""
        self._say(**told(event, "bundle", "of_project", "model", "examples"))
        if not self.is_shown:
            self._list.add(self.card)
            self.is_shown = True

    def put_back(self) -> None:
        """Show the card in a conversation that was emptied."""
        self._list.add(self.card)
        self.is_shown = True

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        self._say(mode=mode)

    def miss(self, names: tuple[str, ...]) -> None:
        """Name environment variables that providers do not find."""
        known = self.card.missing
        self._say(missing=known + tuple(name for name in names if name not in known))

    def unready(self, event: events.Failed) -> None:
        """No provider is ready: the card says so and what helps."""
        self.miss(event.missing)
        self._say(problem=event.message, remedy=event.remedy)

    @on(events.ModelChanged, main=True)
    def _model_changed(self, event: events.ModelChanged) -> None:
        self._say(model=event.model or self.card.model)

    @on(events.ApprovalRequested, live=True)
    def _asked(self, event: events.ApprovalRequested) -> None:
        if event.call_id:
            self.drop()

    @on(events.ModuleFailed)
    def _provider_failed(self, event: events.ModuleFailed) -> None:
        if event.kind == "provider":
            name = module_key(event.module_id, event.instance)
            self._providers[name] = ProviderLine(name, event.missing, event.error)
            self.miss(event.missing)
            self._say(providers=tuple(self._providers.values()))

    @on(events.Notice, live=True)
    def _tried(self, event: events.Notice) -> None:
        if event.source == "setup":
            self._say(tried=event.text)
            if event.level != "info" and not (self.is_shown and self.card.problem):
                # The card tells it only where it says that no provider is ready.
                self._list.add(NoteEntry(key="note", text=event.text, level=event.level))

    @on(events.LocalServersFound, live=True)
    def _servers_found(self, event: events.LocalServersFound) -> None:
        self._say(servers=event.servers)
        self.no_server = event.problem

    @on(events.ModuleMounted)
    def _provider_mounted(self, event: events.ModuleMounted) -> None:
        if event.kind == "provider":
            self.no_server = ""
            self._providers.pop(module_key(event.module_id, event.instance), None)
            self._say(problem="", remedy="", servers=(), providers=tuple(self._providers.values()))

    def _say(self, **values: object) -> None:
        if assign(self.card, **values) and self.is_shown:
            self._list.update(self.card)
