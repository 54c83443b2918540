"""`sessions rename`, `tag`, `pin`, `delete`, `restore`, `fork` and `empty-bin`."""

import click

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.sessions import imported
from amplifier_tui.cli.sessions.common import (
    as_lines,
    card_at,
    card_line,
    done,
    fields,
    folder_at,
    in_folder,
    of_session,
    say_card,
    say_json,
    stored_at,
    warn,
)


@click.command(short_help="Give a session a title.")
@of_session
@click.argument("title")
@in_folder
@as_lines
def rename(session: str, title: str, cwd: str, as_json: bool) -> None:
    """Give SESSION a TITLE; an empty one takes it away."""
    from amplifier_tui.host.store.listing.changes import set_title

    folder = stored_at(cwd, session)
    done(lambda: set_title(folder, title, warn))
    say_card(folder, as_json)


@click.command(short_help="Tag a session.")
@of_session
@click.argument("tags", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Take these tags away.")
@in_folder
@as_lines
def tag(session: str, tags: tuple[str, ...], remove: bool, cwd: str, as_json: bool) -> None:
    """Give SESSION each of TAGS."""
    from amplifier_tui.host.store.listing.changes import set_tags

    folder = stored_at(cwd, session)
    add, gone = ((), tags) if remove else (tags, ())
    done(lambda: set_tags(folder, add, gone, warn))
    say_card(folder, as_json)


@click.command(short_help="List a session before the others.")
@of_session
@click.option("--remove", is_flag=True, help="Pin it no more.")
@in_folder
@as_lines
def pin(session: str, remove: bool, cwd: str, as_json: bool) -> None:
    """List SESSION before the others."""
    from amplifier_tui.host.store.listing.pins import pin

    folder = stored_at(cwd, session)
    done(lambda: pin(folder.name, on=not remove))
    say_card(folder, as_json)


@click.command(short_help="Put sessions into the bin.")
@click.argument("session", nargs=-1, required=True)
@in_folder
@as_lines
def delete(session: tuple[str, ...], cwd: str, as_json: bool) -> None:
    """Put each SESSION, and what its agents did, into the bin."""
    from functools import partial

    from amplifier_tui.host.store.bin import delete_session

    for folder in [stored_at(cwd, each) for each in session]:
        done(partial(delete_session, folder))
        if as_json:
            say_json({"session_id": folder.name, "deleted": True})
        else:
            undo = as_typed(f"amplifier-tui sessions restore {folder.name[:8]}")
            click.echo(f"{folder.name} is in the bin; `{undo}` takes it out")


@click.command(short_help="Take a session out of the bin.")
@of_session
@in_folder
@as_lines
def restore(session: str, cwd: str, as_json: bool) -> None:
    """Take SESSION, or the `last` one that was deleted, out of the bin."""
    from amplifier_tui.host.store.bin import restore_session

    say_card(done(lambda: restore_session(folder_at(cwd), session)), as_json)


@click.command(short_help="Copy a session.")
@of_session
@click.option("--at", "turn", type=click.IntRange(1), help="Only what came before this turn.")
@in_folder
@as_lines
def fork(session: str, turn: int | None, cwd: str, as_json: bool) -> None:
    """Copy the conversation of SESSION into a new one, which can be resumed.

    One of another program, such as codex:5973b6c0, goes into a session of this directory, whole.
    """
    from amplifier_tui.host.session.carrying import fork_stored

    if imported.is_imported(session):
        if turn is not None:
            raise click.BadParameter("it is forked whole", param_hint="--at")
        card = card_at(done(lambda: imported.fork(session, folder_at(cwd))))
    else:
        folder = stored_at(cwd, session)
        card = card_at(done(lambda: fork_stored(folder, turn)))
    if as_json:
        say_json(fields(card))
    else:
        click.echo(card_line(card))
        resume = as_typed(f"amplifier-tui --resume {card.session_id[:8]}")
        click.echo(f"Resume it with: {resume}")


@click.command("empty-bin", short_help="Remove deleted sessions for good.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@in_folder
@as_lines
def empty(yes: bool, cwd: str, as_json: bool) -> None:
    """Remove the deleted sessions of this directory for good."""
    from amplifier_tui.host.store.bin import empty_bin, list_deleted
    from amplifier_tui.ui.state.formats import plural

    folder = folder_at(cwd)
    count = len(list_deleted(folder))
    if count and not yes:
        click.confirm(f"Remove {plural(count, 'session')} for good?", abort=True, err=True)
    removed = done(lambda: empty_bin(folder))
    if as_json:
        say_json({"removed": removed})
    else:
        click.echo(f"Removed {plural(removed, 'session')}.")


COMMANDS = (rename, tag, pin, delete, restore, fork, empty)
"""The commands of this file."""
