"""Actions on the git worktree of a session: making, reading, merging, keeping, removing one."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from amplifier_tui.base.text import one_line
from amplifier_tui.ui.app.session_app import in_open_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from amplifier_tui.host.client import SessionClient, WorktreeCard, WorktreeMerge
    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.session.link import SessionLink
    from amplifier_tui.ui.state.session import SessionState

T = TypeVar("T")

_LONGEST_NAME: Final = 60
_CLOSE_SECONDS: Final = 5.0
_REMOVES: Final = frozenset({*("clean", "delete", "discard", "drop", "prune", "rm")})
_NO_NAMES: Final = _REMOVES | {*("add", "close", "commit", "help", "list", "new", "status")}
"""What is said by who looks for a command, and is no name of a branch."""
_DOES: Final = {"merge": "is merged", "leave": "is left", "remove": "goes"}
"""What is done to a worktree in which nothing may run."""


@in_open_session
def worktree(app: SessionApp, client: SessionClient, state: SessionState, words: str = "") -> None:
    """Open a session in a git worktree of its own, or do something with the one on screen's."""
    words = words.removeprefix("/worktree").strip()
    first, *rest = words.split() or [""]
    if words in _NO_NAMES:
        hint = ": remove does that" if words in _REMOVES else ", only diff, merge, leave and remove"
        app.say(f"There is no /worktree {words}{hint}.", "warning")
    elif rest and first in ("diff", *_DOES):
        there = "in that worktree's session: /worktree NAME opens it"
        app.say(f"Type /worktree {first} alone, {there}.", "warning")
    elif words == "diff":
        show = partial(_show_diff, app, client, state.facts.branch)
        app.run_worker(_answered(app, client.worktree_diff(), show))
    elif words in _DOES and _is_busy(app, state, words):
        return
    elif words == "leave":
        app.run_worker(_answered(app, client.worktree(), partial(_leave, app, client)))
    elif words == "merge":
        app.run_worker(_answered(app, client.worktree(), partial(_merge, app, client)))
    elif words == "remove":
        app.run_worker(_answered(app, client.worktree(), partial(_ask_to_remove, app, client)))
    elif words:
        app.run_worker(_answered(app, client.make_worktree(words), partial(_open, app, state)))
    else:
        from amplifier_tui.ui.dialogs.questions import AskLine

        about = (
            "A session beside this one, on a branch and in a folder of that name. In it: diff "
            "shows what it changed, merge brings that back, leave or remove ends it."
        )
        question = AskLine("Worktree", "", _LONGEST_NAME, about=about, verb="Make it")
        app.ask(question, lambda name: worktree(app, name) if name.strip() else None)


async def _answered(app: SessionApp, asked: Future[T], then: Callable[[T], None]) -> None:
    try:
        card = await asyncio.wrap_future(asked)
    except Exception as error:
        # What git says, or the disk.
        reason = getattr(error, "strerror", None) or error
        app.say(f"{one_line(str(reason), 500)}.", "warning")
    else:
        then(card)


def _show_diff(app: SessionApp, client: SessionClient, branch: str, diff: str) -> None:
    if not diff:
        app.say("Nothing was changed in this worktree.")
        return
    from amplifier_tui.ui.dialogs.approval_words import diff_rows
    from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet

    async def show() -> None:
        rows = await asyncio.to_thread(diff_rows, diff)
        app.push_screen(DiffSheet(branch, diff, client, app.keymap, rows=rows))

    app.run_worker(show(), group="diff", exclusive=True)


def _merge(app: SessionApp, client: SessionClient, card: WorktreeCard) -> None:
    others = [link.tab.state for link in app.tabs.links] if app.tabs is not None else []
    for state in others:
        if state.activity.work and Path(state.facts.cwd).is_relative_to(card.original):
            app.say(
                f"A session works in {one_line(card.original, 200)}: let it end first.", "warning"
            )
            return

    def merged(done: WorktreeMerge) -> None:
        many = "1 commit" if done.commits == 1 else f"{done.commits} commits"
        how = f", with the merge commit {done.commit[:9]}" if done.commit else ""
        into = f"{one_line(done.into, 80)} of {one_line(done.original, 200)}"
        said = f"{many} of {one_line(done.branch, 80)} went into {into}{how}."
        if done.submodules:
            named = one_line(", ".join(done.submodules), 200)
            said += f" git submodule update brings {named} there to what it names now."
        app.say(said)

    app.run_worker(_answered(app, client.merge_worktree(), merged))


def _open(app: SessionApp, state: SessionState, card: WorktreeCard) -> None:
    from amplifier_tui.host.client import OpenRequest

    tabs = app.tabs
    if tabs is None:
        return
    # Git may have taken its time: what is done by now goes on where it was begun.
    show = app.state is state and app.screen is app.main and not app.main.prompt.input.text
    inside = (each for each in tabs.links if _is_in(each.tab.state, card))
    link = next(inside, None) if card.found else None
    if link is None:
        request = OpenRequest(cwd=Path(card.cwd), bundle=state.facts.bundle, mode=app.first_mode)
        if not tabs.open_beside(request, show=show):
            return
        link = tabs.links[-1]
    elif show:
        tabs.show(link)
    already = " already" if card.found else ""
    stayed = f" What is not committed stayed in {one_line(card.original, 200)}."
    where = "" if show else f" It is session {tabs.links.index(link) + 1} here."
    app.say(
        f"{_named(card)}{already}: /worktree diff, /worktree merge."
        f"{'' if card.found else stayed}{where}"
    )


def _is_in(state: SessionState, card: WorktreeCard) -> bool:
    return Path(state.facts.cwd).is_relative_to(card.path)


def _is_busy(app: SessionApp, state: SessionState, words: str) -> bool:
    """Say that something runs in the session; in the background it goes on after a merge."""
    if not (state.activity.work if words == "merge" else state.work):
        return False
    does = _DOES[words]
    app.say(f"Something runs in this session: stop it before its worktree {does}.", "warning")
    return True


def _leave(app: SessionApp, client: SessionClient, card: WorktreeCard) -> None:
    from amplifier_tui.ui.app.quitting import close_saved

    link = _link_of(app, client)
    # Git may have taken its time: something may have been begun in it.
    if link is None or _is_busy(app, link.tab.state, "leave"):
        return
    work = f", with {card.work}" if card.work else ""
    said = f"{_named(card)}{work}. It stays there."
    close_saved(app, [link], "Leave it", lambda: app.run_worker(_end(app, client, card, said)))


def _link_of(app: SessionApp, client: SessionClient) -> SessionLink | None:
    links = app.tabs.links if app.tabs is not None else []
    return next((each for each in links if each.tab.client is client), None)


async def _end(app: SessionApp, client: SessionClient, card: WorktreeCard, said: str) -> None:
    """Close the session of a worktree; the only one goes on in the checkout."""
    from amplifier_tui.host.client import OpenRequest

    tabs, link = app.tabs, _link_of(app, client)
    if tabs is None or link is None:
        return
    if len(tabs.links) > 1:
        await tabs.close(link, _CLOSE_SECONDS)
    elif card.original:
        bundle = link.tab.state.facts.bundle
        request = OpenRequest(cwd=Path(card.original), bundle=bundle, mode=app.first_mode)
        client.open(request)
    # In the session that is on screen from now on.
    app.say(said)


def _ask_to_remove(app: SessionApp, client: SessionClient, card: WorktreeCard) -> None:
    if card.work:
        steps = []
        if card.below:
            fetch = (
                f" or fetch from them in {one_line(card.original, 200)}" if card.original else ""
            )
            steps.append(f"commit in its submodules and push{fetch}")
        if card.changes or card.commits:
            steps.append(f"commit and merge {one_line(card.branch, 80)}")
        app.say(f"It stays, as it has {card.work}. First {', then '.join(steps)}.", "warning")
        return
    if app.tabs is None:
        return
    from amplifier_tui.ui.dialogs.questions import Confirm

    question = f"Remove the worktree {one_line(card.path, 200)}? All work in it is elsewhere too"
    if card.ignored:
        question += f", but for {card.ignored} files that git ignores"
    link = app.tabs.shown
    if any(_is_in(each.tab.state, card) for each in app.tabs.links if each is not link):
        app.say("Another session of this window works in it: close that one first.", "warning")
        return

    from amplifier_tui.ui.state.open_sessions import is_empty

    def removed(card: WorktreeCard) -> None:
        said = f"The worktree {one_line(card.path, 200)} is removed."
        if not is_empty(link.tab.state):
            way = app.keymap.way_to("session.sessions")
            said += f" {way} copies its session into this folder; ctrl+t shows all folders there."
        app.run_worker(_end(app, client, card, said))

    def answered(yes: bool) -> None:
        if yes:
            app.run_worker(_answered(app, client.remove_worktree(), removed))

    app.ask(Confirm(f"{question}.", "Remove it"), answered, link.tab.state)


def _named(card: WorktreeCard) -> str:
    return f"Branch {one_line(card.branch, 80)} is in {one_line(card.path, 200)}"
