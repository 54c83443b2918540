"""What a session's context holds of the stored conversation."""

from collections.abc import Mapping
from typing import Any

from amplifier_tui.base.python import awaited
from amplifier_tui.context.state_file import own_part, state_again, state_before
from amplifier_tui.host.store.state import StateKeeper
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.host.turns.sources import Sources
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.mounting.contents import checked_messages


class SessionConversation:
    """Gives a session's context what it goes on from, and remembers its state."""

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        sources: Sources,
        state: StateKeeper,
        recorder: ContextRecorder,
    ) -> None:
        self._coordinator = coordinator
        self._sources = sources
        self._state = state
        self._recorder = recorder
        self._own: list[dict[str, Any]] = []
        """System messages that the context brought itself."""

    async def begin(self, messages: list[dict[str, Any]]) -> None:
        """Take up a stored conversation, and record what comes from here on."""
        context: Any = self._coordinator.get("context")
        if context is not None:
            present = checked_messages(context.get_messages, await awaited(context.get_messages()))
            system = [message for message in present if message.get("role") == "system"]
            stored = [message.get("content") for message in messages]
            self._own = [message for message in system if message.get("content") not in stored]
            if messages:
                await awaited(context.set_messages([*system, *messages]))
        if messages and self._sources.remembers is not None:
            await self._state.restore(self._sources.remembers)
        await self._recorder.attach(context, self._coordinator.hooks)

    async def restart(
        self,
        messages: list[dict[str, Any]],
        decided: Mapping[str, Any] | None = None,
        back: int = 0,
    ) -> None:
        """Go on from another part of the stored conversation.

        Args:
            messages: All of that part.
            decided: What `decided` returned when the conversation was just these messages.
            back: How many of them, at the end, had been taken out and are back.
        """
        context: Any = self._coordinator.get("context")
        state = self.snapshot()
        clear = getattr(context, "clear", None)
        if callable(clear):
            # A context with a file of its own takes nothing else up as long as that holds anything.
            await awaited(clear())
        rows = [*self._own, *messages]
        await awaited(context.set_messages(rows))
        await self._recorder.restarted()
        remembers = self._sources.remembers
        if remembers is not None and state is not None:
            # What a model's service keeps of the conversation is another one by now.
            kept = len(rows) - back
            left = state_again(state, decided, kept) if decided else state_before(state, kept)
            await self._state.take_up(remembers, {**left, "service_session_id": None})

    def decided(self) -> dict[str, Any]:
        """Return what the context decided about its messages, such as a summary of some."""
        return own_part(self.snapshot())

    def snapshot(self) -> dict[str, Any] | None:
        """Return what the context and its sources remember; None where they don't."""
        remembers = self._sources.remembers
        return None if remembers is None else self._state.snapshot(remembers)
