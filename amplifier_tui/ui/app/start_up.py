"""What is read from the user's files once the first frame is out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amplifier_tui.paths import user_config_dir
from amplifier_tui.ui.app.themes import Roles, load_all
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.keys.keymap_file import load_keymap

if TYPE_CHECKING:
    from amplifier_tui.ui.app.app import AmplifierApp


async def load_keys(app: AmplifierApp) -> None:
    """Read keymap and prompt history in a thread and put them in force."""
    use_keymap(app, await asyncio.to_thread(load_keymap, user_config_dir() / "keymap.toml"))
    app.history.merge(await asyncio.to_thread(app.history.load))


async def load_themes(app: AmplifierApp) -> None:
    """Read every theme file in a thread and make the themes known."""
    themes, errors = await asyncio.to_thread(load_all)
    use_themes(app, themes, errors)


def use_themes(app: AmplifierApp, themes: list[Roles], errors: list[str]) -> None:
    """Make the themes known; the one in force is shown as its file says now."""
    app.theme_errors = errors
    for roles in themes:
        changed = roles["name"] == app.theme and roles != app.themes.get(roles["name"])
        app.add_theme(roles)
        if changed:
            # Setting the same name again would be taken for no change.
            app.theme = "textual-dark"
            app.choose_theme(roles["name"])
    for error in errors:
        app.say(error, "warning")


def use_keymap(app: AmplifierApp, keymap: Keymap) -> None:
    """Put the user's keys in force and say which entries were refused."""
    app.keymap = keymap
    app.set_keymap(
        {action_id: keys or f"unbound-{action_id}" for action_id, keys in keymap.keys.items()}
    )
    app.main.use_keymap(keymap)
    for error in keymap.errors:
        app.say(error, "warning")
