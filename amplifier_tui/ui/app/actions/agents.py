"""Actions on the session's agents: looking at one, telling it something, stopping it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.conversation.entries import LaneEntry
    from amplifier_tui.ui.state.session import SessionState


@in_open_session
def show(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Show the agents, or the conversation of one."""
    if name:
        _with_agent(app, state, name, lambda entry: app.main.open_agent(entry.lane))
    elif not state.lanes.by_lane:
        app.say("No agent has worked in this session.")
    elif app.main.agents is not None:
        app.main.agents.begin()


@in_open_session
def tell(app: SessionApp, client: SessionClient, state: SessionState, words: str = "") -> None:
    """Tell an agent something; without words, write it where it is read."""
    name, _, text = words.strip().partition(" ")
    if not text:
        # The prompt below an agent's conversation is for that agent.
        _with_agent(app, state, name, lambda entry: app.main.open_agent(entry.lane))
        if len(state.lanes.running()) > 1 and app.main.agent_view is None:
            app.say("Choose the agent with enter: the prompt is for it then.")
        return

    def told(entry: LaneEntry) -> None:
        if entry.running:
            client.tell_agent(entry.lane, text.strip())
        else:
            app.say(f"{entry.name} has ended: ask for more in the main conversation.", "warning")

    _with_agent(app, state, name, told)


@in_open_session
def stop(app: SessionApp, client: SessionClient, state: SessionState, name: str = "") -> None:
    """Stop an agent after its step; asked again, at once."""

    def stopped(entry: LaneEntry) -> None:
        if not entry.running:
            app.say(f"{entry.name} has ended.")
            return
        client.stop_agent(entry.lane, state.lanes.stopping(entry.lane))
        app.main.show(state.apply([]))

    _with_agent(app, state, name, stopped)


def tell_opened(app: SessionApp, text: str) -> bool:
    """Tell the agent whose conversation is open something; False when it is the main one."""
    view, state = app.main.agent_view, app.state
    entry = state.lanes.by_lane.get(view.lane) if view is not None and state is not None else None
    if entry is None or app.client is None:
        return False
    if entry.running:
        app.client.tell_agent(entry.lane, text)
    else:
        app.main.prompt.restore(text)
        app.say(f"{entry.name} has ended: go back to ask for more.", "warning")
    return True


def _with_agent(
    app: SessionApp, state: SessionState, name: str, act: Callable[[LaneEntry], None]
) -> None:
    """Do something with the agent of a name; without one, with that which must be meant.

    Where several can be meant, they are listed.
    """
    lanes, view = state.lanes, app.main.agent_view
    running = lanes.running()
    found = lanes.by_lane.get(name) or lanes.find(name)
    if not name:
        found = lanes.by_lane.get(view.lane) if view is not None else None
        found = found or (running[0] if len(running) == 1 else None)
    if found is not None:
        act(found)
    elif not lanes.by_lane:
        app.say("No agent has worked in this session.", "warning")
    elif name:
        known = ", ".join(entry.name for entry in running or lanes.by_lane.values())
        app.say(f"There is no agent {name}: {known}.", "warning")
    elif running:
        show(app)
    else:
        app.say("No agent is working.", "warning")
