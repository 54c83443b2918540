"""Writes every message the context gets, whichever module the context is.

A context with `watch_messages` (all of ours) shows each message before it adds it. Of a foreign one
`add_message` is wrapped, on the instance; one that can't be wrapped is compared with what is known
of it at every step.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from amplifier_tui.base.python import awaited
from amplifier_tui.host.messages import (
    COMMANDS_KEY,
    IMAGES_KEY,
    PROMPT_KEY,
    is_from_hook,
    is_steering,
    text_of,
)
from amplifier_tui.host.turns.abandoned import is_abandoned
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.mounting.contents import checked_messages

logger = logging.getLogger(__name__)

HOOK_NAME: Final = "amplifier-tui-recorder"
_FIRST: Final = -10_000
"""Priority of the comparison: before anybody shows what happened."""
_STEPS: Final = (
    "provider:request",
    "llm:response",
    "provider:response",
    "content_block:end",
    "tool:pre",
    "tool:post",
    "tool:error",
    "orchestrator:complete",
    "execution:end",
)


class RowSink(Protocol):
    """Keeps the rows of a conversation."""

    def add_row(self, message: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> None:
        """Keep a message as the next row, with more in the row's metadata."""


class ContextRecorder:
    """Keeps the stored rows in step with a session's context.

    Attributes:
        sent: What the orchestrator got in the latest turn.
        taken: Whether that is in the conversation.
        heard: Whether the user's words came since that was last set to false.
        watches: Whether rows can be kept out of the conversation.
    """

    def __init__(self, store: RowSink) -> None:
        self._store = store
        self._context: Any = None
        self._known = 0
        self._typed: dict[str, dict[str, Any]] = {}
        self._repeated: str | None = None
        self._images: list[Mapping[str, Any]] = []
        """Of the prompt that is expected."""
        self.sent = ""
        self.taken = False
        self.heard = False
        self.watches = False
        self.on_words: Callable[[str, str], None] = lambda typed, sent: None
        """Told of the user's words once they are a row: what was typed, and all that was sent."""
        self._detach: list[Callable[[], None]] = []

    def expect(
        self,
        sent: str,
        typed: str,
        attachments: tuple[str, ...] = (),
        commands: Sequence[str] = (),
        images: Sequence[Mapping[str, Any]] = (),
        names: Sequence[str] = (),
    ) -> None:
        """Announce the prompt of a turn.

        Args:
            images: Blocks that become part of the message, where the context can be watched.
            names: What each of them is called.
        """
        self.sent, self.taken, self._repeated = sent, False, None
        self._typed.clear()
        self._images = list(images)
        self.expect_also(sent, typed, attachments, commands)
        if images:
            self._typed.setdefault(sent, {}).update({PROMPT_KEY: typed, IMAGES_KEY: list(names)})

    def expect_also(
        self,
        sent: str,
        typed: str,
        attachments: tuple[str, ...] = (),
        commands: Sequence[str] = (),
    ) -> None:
        """Announce words of the user, which may come in the middle of a turn.

        Args:
            sent: What the orchestrator gets.
            typed: What the user typed.
            commands: Ids of the user's own commands whose output is in it.
        """
        extra: dict[str, Any] = {PROMPT_KEY: typed} if typed != sent else {}
        if attachments:
            extra["attachments"] = list(attachments)
        if commands:
            extra[COMMANDS_KEY] = list(commands)
        if extra:
            self._typed[sent] = extra

    def take_up(self, sent: str) -> None:
        """Know the prompt of an earlier life of the session, which is in the conversation."""
        self.sent, self.taken = sent, True

    def expect_again(self) -> None:
        """Announce that the orchestrator gets the last prompt once more.

        It is in the conversation; where the orchestrator adds it again, that row is left out.
        """
        self._repeated = self.sent

    async def attach(self, context: Any, hooks: HookRegistry) -> None:
        """Record what the context gets from now on."""
        self._context = context
        self.watches = self._watch(context)
        if self.watches:
            return
        logger.info("The context can't be watched; it is compared at every step")
        self._known = len(await self._messages())
        for event in _STEPS:
            self._detach.append(hooks.register(event, self._step, _FIRST, HOOK_NAME))

    async def catch_up(self) -> None:
        """Write what a context that is only compared got since the last step."""
        if not self._detach:
            return
        messages = await self._messages()
        if len(messages) < self._known:
            # Somebody shortened the history; the ledger keeps what was said.
            self._known = len(messages)
        for message in messages[self._known :]:
            self._record(message)
        self._known = len(messages)

    async def restarted(self) -> None:
        """Go on from what the context holds now: it was given another conversation."""
        if self._detach:
            self._known = len(await self._messages())

    def detach(self) -> None:
        """Stop recording by comparison; a wrapped context goes with its session."""
        for stop in self._detach:
            stop()
        self._detach.clear()

    def _watch(self, context: Any) -> bool:
        """See each message before the context adds it; whether that can be."""
        watch = getattr(context, "watch_messages", None)
        if callable(watch):
            watch(self._take)
            return True
        original = getattr(context, "add_message", None)
        if not callable(original):
            return False

        async def add_message(message: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
            taken = self._take(message)
            return None if taken is None else await awaited(original(taken, *args, **kwargs))

        try:
            context.add_message = add_message
        except (AttributeError, TypeError):
            return False
        return bool(context.add_message is add_message)

    def _take(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Record a message that is about to be added; return it as it is to be, None for not.

        Raises:
            asyncio.CancelledError: It is of an abandoned turn.
        """
        if is_abandoned():
            raise asyncio.CancelledError("the turn was abandoned")
        if self._is_repeated(message):
            return None
        # First on disk: what is in memory is on disk, also when the call is cancelled.
        return self._record(message)

    async def _step(self, event: str, data: dict[str, Any]) -> None:
        if not is_abandoned():
            await self.catch_up()

    async def _messages(self) -> list[Mapping[str, Any]]:
        ask = self._context.get_messages
        return list(checked_messages(ask, await awaited(ask())))

    def _is_repeated(self, message: Mapping[str, Any]) -> bool:
        if self._repeated is None or message.get("role") != "user" or is_from_hook(message):
            return False
        if text_of(message.get("content")) != self._repeated:
            return False
        self._repeated = None
        return True

    def _record(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a message as a row; returns it with the images that belong to it."""
        extra, text = None, ""
        if message.get("role") == "user":
            text = text_of(message.get("content"))
            self.heard = self.heard or not is_from_hook(message)
            if text == self.sent:
                self.taken, images, self._images = True, self._images, []
                if images:
                    content = [{"type": "text", "text": text}, *images]
                    message = {**message, "content": content}
            extra = self._typed.pop(text, None)
        self._store.add_row(message, extra)
        if message.get("role") == "user" and (not is_from_hook(message) or is_steering(message)):
            self.on_words((extra or {}).get(PROMPT_KEY, text), text)
        return message
