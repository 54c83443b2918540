"""`amplifier-tui sessions`: the stored sessions of a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from amplifier_tui.cli import imported

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amplifier_tui.host.client import SearchHit, SessionCard, SessionDetails
    from amplifier_tui.host.imported_cards import OriginName
    from amplifier_tui.host.requests import ExportForm

T = TypeVar("T")

_cwd = click.option("--cwd", metavar="DIR", default=".", help="Those of another directory.")
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
_session = click.argument("session")
_ABOUT = 2_000


@click.group(invoke_without_command=True)
@_cwd
@_json
@click.pass_context
def sessions(context: click.Context, cwd: str, as_json: bool) -> None:
    """Look at the sessions of this directory, search, name, tag, copy, delete and export them.

    SESSION is an id, the beginning of one, or `last`. Without a command they are listed.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_sessions, cwd=cwd, as_json=as_json)
        return
    given = {"cwd": cwd, "as_json": as_json}
    context.default_map = dict.fromkeys(sessions.commands, given)


@sessions.command("list", short_help="List the sessions.")
@click.argument("words", nargs=-1)
@click.option("--all", "everywhere", is_flag=True, help="Those of all directories.")
@click.option("--most", type=click.IntRange(1), default=500, help="Sessions; 500 else.")
@click.option("--deleted", is_flag=True, help="Those in the bin.")
@click.option(
    "--origin", type=click.Choice([*imported.ORIGINS, "all"]), help="Those of other programs."
)
@_cwd
@_json
def list_sessions(
    words: tuple[str, ...],
    everywhere: bool,
    most: int,
    deleted: bool,
    origin: OriginName | Literal["all"] | None,
    cwd: str,
    as_json: bool,
) -> None:
    """List the sessions of this directory, pinned ones first, then the newest.

    All WORDS must be in a session's title, tags, first prompt, bundle, folder, branch or id;
    `bundle:`, `model:`, `tag:`, `folder:` and `branch:` look at that alone. `before:` and `after:`
    take a date or an age such as 7d, `cost:` dollars such as ">2".

    With --origin, the sessions of Claude Code and Codex are listed: to be read and forked, never
    changed. `import: off` in the user's settings.yaml hides them.
    """
    if origin:
        where = None if everywhere else _folder(cwd)
        imported.list_them(where, " ".join(words), None if origin == "all" else origin, as_json)
        return
    from amplifier_tui.host.store.bin import list_deleted
    from amplifier_tui.host.store.listing.listing import list_now
    from amplifier_tui.host.stored_cards import SessionList

    folder = _folder(cwd)
    if deleted:
        cards = list_deleted(folder)
        found = SessionList(cards=cards, matching=len(cards))
    else:
        found = list_now(" ".join(words), folder, here=not everywhere, most=most)
    if found.problem:
        click.echo(found.problem, err=True)
    if as_json:
        for card in found.cards:
            _say_json(_fields(card))
        return
    for card in found.cards:
        click.echo(_line(card))
    if not found.cards:
        what = "No session matches." if words else "No session was stored here."
        click.echo("The bin is empty." if deleted else what)
    left_out = [f"{count:,} {why}" for count, why in found.hidden()]
    if found.matching > len(found.cards):
        left_out.insert(0, f"{found.matching - len(found.cards):,} older ones (--most)")
    if left_out:
        click.echo(f"\nNot listed: {', '.join(left_out)}")
    if found.cards:
        again = "Take one out with: amplifier-tui sessions restore ID"
        click.echo(f"\n{again if deleted else 'Resume one with: amplifier-tui --resume ID'}")


@sessions.command(short_help="Show one session.")
@_session
@_cwd
@_json
def show(session: str, cwd: str, as_json: bool) -> None:
    """Show what is known of SESSION, and what was said last; of another program, all of it."""
    if imported.is_imported(session):
        _done(lambda: imported.show(session, as_json))
        return
    from amplifier_tui.base.text import clean, one_line
    from amplifier_tui.cli.layout import table
    from amplifier_tui.host.store.listing.details import details_of
    from amplifier_tui.ui.state.formats import money

    folder = _found(cwd, session)
    details = _done(lambda: details_of(folder))
    card = details.card
    if as_json:
        known = _fields(details)
        _say_json({**known.pop("card"), **known})
        return
    click.echo(one_line(card.title or card.first_prompt, 200) or "(empty)")
    facts = {
        "id": card.session_id,
        "about": card.description,
        "tags": " ".join(card.tags),
        "bundle": card.bundle,
        "model": card.model,
        "created": details.created,
        "turns": str(card.turns),
        "cost": money(card.cost),
        "agents": " ".join(details.agents),
        "taken from": details.parent_id,
        "folder": card.cwd,
        "branch": card.branch,
        "stored in": card.directory,
    }
    for line in table([(name, value) for name, value in facts.items() if value], indent=2):
        click.echo(line)
    for mark, text in (("› ", details.prompt), ("", details.answer)):
        if text:
            click.echo(f"\n{mark}{clean(text)[:_ABOUT]}")


@sessions.command(short_help="Find words in all sessions.")
@click.argument("words", nargs=-1, required=True)
@click.option("--here", is_flag=True, help="Only in sessions of this directory.")
@click.option("--most", type=click.IntRange(1, 1_000), default=100, help="Hits; 100 else.")
@_cwd
@_json
def search(words: tuple[str, ...], here: bool, most: int, cwd: str, as_json: bool) -> None:
    """Find WORDS in titles, prompts, answers and tool calls of all sessions, the newest first.

    All of them must be there; the last may be the beginning of a word. Quote what belongs
    together: '"like this"'.
    """
    from amplifier_tui.host.store.search.finding import search_now

    folder = _folder(cwd) if here else None
    found = _done(lambda: search_now(" ".join(words), folder, most))
    if found.problem:
        click.echo(found.problem, err=True)
    for hit in found.hits:
        if as_json:
            _say_json(_fields(hit))
        else:
            click.echo(f"{_line(hit.card)}\n    {hit.kind}: {hit.text}")
    if found.more and not as_json:
        click.echo("\nThere is more: add words, or --most.")
    elif not found.hits and not as_json:
        click.echo("Nothing was found.")


@sessions.command(short_help="Give a session a title.")
@_session
@click.argument("title")
@_cwd
@_json
def rename(session: str, title: str, cwd: str, as_json: bool) -> None:
    """Give SESSION a TITLE; an empty one takes it away."""
    from amplifier_tui.host.store.listing.changes import set_title

    folder = _found(cwd, session)
    _done(lambda: set_title(folder, title, _warn))
    _say_card(folder, as_json)


@sessions.command(short_help="Tag a session.")
@_session
@click.argument("tags", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Take these tags away.")
@_cwd
@_json
def tag(session: str, tags: tuple[str, ...], remove: bool, cwd: str, as_json: bool) -> None:
    """Give SESSION each of TAGS."""
    from amplifier_tui.host.store.listing.changes import set_tags

    folder = _found(cwd, session)
    add, gone = ((), tags) if remove else (tags, ())
    _done(lambda: set_tags(folder, add, gone, _warn))
    _say_card(folder, as_json)


@sessions.command(short_help="List a session before the others.")
@_session
@click.option("--remove", is_flag=True, help="Pin it no more.")
@_cwd
@_json
def pin(session: str, remove: bool, cwd: str, as_json: bool) -> None:
    """List SESSION before the others."""
    from amplifier_tui.host.store.listing.pins import pin

    folder = _found(cwd, session)
    _done(lambda: pin(folder.name, on=not remove))
    _say_card(folder, as_json)


@sessions.command(short_help="Put sessions into the bin.")
@click.argument("session", nargs=-1, required=True)
@_cwd
@_json
def delete(session: tuple[str, ...], cwd: str, as_json: bool) -> None:
    """Put each SESSION, and what its agents did, into the bin."""
    from functools import partial

    from amplifier_tui.host.store.bin import delete_session

    for folder in [_found(cwd, each) for each in session]:
        _done(partial(delete_session, folder))
        if as_json:
            _say_json({"session_id": folder.name, "deleted": True})
        else:
            undo = f"`amplifier-tui sessions restore {folder.name[:8]}` takes it out"
            click.echo(f"{folder.name} is in the bin; {undo}")


@sessions.command(short_help="Take a session out of the bin.")
@_session
@_cwd
@_json
def restore(session: str, cwd: str, as_json: bool) -> None:
    """Take SESSION, or the `last` one that was deleted, out of the bin."""
    from amplifier_tui.host.store.bin import restore_session

    _say_card(_done(lambda: restore_session(_folder(cwd), session)), as_json)


@sessions.command(short_help="Copy a session.")
@_session
@click.option("--at", "turn", type=click.IntRange(1), help="Only what came before this turn.")
@_cwd
@_json
def fork(session: str, turn: int | None, cwd: str, as_json: bool) -> None:
    """Copy the conversation of SESSION into a new one, which can be resumed.

    One of another program, such as codex:5973b6c0, goes into a session of this directory, whole.
    """
    from amplifier_tui.host.session.carrying import fork_stored

    if imported.is_imported(session):
        if turn is not None:
            raise click.BadParameter("it is forked whole", param_hint="--at")
        card = _card(_done(lambda: imported.fork(session, _folder(cwd))))
    else:
        folder = _found(cwd, session)
        card = _card(_done(lambda: fork_stored(folder, turn)))
    if as_json:
        _say_json(_fields(card))
    else:
        click.echo(_line(card))
        click.echo(f"Resume it with: amplifier-tui --resume {card.session_id[:8]}")


@sessions.command("empty-bin", short_help="Remove deleted sessions for good.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_cwd
@_json
def empty(yes: bool, cwd: str, as_json: bool) -> None:
    """Remove the deleted sessions of this directory for good."""
    from amplifier_tui.host.store.bin import empty_bin, list_deleted
    from amplifier_tui.ui.state.formats import plural

    folder = _folder(cwd)
    count = len(list_deleted(folder))
    if count and not yes:
        click.confirm(f"Remove {plural(count, 'session')} for good?", abort=True, err=True)
    removed = _done(lambda: empty_bin(folder))
    if as_json:
        _say_json({"removed": removed})
    else:
        click.echo(f"Removed {plural(removed, 'session')}.")


@sessions.command(short_help="Write a session as Markdown, JSON or HTML, or its events.")
@_session
@click.option(
    "--form",
    type=click.Choice(["markdown", "html", "json", "jsonl", "csv"]),
    help="jsonl and csv are the event log. Without it, what the file's name says; else markdown.",
)
@click.option("--output", metavar="FILE", default="", help="Where to; else it is printed.")
@click.option("--replace", is_flag=True, help="Replace the file that is there.")
@click.option("--from", "from_turn", type=click.IntRange(1), default=1, help="The first turn.")
@click.option("--no-tools", is_flag=True, help="Without what tools gave back.")
@click.option("--thinking", is_flag=True, help="With the model's reasoning.")
@click.option("--filter", "events", default="", help="Of the event log, such as 'tool:* >100ms'.")
@_cwd
@_json
def export(
    session: str,
    form: ExportForm | None,
    output: str,
    replace: bool,
    from_turn: int,
    no_tools: bool,
    thinking: bool,
    events: str,
    cwd: str,
    as_json: bool,
) -> None:
    """Write SESSION, or its event log, without secrets."""
    from amplifier_tui.cli.exporting import write_session
    from amplifier_tui.host.requests import ExportRequest, form_of

    request = ExportRequest(
        path=output,
        form="json" if as_json else form or form_of(output),
        from_turn=from_turn,
        tools=not no_tools,
        thinking=thinking,
        events=events,
        replace=replace,
    )
    folder = _found(cwd, session)
    _done(lambda: write_session(folder, request))


def _folder(cwd: str) -> Path:
    from pathlib import Path

    folder = Path(cwd).expanduser()
    if not folder.is_dir():
        raise click.BadParameter(f"{cwd} is no directory", param_hint="--cwd")
    return folder.resolve()


def _found(cwd: str, wanted: str) -> Path:
    from amplifier_tui.host.store.sessions import find_session

    folder = _folder(cwd)
    return _done(lambda: find_session(folder, wanted))


def _done(act: Callable[[], T]) -> T:
    """Do something with the store; what went wrong is said in one line."""
    from amplifier_tui.host.store.export.conversation import ExportError
    from amplifier_tui.host.store.imported.forking import NothingToForkError
    from amplifier_tui.host.store.sessions import SessionBusyError, SessionNotFoundError
    from amplifier_tui.host.store.turns.prompts import NoSuchTurnError

    try:
        return act()
    except (
        *(OSError, ValueError, SessionBusyError, SessionNotFoundError, NoSuchTurnError),
        *(ExportError, NothingToForkError),
    ) as error:
        raise click.ClickException(str(error)) from error


def _warn(text: str) -> None:
    click.echo(text, err=True)


def _say_card(folder: Path, as_json: bool) -> None:
    card = _card(folder)
    if as_json:
        _say_json(_fields(card))
    else:
        click.echo(_line(card))


def _card(folder: Path) -> SessionCard:
    from dataclasses import replace

    from amplifier_tui.host.store.listing.pins import pinned
    from amplifier_tui.host.store.sessions import card_of

    card = _done(lambda: card_of(folder, (folder / "transcript.jsonl").stat().st_mtime))
    return replace(card, pinned=folder.name in pinned())


def _fields(card: SessionCard | SearchHit | SessionDetails) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(card)


def _line(card: SessionCard) -> str:
    import time

    from amplifier_tui.base.text import one_line
    from amplifier_tui.ui.state.formats import ago, plural

    title = one_line(card.title or card.first_prompt, 60) or "(empty)"
    pinned = "◆ " if card.pinned else ""
    tags = "".join(f"  #{one_line(each, 40)}" for each in card.tags)
    about = f"{plural(card.turns, 'turn')}, {ago(time.time() - card.updated)}"
    return f"{one_line(card.session_id, 80)}  {pinned}{title}{tags}  ({about})"


def _say_json(data: dict[str, Any]) -> None:
    from amplifier_tui.cli.bundle.common import print_json

    print_json(data)
