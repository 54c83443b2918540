"""Actions on the modules of the session: mount, unmount, reload, switch off and on, configure."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import ModuleDetails, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_REPLACES = "A part of its value is a secret and not shown: what you write here replaces all of it."


@in_open_session
def mount(app: SessionApp, client: SessionClient, state: SessionState, wanted: str = "") -> None:
    """Mount a module; without one, ask which."""
    if wanted:
        client.mount(wanted.strip())
        return
    from amplifier_tui.ui.dialogs.questions import AskLine

    app.ask(AskLine("Mount (an id or a folder)", limit=4_096, verb="Mount"), client.mount, state)


@in_open_session
def reload(app: SessionApp, client: SessionClient, state: SessionState, key: str = "") -> None:
    """Run a module's source anew."""
    _with_module(app, state, key, "Reload", client.reload)


@in_open_session
def unmount(app: SessionApp, client: SessionClient, state: SessionState, key: str = "") -> None:
    """Take a module out of the session."""
    _with_module(app, state, key, "Unmount", client.unmount)


@in_open_session
def switch(app: SessionApp, client: SessionClient, state: SessionState, key: str = "") -> None:
    """Switch a module off, or on again; what waits for the turn to end is taken back."""

    def chosen(found: str) -> None:
        info = state.modules.by_key.get(found)
        will_be_off = info is not None and (
            info.change == "switched off" or (info.state == "off" and not info.change)
        )
        client.switch_module(found, on=will_be_off)

    _with_module(app, state, key, "Switch", chosen)


@in_open_session
def configure(app: SessionApp, client: SessionClient, state: SessionState, line: str = "") -> None:
    """Change a setting of a module: `id setting value`, as far as it is given."""
    key, _, rest = line.strip().partition(" ")
    setting, _, value = rest.strip().partition(" ")
    if value:
        client.configure(key, setting, value.strip())
        return

    def chosen(found: str) -> None:
        worker = _choose_setting(app, client, state, found, setting)
        app.run_worker(worker, group="module-details", exclusive=True)

    _with_module(app, state, key, "Configure", chosen)


async def _choose_setting(
    app: SessionApp, client: SessionClient, state: SessionState, key: str, setting: str = ""
) -> None:
    """Ask which setting gets which value."""
    details = await _details(app, client, key)
    if details is None:
        return
    editable = {each.name: each for each in details.settings if each.editable}
    if not editable:
        read = f"Settings of {one_line(key)} are read when it is opened"
        app.say(f"{read}: change them in the bundle, then /new.", "warning")
        return
    from amplifier_tui.ui.dialogs.modules.pickers import SettingPicker
    from amplifier_tui.ui.dialogs.questions import AskLine

    def named(name: str) -> None:
        known = editable[name]
        # What has no value is begun anew: `null` would become a part of it.
        value = "" if known.redacted or known.value == "null" else known.value
        ask(name, value, _REPLACES if known.redacted else "")

    def ask(name: str, value: str, about: str) -> None:
        def given(wanted: str) -> None:
            app.run_worker(taken(name, wanted), group="module-details", exclusive=True)

        label = f"{one_line(name)} of {one_line(key)}"
        app.ask(AskLine(label, value, limit=4_096, about=about), given, state)

    async def taken(name: str, wanted: str) -> None:
        try:
            problem = await asyncio.wrap_future(client.setting_problem(key, name, wanted))
        except Exception as error:
            # Whatever the host could not do is said where the value is written.
            problem = str(error)
        if problem:
            ask(name, wanted, one_line(problem, 300))
        else:
            client.configure(key, name, wanted)

    if setting in editable:
        named(setting)
    else:
        app.ask(SettingPicker(tuple(editable.values())), named, state)


@in_open_session
def describe(app: SessionApp, client: SessionClient, state: SessionState, key: str) -> None:
    """Ask for the details of a module, for the pane to show."""
    module = state.modules.by_key.get(key)
    # What the session was opened without is no module of it: the pane says all there is.
    if module is None or module.state != "noted":
        app.run_worker(_describe(app, client, state, key), group="module-details")


async def _describe(app: SessionApp, client: SessionClient, state: SessionState, key: str) -> None:
    details = await _details(app, client, key)
    if details is not None:
        state.modules.describe(details)
        app.main.show([])


async def _details(app: SessionApp, client: SessionClient, key: str) -> ModuleDetails | None:
    try:
        return await asyncio.wrap_future(client.module_details(key))
    except Exception as error:
        app.say(f"{one_line(key)} cannot be described: {one_line(str(error))}", "warning")
        return None


def _with_module(
    app: SessionApp, state: SessionState, key: str, what: str, then: Callable[[str], None]
) -> None:
    """Do something with a module; where none is named, the user chooses one."""
    if key:
        module = state.modules.by_key.get(key.strip())
        if module is not None and module.state == "noted":
            name, why = one_line(key), one_line(module.error).rstrip(".")
            app.say(f"{name} is no part of this session: {why}.", "warning")
        else:
            then(key.strip())
        return
    from amplifier_tui.ui.dialogs.modules.pickers import ModulePicker

    app.ask(ModulePicker(state.modules.ordered(), what), then, state)


@in_open_session
def mcp_servers(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Show the MCP servers: how it stands with them, their log; restart them."""
    from amplifier_tui.base.capabilities import mcp
    from amplifier_tui.ui.dialogs.modules.mcp_servers import ServerList

    title = f"{mcp.TITLE} · "
    refused = [
        item.what.removeprefix(title)
        for item in state.modules.report
        if item.kind == "refused" and item.what.startswith(title)
    ]
    unread = [item for item in state.modules.report if item.what.startswith(mcp.OF_FILE)]
    app.ask(ServerList(client, app.keymap, refused, unread), lambda _: None, state)
