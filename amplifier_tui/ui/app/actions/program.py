"""Actions about the program itself: commands, keys, prompt history, editor."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.app import SuspendNotSupported

from amplifier_tui.paths import user_config_dir
from amplifier_tui.ui.keys.keymap import Keymap

if TYPE_CHECKING:
    from amplifier_tui.ui.app.session_app import SessionApp

_KINDS = 5
"""Kinds of characters that are named at once."""


def leader(app: SessionApp) -> None:
    """Wait for the second key of a chord."""
    from amplifier_tui.ui.dialogs.modules.leader import LeaderPopup

    async def chosen(action_id: str | None) -> None:
        app.main.prompt.input.in_chord = False
        if action_id is not None:
            name, _, argument = action_id.partition(" ")
            await app.run_by_id(name, argument)
        elif popup.pasted:
            app.post_message(events.Paste(popup.pasted))

    popup = LeaderPopup(app.keymap)
    app.push_screen(popup, chosen)


def palette(app: SessionApp) -> None:
    """Open the command palette."""
    from amplifier_tui.ui.dialogs.modules.commands import CommandPalette

    app.ask(CommandPalette(app.keymap), app.run_by_id)


def help(app: SessionApp) -> None:
    """Show every key and command, those of what has the focus first."""
    from amplifier_tui.ui.dialogs.modules.commands import Help

    app.ask(Help(app.keymap, app.main.focused), app.run_by_id)


def search_history(app: SessionApp) -> None:
    """Look for an earlier prompt and put it into the draft."""
    from amplifier_tui.ui.dialogs.pickers import HistoryPicker

    prompt = app.main.prompt.input
    items = prompt.past.items
    query = " ".join(prompt.text.split())[:80]
    app.ask(HistoryPicker(items, query), lambda at: prompt.set_draft(items[int(at)]))


def suspend(app: SessionApp) -> None:
    """Stop the program until the shell brings it back."""
    if app.is_headless or not _has_shell(app):
        app.say("There is no shell to go back to from here.", "warning")
    else:
        app.action_suspend_process()


def nothing_to_undo(app: SessionApp) -> None:
    """Say what leads to the shell: the key that undoes does so in most programs."""
    way = f": {app.keymap.way_to('app.suspend')} goes to the shell" if _has_shell(app) else ""
    app.say(f"There is nothing to undo{way}.")


def left_out(app: SessionApp, kinds: tuple[str, ...]) -> None:
    """Say which characters did not get into the draft, of which nobody sees that they lack."""
    more = ", …" if len(kinds) > _KINDS else ""
    named = ", ".join(kinds[:_KINDS])
    app.say(f"Left out of the draft: control and invisible characters ({named}{more}).")


def _has_shell(app: SessionApp) -> bool:
    return app.page is None and hasattr(signal, "SIGTSTP")


def editor(app: SessionApp) -> None:
    """Write the draft in the user's editor."""
    from amplifier_tui.ui.terminal.editor import EditorError, edit_text

    prompt = app.main.prompt.input
    try:
        with app.suspend():
            text = edit_text(prompt.draft)
    except SuspendNotSupported:
        app.say("This terminal cannot be handed to an editor.", "warning")
    except EditorError as error:
        app.say(f"{error} The draft is unchanged.", "warning")
    else:
        prompt.set_draft(text)
    prompt.focus()


async def load_keys(app: SessionApp) -> None:
    """Read keymap and prompt history in a thread, put them in force, and say what is refused."""
    file = user_config_dir() / "keymap.toml"
    keymap = await asyncio.to_thread(_read_keymap, file)
    app.set_keymap({name: keys or f"unbound-{name}" for name, keys in keymap.keys.items()})
    app.main.use_keymap(keymap)
    for error in keymap.errors:
        # Its folder would leave no room for the reason.
        app.say(error.removeprefix(f"{file.parent}{os.sep}"), "warning")
    app.history.merge(await asyncio.to_thread(app.history.load))


def _read_keymap(file: Path) -> Keymap:
    try:
        there = file.exists()
    except OSError:
        there = True  # Reading it says what is wrong.
    if not there:
        # What reads the file takes 20 ms to import, just when a session is opening.
        return Keymap()
    from amplifier_tui.ui.keys.keymap_file import load_keymap

    return load_keymap(file)


def notify_manner(app: SessionApp, manner: str = "") -> None:
    """Choose how the terminal tells a user who looks elsewhere; without a choice say it."""
    from amplifier_tui.ui.terminal.notifying import MANNERS

    wanted = manner.strip().lower()
    if wanted in MANNERS:
        app.write("That is not remembered", app.preferences.set_notify, wanted)
    now = wanted if wanted in MANNERS else app.preferences.notify
    words = {"auto": "as the terminal can, else by its bell", "bell": "by its bell", "off": "never"}
    said = f"Notifications: {now} ({words[now]})."
    if wanted in MANNERS:
        app.say(said)
    else:
        app.say(f"{said} /notify auto, bell or off.")
