"""Runs the app for a pilot test, with a scripted client and everything mounted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from textual import events
from textual._compositor import LayoutUpdate
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import Screen

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.ui.app import pace
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.terminal.input import key_name
from tests.ui.fake_client import FakeClient
from tests.waiting import within

S = TypeVar("S", bound=Screen[Any])

PATIENCE = 0.1
"""Seconds a step waits for the work of threads; some tests hold it up on purpose."""


class Driver:
    """The app, its pilot and its client."""

    def __init__(self, app: AmplifierApp, pilot: Pilot[Any], client: FakeClient) -> None:
        self.app = app
        self.pilot = pilot
        self.client = client
        self._threads = _watch_threads()

    async def settle(self) -> None:
        """Let every widget work off its messages, and those that they cause, and draw.

        What a thread does for the screen is waited for, unless it takes longer than `PATIENCE`.
        """
        await self._rounds()
        while self._threads:
            _, late = await asyncio.wait(self._threads, timeout=PATIENCE)
            await self._rounds()
            if late:
                return

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait for a condition; the test fails when it does not come true."""
        pause = 0.002
        async with within(10, what or "what a test waits for"):
            while not condition():
                await asyncio.sleep(pause)
                await self._messages()
                self.app.screen._on_timer_update()
                pause = min(pause * 1.5, 0.05)  # A long wait leaves the processor to others.
        await self.settle()

    async def _rounds(self) -> None:
        for _ in range(4):
            await self._messages()
            self.app.screen._on_timer_update()

    async def _messages(self) -> None:
        """Wait until nothing is left to be run but what waits for a time or another thread.

        The pilot's own pause would queue a callback at every widget of the screen each time.
        """
        loop = asyncio.get_running_loop()
        # Time stands still meanwhile: on a busy machine what is drawn sixty times a second takes
        # longer than that, and there would always be something left.
        now = loop.time()
        loop.time = lambda: now
        try:
            await asyncio.sleep(0)
            while loop._ready:
                await asyncio.sleep(0)
        finally:
            del loop.time

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
            await self.settle()

    async def press_at_once(self, *keys: str) -> None:
        """Press keys that come together, as over a slow line."""
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
        await self.settle()

    async def write(self, text: str) -> None:
        """Type, as fast as a terminal delivers."""
        for character in text:
            self.app.post_message(events.Key(_key(character), character))
        await self.settle()

    async def push(self, *events: Any) -> None:
        """Push events and wait until the screen has taken them."""
        taken = asyncio.Event()
        link = self.app.link
        assert link is not None
        before = link.take

        def take(batch: list[Any]) -> None:
            before(batch)
            if any(event is events[-1] for event in batch):
                taken.set()

        link._feed._sink = take
        self.client.push(*events)
        async with within(10, "what was pushed"):
            await taken.wait()
        link._feed._sink = before
        await self.settle()

    async def dialog(self, kind: type[S]) -> S:
        """Wait until a dialog of this kind is on top and return it."""
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        screen = self.app.screen
        assert isinstance(screen, kind)
        return screen

    async def closed(self) -> None:
        """Wait until no dialog is open."""
        await self.until(lambda: self.app.screen is self.app.main)

    @property
    def draft(self) -> str:
        return self.app.main.prompt.input.text

    def text(self) -> str:
        """Return what is on the screen, dialogs included, one line per row."""
        screen = self.app.screen
        update = screen._compositor.render_update(
            full=True, screen_stack=self.app._background_screens, simplify=True
        )
        assert isinstance(update, LayoutUpdate)
        rows = ("".join(strip.text for strip in row) for row in update.strips)
        return "\n".join(rows).replace("\xa0", " ")


@asynccontextmanager
async def running(
    client: FakeClient | None = None,
    size: tuple[int, int] = (120, 36),
    opened: bool = True,
    **values: Any,
) -> AsyncIterator[Driver]:
    """Run the app until it is ready, and (unless `opened` is False) its session too."""
    client = client if client is not None else FakeClient()
    cwd = values.pop("cwd", Path.cwd())
    request = values.pop("request", OpenRequest(cwd=cwd))
    app = AmplifierApp(lambda: (client, request), cwd=cwd, **values)
    # All that the tests before have imported would be looked at, which takes some seconds.
    with patch.object(pace, "session_changed", lambda: None):
        async with app.run_test(size=size) as pilot:
            async with within(20, "an app that is ready"):
                await app.ready.wait()
            driver = Driver(app, pilot, client)
            if opened:
                await driver.until(lambda: app.state is not None and app.state.facts.opened)
            yield driver


def _watch_threads() -> set[asyncio.Future[Any]]:
    """Return what the loop has given to threads and they have not done, kept up to date."""
    loop = asyncio.get_running_loop()
    given, pending = loop.run_in_executor, set[asyncio.Future[Any]]()

    def run_in_executor(*arguments: Any) -> asyncio.Future[Any]:
        future = given(*arguments)
        pending.add(future)
        future.add_done_callback(pending.discard)
        return future

    loop.run_in_executor = run_in_executor
    return pending


def _key(character: str) -> str:
    names = {" ": "space", "\n": "ctrl+j"}
    if character in names or character.isalnum():
        return names.get(character, character)
    return key_name(character)
