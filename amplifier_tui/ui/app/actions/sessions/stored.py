"""Actions on stored sessions: resuming, searching, copying into a folder."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.actions.sessions.beside import resume, resume_all
from amplifier_tui.ui.app.quitting import leave_saved
from amplifier_tui.ui.app.session_app import in_session

if TYPE_CHECKING:
    from amplifier_tui.host.client import SearchHit, SessionCard, SessionClient
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.state.session import SessionState

_FOLDER_LENGTH = 2_000


@in_session
def sessions(
    app: SessionApp, client: SessionClient, state: SessionState, session_id: str = ""
) -> None:
    """Resume a session, or open the picker."""
    if session_id:
        resume(app, session_id)
    else:
        _choose(app, client, state)


@in_session
def resume_beside(
    app: SessionApp, client: SessionClient, state: SessionState, session_id: str = ""
) -> None:
    """Resume a session beside the one on screen, or choose which."""
    if session_id:
        resume(app, session_id, beside=True)
    else:
        _choose(app, client, state, beside=True)


def _choose(
    app: SessionApp, client: SessionClient, state: SessionState, *, beside: bool = False
) -> None:
    """Open the list of sessions, and what is chosen there."""
    from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker

    links = app.tabs.links if app.tabs is not None else ()
    open_now = {link.tab.state.facts.session_id for link in links}
    picker = SessionPicker(client, open_now, app.keymap, lambda found: app.copy(found, "id"))

    def chosen(what: str) -> None:
        card = picker.chosen
        if card is None:
            return
        here = picker.found.cwd
        shows = what == "resume" and card.session_id in open_now
        if shows or (card.cwd and card.cwd == here):
            if what == "resume":
                resume(app, card.session_id, beside=beside)
            else:
                client.copy_session(card.key)
        else:
            _choose_folder(app, client, card, here, copy=what == "copy")

    app.ask(picker, chosen)


@in_session
def imported(app: SessionApp, client: SessionClient, state: SessionState, key: str = "") -> None:
    """Read a session of another program, to go on from it; without its id, list them."""
    if key:
        app.run_worker(_read(app, client, key))
        return
    from amplifier_tui.ui.dialogs.sessions.imported import ImportPicker

    def chosen(key: str) -> None:
        app.run_worker(_read(app, client, key))

    app.ask(ImportPicker(client.imported), chosen)


async def _read(app: SessionApp, client: SessionClient, key: str) -> None:
    from amplifier_tui.ui.dialogs.sessions.imported import ImportedSheet

    try:
        found = await asyncio.wrap_future(client.read_imported(key))
    except Exception as error:
        # Whatever stands in a file of another program.
        app.say(f"It can't be read: {one_line(str(error), 300)}", "warning")
        return
    app.ask(ImportedSheet(found, client, app.main.keymap), client.fork_imported)


@in_session
def search(app: SessionApp, client: SessionClient, state: SessionState, words: str = "") -> None:
    """Look for words in all stored sessions, and open one at the place."""
    from amplifier_tui.ui.dialogs.sessions.search import SearchPicker

    picker = SearchPicker(client.search, words)

    def chosen(_: str) -> None:
        hit = picker.chosen
        if hit is None or app.link is None:
            return
        if hit.card.origin:
            app.run_worker(_read(app, client, hit.card.key))
            return
        if hit.card.session_id == state.facts.session_id or _is_there(hit.card.cwd):
            _show_hit(app, hit)
        else:
            _choose_folder(app, client, hit.card, str(app.cwd))

    app.ask(picker, chosen)


@in_session
def left_open(app: SessionApp, client: SessionClient, state: SessionState) -> None:
    """List the sessions that were open when the program was killed."""
    from amplifier_tui.ui.dialogs.sessions.left_open import ALL, LeftOpenPicker

    app.main.say_left_open("")
    picker = LeftOpenPicker(client.left_open, client.dismiss_left_open, str(app.cwd))

    def chosen(session_id: str) -> None:
        if session_id == ALL:
            cards = [*picker.cards.values()]
            resume_all(app, [card for card in cards if _is_there(card.cwd)])
            for card in cards:
                if not _is_there(card.cwd):
                    app.say(f"Its folder is gone: {one_line(card.cwd, 200)}", "warning")
            return
        card = picker.cards[session_id]
        if _is_there(card.cwd):
            resume(app, session_id, card.cwd)
        else:
            _choose_folder(app, client, card, str(app.cwd))

    app.ask(picker, chosen)


def _show_hit(app: SessionApp, hit: SearchHit) -> None:
    """Show what a search found; beside the session on screen where something runs in that."""
    if app.tabs is None:
        return
    session_id, shown = hit.card.session_id, app.tabs.shown
    link = app.tabs.find(session_id)
    if link is None:
        link = app.tabs.add_beside() if shown.tab.state.work else shown
    if link is None:
        return
    app.tabs.show(link)
    if link.tab.state.facts.session_id == session_id:
        link.hits.open(hit)
    else:
        leave_saved(app, partial(link.hits.open, hit))


def _choose_folder(
    app: SessionApp, client: SessionClient, card: SessionCard, here: str, *, copy: bool = False
) -> None:
    """Ask where to go on with a session of another folder, and do so."""
    from pathlib import Path

    from amplifier_tui.ui.dialogs.questions import AskLine
    from amplifier_tui.ui.dialogs.sessions.where import WhereSheet

    def into(typed: str) -> None:
        folder = Path(typed).expanduser() if typed.startswith("~/") else Path(here, typed)
        if _is_there(str(folder)):
            client.copy_session(card.key, folder)
        else:
            app.say(f"There is no folder {one_line(str(folder), 200)}", "warning")

    def chosen(where: str) -> None:
        if where == "other":
            about = f"Relative to {one_line(here, 200)}, or whole."
            app.ask(AskLine("Folder", "", _FOLDER_LENGTH, about=about, verb="Copy it there"), into)
        elif where == "here":
            client.copy_session(card.key, Path(here))
        elif copy:
            client.copy_session(card.key)
        else:
            resume(app, card.session_id, card.cwd)

    app.ask(WhereSheet(card.cwd, here, gone=not _is_there(card.cwd), copy=copy), chosen)


def _is_there(folder: str) -> bool:
    """Whether a folder is there; not where it can't be looked at."""
    from os.path import isdir

    # Not `Path.is_dir`, which raises where a name is too long or a folder above it is closed.
    return bool(folder) and isdir(folder)
