"""The one way up: every event is written where a crash could lose it, then put in the outbox."""

import asyncio
from collections.abc import Callable
from time import time
from typing import TypedDict

from amplifier_tui.base.jsonl import Row
from amplifier_tui.host.events import (
    MAIN_LANE,
    BlockDelta,
    BlockEnded,
    HostEvent,
    ImagesAdded,
    Level,
    Notice,
    NoticeEnd,
    SessionClosed,
    ToolEnded,
)
from amplifier_tui.host.messages import mentioned_files
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.turns.images import images_in

Key = tuple[str, str]
"""Lane and block id."""


class Stamp(TypedDict):
    """What every event carries."""

    session_id: str
    agent: str
    at: float


class Sender:
    """Sends the events of one session.

    Streamed text goes up as soon as the loop turns, except for an end that may be the beginning of
    a secret: that waits for the next piece or the end of its block. The outbox joins what a slow
    front end has not taken yet.

    Attributes:
        put: Takes an event from any thread, past everything else.
        store: Where the session is written.
        redactor: Knows its secrets.
    """

    def __init__(self, put: Callable[[HostEvent], None], store: SessionStore) -> None:
        self.session_id = store.folder.name
        self.put = put
        self.store = store
        self.redactor = store.redactor
        self._waiting: dict[Key, list[str]] = {}
        """Text that was not sent yet; of some blocks only the end that is held."""
        self._fresh: dict[Key, None] = {}
        """Blocks that got text since the loop turned."""
        self._streamed: dict[str, list[str]] = {}
        self._stored_calls: set[str] = set()
        self._closed = False

    def stamp(self, lane: str = MAIN_LANE) -> Stamp:
        """Return the fields of an event that happens now."""
        return {"session_id": self.session_id, "agent": lane, "at": time()}

    def send(self, event: HostEvent) -> None:
        """Send an event; what comes after `SessionClosed` is dropped."""
        if self._closed:
            return
        self.flush()
        if isinstance(event, BlockEnded):
            self._end_block(event)
        if event.agent == MAIN_LANE:
            self._keep_partial(event)
        self.store.note(event)
        self.put(event)
        self._closed = isinstance(event, SessionClosed)

    def notice(
        self,
        level: Level,
        text: str,
        source: str = "host",
        lane: str = MAIN_LANE,
        until: NoticeEnd = "",
        detail: str = "",
    ) -> None:
        """Show a line in the status bar; see `Notice`."""
        text, detail = map(self.redactor.text, (text, detail))
        self.send(
            Notice(
                **self.stamp(lane),
                level=level,
                text=text,
                source=source,
                until=until,
                detail=detail,
            )
        )

    def delta(self, lane: str, block_id: str, text: str) -> None:
        """Send a piece of a block."""
        key = (lane, block_id)
        self._waiting.setdefault(key, []).append(text)
        if not self._fresh:
            asyncio.get_running_loop().call_soon(self.flush)
        self._fresh[key] = None

    def flush(self) -> None:
        """Send the pieces that came since the loop turned."""
        fresh, self._fresh = self._fresh, {}
        for key in fresh:
            text = "".join(self._waiting.pop(key))
            held = self.redactor.unfinished(text)
            if held:
                self._waiting[key] = [text[-held:]]
                text = text[:-held]
            self._send_text(key, text)

    def row_added(self, row: Row) -> None:
        """A row is on disk: what it holds needs no note any more."""
        if row.get("role") == "tool":
            self._stored_calls.add(str(row.get("tool_call_id")))
        elif row.get("role") == "assistant":
            self._streamed.clear()

    def images_added(self, row: Row, lane: str = MAIN_LANE) -> None:
        """A row of a lane is on disk: tell of the images in it, and of the files of a prompt."""
        images, files = images_in(row), mentioned_files(row)
        if images or files:
            call_id = str(row.get("tool_call_id") or "")
            self.send(ImagesAdded(**self.stamp(lane), images=images, call_id=call_id, files=files))

    def turn_over(self) -> None:
        """The turn has ended: every row of it is written."""
        self.flush()
        self._streamed.clear()
        self._stored_calls.clear()
        self.store.partial.rest()

    def text_begins(self, block_id: str) -> None:
        """A block of the answer's words begins to stream in the main lane."""
        self._streamed.setdefault(block_id, [])

    def _end_block(self, event: BlockEnded) -> None:
        # It is complete: what looked like the beginning of a secret is none.
        key = (event.agent, event.block_id)
        text = "".join(self._waiting.pop(key, ()))
        if not event.discarded:
            self._send_text(key, text)

    def _send_text(self, key: Key, text: str) -> None:
        lane, block_id = key
        text = self.redactor.text(text)
        if not text or self._closed:
            return
        if lane == MAIN_LANE and block_id in self._streamed:
            self._streamed[block_id].append(text)
            self.store.partial.delta(block_id, text)
        self.put(BlockDelta(**self.stamp(lane), block_id=block_id, text=text))

    def _keep_partial(self, event: HostEvent) -> None:
        partial = self.store.partial
        match event:
            case BlockEnded(discarded=True):
                self._streamed.pop(event.block_id, None)
                partial.void(event.block_id)
            case BlockEnded(kind="text"):
                streamed = self._streamed.get(event.block_id)
                if streamed is not None and "".join(streamed) != event.text:
                    partial.whole(event.block_id, event.text)
            case ToolEnded() if event.call_id not in self._stored_calls:
                partial.result(event.call_id, event.tool, event.output, event.ok)
            case _:
                pass
