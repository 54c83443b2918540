"""The transcript alone: `python -m tests.ui.transcript.demo`, or a picture with `WxH FILE`."""

import asyncio
import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.theme import Theme

from amplifier_tui.ui.transcript.view import TranscriptView
from tests.ui.transcript.conversation import adding, entries, more

INK = Theme(
    name="ink",
    primary="#7AA2F7",
    secondary="#9AA5CE",
    accent="#E0AF68",
    foreground="#C8D0E7",
    background="#12141C",
    surface="#181B26",
    panel="#1F2335",
    success="#9ECE6A",
    warning="#E0AF68",
    error="#F7768E",
    dark=True,
    variables={"text-muted": "#858DB0"},
)
PAPER = Theme(
    name="paper",
    primary="#2E5AAC",
    secondary="#556073",
    accent="#8A5200",
    foreground="#1E2430",
    background="#FAF9F6",
    surface="#F1EFE9",
    panel="#E7E4DB",
    success="#2A7330",
    warning="#8A5200",
    error="#A82219",
    dark=False,
    variables={"text-muted": "#646259"},
)


class Demo(App[None]):
    CSS = "TranscriptView { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield TranscriptView(clock=lambda: 1012.0)

    def on_mount(self) -> None:
        self.register_theme(INK)
        self.register_theme(PAPER)
        self.theme = "ink"
        self.query_one(TranscriptView).apply(adding(entries()))


async def picture(size: str, path: str, theme: str, scroll: str) -> None:
    width, height = map(int, size.split("x"))
    app = Demo()
    async with app.run_test(size=(width, height)) as pilot:
        app.theme = theme
        view = app.query_one(TranscriptView)
        if scroll != "first":
            view.apply(adding(more()))
        await pilot.pause()
        if scroll == "cursor":
            view.focus()
            await pilot.press("k", "k")
        elif scroll.isdigit():
            view.scroll_to(y=int(scroll), animate=False)
        await pilot.pause()
        Path(path).write_text(app.export_screenshot())


if __name__ == "__main__":
    if len(sys.argv) > 2:
        extra = [*sys.argv[3:], "ink", "end"]
        asyncio.run(
            picture(sys.argv[1], sys.argv[2], extra[0], extra[1] if len(sys.argv) > 4 else "end")
        )
    else:
        Demo().run()
