"""Actions that make a provider ready: a pasted key, a model server on this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amplifier_tui.paths import amplifier_home
from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.host.events import LocalServer
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_KEY_LENGTH = 4_000
_NOT_LOOKED = (
    "/bundle local asks the server at LOCAL_LLM_BASE_URL. "
    "Others are looked for where no provider is ready."
)
_A_KEYS_NAME = re.compile(r"(?=.*(?:KEY|TOKEN))[A-Z][A-Z0-9_]*")


@in_open_session
def paste_key(
    app: SessionApp, client: SessionClient, state: SessionState, variable: str = ""
) -> None:
    """Ask for the API key of a provider that lacks a good one, or for `variable`; have it tried."""
    named = variable.strip()
    if named:
        if _A_KEYS_NAME.fullmatch(named):
            _ask_for(app, client, named)
        else:
            # It may be the key itself: it is not said again.
            app.say("Say a key's variable, such as /key OPENAI_API_KEY.", "warning")
        return
    # Those that are not used for want of a key are no mistake: the others come first.
    spare = (name for item in state.modules.report for name in item.missing)
    missing = _keys(state.conversation.missing) or _keys(spare)
    if not missing:
        app.say("No key is missing. /key and its variable replaces one.")
    elif len(missing) == 1:
        _ask_for(app, client, missing[0])
    else:
        from amplifier_tui.ui.dialogs.pickers import KeyPicker

        picker = KeyPicker(missing)
        app.ask(picker, lambda name: _ask_for(app, client, name, picker.pasted))


def _keys(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if "KEY" in name or "TOKEN" in name]


def _ask_for(app: SessionApp, client: SessionClient, name: str, pasted: str = "") -> None:
    from amplifier_tui.ui.dialogs.questions import AskLine

    def given(key: str) -> None:
        app.say("Trying the key with one small request…")
        client.set_up({name: key})

    about = (
        "It is tried with one small request. If that is answered, it is kept in "
        f"{amplifier_home() / 'keys.env'}, readable by you alone."
    )
    # Who pastes a key after this was closed has it in the prompt, and sends it.
    needed = "Nothing was entered yet. Paste the key here, or close this with esc."
    line = AskLine(name, pasted, limit=_KEY_LENGTH, about=about, masked=True, needed=needed)
    app.ask(line, given)


@in_open_session
def use_local(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """Open the bundle for local models with a server that was found."""
    servers = {server.name: server for server in state.conversation.servers}
    if not servers:
        app.say(state.conversation.no_server or _NOT_LOOKED)
    elif len(servers) == 1:
        _use(app, client, next(iter(servers.values())))
    else:
        from amplifier_tui.ui.dialogs.pickers import ServerPicker

        picker = ServerPicker(list(servers))
        app.ask(picker, lambda name: _use(app, client, servers[name]))


def _use(app: SessionApp, client: SessionClient, server: LocalServer) -> None:
    app.say(f"Asking {server.models[0]} of {server.name}…")
    variables = {"LOCAL_LLM_BASE_URL": server.url, "LOCAL_LLM_MODEL": server.models[0]}
    client.set_up(variables, "local")
