"""The conversation alone on a screen, for tests."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    UserEntry,
)
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import CopyRequested
from tests.ui.transcript.conversation import adding
from tests.waiting import within


def visible_text(view: TranscriptView) -> str:
    height = view.scrollable_content_region.height
    return "\n".join(view.render_line(row).text.rstrip() for row in range(height))


class Stage(App[None]):
    AUTO_FOCUS = None
    CSS = "TranscriptView { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield TranscriptView(clock=lambda: self.now)

    @property
    def view(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    @property
    def rows(self) -> list[str]:
        return visible_text(self.view).split("\n")

    def on_copy_requested(self, event: CopyRequested) -> None:
        self.told.append(event)

    on_follow_changed = on_link_clicked = on_retry_requested = on_copy_requested
    on_image_requested = on_copy_requested


@asynccontextmanager
async def stage(
    these: list[ConversationEntry] | None = None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.view.apply(adding(these or []))
        await pilot.pause()
        yield app, pilot


async def until(pilot: Pilot[None], true: Callable[[], Any]) -> None:
    async with within(20):
        while not true():
            await pilot.pause(0.01)


def users(count: int, start: int = 0) -> list[ConversationEntry]:
    return [UserEntry(key=f"u{n}", text=f"prompt {n}") for n in range(start, start + count)]
