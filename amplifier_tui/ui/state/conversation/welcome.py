"""The card of an empty session: what is active, what to try, and why it cannot answer."""

from amplifier_tui.host import events
from amplifier_tui.host.events import HostEvent
from amplifier_tui.ui.state.conversation.entries import EntryList, ProviderLine, WelcomeEntry
from amplifier_tui.ui.state.instruments.modules import module_key
from amplifier_tui.ui.state.section import Handlers, assign, on, told


class Welcome(Handlers):
    """Keeps the one `WelcomeEntry` of a session, on screen until something is said in it.

    `is_shown` says whether the card is in the conversation.
    """

    def __init__(self, entries: EntryList, mode: str) -> None:
        self._list = entries
        self._card = WelcomeEntry(key="welcome", mode=mode)
        self._providers: dict[str, ProviderLine] = {}
        self.is_shown = False

    @on(
        events.BlockStarted,
        events.BlockDelta,
        events.BlockEnded,
        events.ToolStarted,
        events.ToolEnded,
    )
    def drop(self, event: HostEvent | None = None) -> None:
        """Take the card out: something was said."""
        if self.is_shown:
            self._list.remove(self._card)
            self.is_shown = False

    def show(self, event: events.SessionOpened) -> None:
        """Put the card in, or tell it what is active now."""
        self._say(**told(event, "bundle", "model", "examples"))
        if not self.is_shown:
            self._list.add(self._card)
            self.is_shown = True

    def set_mode(self, mode: str) -> None:
        """Show another permission mode."""
        self._say(mode=mode)

    def miss(self, names: tuple[str, ...]) -> None:
        """Name environment variables that providers do not find."""
        known = self._card.missing
        self._say(missing=known + tuple(name for name in names if name not in known))

    def unready(self, event: events.Failed) -> None:
        """No provider is ready: the card says so and what helps."""
        self.miss(event.missing)
        self._say(problem=event.message, remedy=event.remedy)

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

    @on(events.ModuleMounted)
    def _provider_mounted(self, event: events.ModuleMounted) -> None:
        if event.kind == "provider":
            self._providers.pop(module_key(event.module_id, event.instance), None)
            self._say(problem="", remedy="", providers=tuple(self._providers.values()))

    def _say(self, **values: object) -> None:
        if assign(self._card, **values) and self.is_shown:
            self._list.update(self._card)
