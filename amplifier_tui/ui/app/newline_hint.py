"""Telling the user once which key begins a new line where shift+enter arrives as enter."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.keys.keymap import show_key
from amplifier_tui.ui.terminal import guard
from amplifier_tui.ui.terminal.shift_enter import QUESTION, terminal_name

if TYPE_CHECKING:
    from amplifier_tui.ui.app.session_app import SessionApp


class NewlineHint:
    """Says it when a prompt of one line is sent, once in each kind of terminal.

    Nothing is said where the terminal gives no answer: then nothing is known of it.
    """

    def __init__(self, app: SessionApp) -> None:
        self._app = app
        self._terminal = terminal_name(os.environ)
        self._apart: bool | None = None

    def ask(self) -> None:
        """Ask the terminal, unless the user was told; the answers come as messages."""
        # Textual's reader for a browser would take the answers for keys.
        if not self._app.is_web and not self._was_told():
            guard.write(self._app, QUESTION)

    def told(self, apart: bool) -> None:
        """Take an answer; the first one counts."""
        if self._apart is None:
            self._apart = apart

    def sent(self, text: str) -> None:
        """Take notice of what the user has sent."""
        if self._apart is not False or "\n" in text or text.startswith("/") or self._was_told():
            return
        # A second prompt does not say it again.
        self._apart = None
        self._app.run_worker(self._say())

    async def _say(self) -> None:
        if self._terminal == "tmux":
            from amplifier_tui.ui.terminal.asking import tmux_tells_keys_apart

            if await asyncio.to_thread(tmux_tells_keys_apart):
                return
        keys = self._app.keymap.keys_of(BY_ID["prompt.newline"]).split(",")
        key = next((key for key in keys if key and key != "shift+enter"), "")
        way = show_key(key) if key else "a backslash before enter"
        self._app.say(f"New line: {way}. shift+enter may send.")
        write = self._app.preferences.set_told_of_newlines
        self._app.write("The hint about new lines will come again", write, self._terminal)

    def _was_told(self) -> bool:
        return self._app.preferences.was_told_of_newlines(self._terminal)
