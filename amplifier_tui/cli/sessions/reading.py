"""`sessions list`, `show` and `search`: what is stored, one of it, and words in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.sessions import imported
from amplifier_tui.cli.sessions.common import (
    as_lines,
    card_line,
    done,
    fields,
    folder_at,
    in_folder,
    of_session,
    say_json,
    stored_at,
)

if TYPE_CHECKING:
    from amplifier_tui.host.imported_cards import OriginName

_ABOUT = 2_000


@click.command("list", short_help="List the sessions.")
@click.argument("words", nargs=-1)
@click.option("--all", "everywhere", is_flag=True, help="Those of all directories.")
@click.option("--most", type=click.IntRange(1), default=500, help="Sessions; 500 else.")
@click.option("--deleted", is_flag=True, help="Those in the bin.")
@click.option(
    "--origin", type=click.Choice([*imported.ORIGINS, "all"]), help="Those of other programs."
)
@in_folder
@as_lines
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
        where = None if everywhere else folder_at(cwd)
        imported.list_them(where, " ".join(words), None if origin == "all" else origin, as_json)
        return
    from amplifier_tui.host.store.bin import list_deleted
    from amplifier_tui.host.store.listing.filters import filter_problem
    from amplifier_tui.host.store.listing.listing import list_now
    from amplifier_tui.host.stored_cards import SessionList, named_alike

    folder = folder_at(cwd)
    typed = " ".join(words)
    if problem := filter_problem(typed):
        # A program would take those that are not meant for those that match.
        raise click.BadParameter(problem, param_hint="WORDS")
    if deleted:
        if words:
            raise click.UsageError("--deleted lists the whole bin, and takes no WORDS")
        cards = list_deleted(folder)
        found = SessionList(cards=cards, matching=len(cards))
    else:
        found = list_now(typed, folder, here=not everywhere, most=most)
    if found.problem:
        click.echo(found.problem, err=True)
    if as_json:
        for card in found.cards:
            say_json(fields(card))
        return
    alike = named_alike(found.cards)
    differ = len({card.bundle for card in found.cards}) > 1
    for card in found.cards:
        click.echo(card_line(card, alike, bundle=differ))
    if not found.cards:
        what = "No session matches." if words else "No session was stored here."
        click.echo("The bin is empty." if deleted else what)
    left_out = [f"{count:,} {why}" for count, why in found.hidden()]
    if found.matching > len(found.cards):
        left_out.insert(0, f"{found.matching - len(found.cards):,} older ones (--most)")
    if left_out:
        click.echo(f"\nNot listed: {', '.join(left_out)}")
    if found.cards:
        if deleted:
            click.echo(f"\nTake one out with: {as_typed('amplifier-tui sessions restore ID')}")
        else:
            click.echo(f"\nResume one with: {as_typed('amplifier-tui --resume ID')}")


@click.command(short_help="Show one session.")
@of_session
@in_folder
@as_lines
def show(session: str, cwd: str, as_json: bool) -> None:
    """Show what is known of SESSION, and what was said last; of another program, all of it."""
    if imported.is_imported(session):
        done(lambda: imported.show(session, as_json))
        return
    from amplifier_tui.base.text import clean, minute_of, one_line
    from amplifier_tui.cli.layout import table
    from amplifier_tui.host.store.listing.details import details_of
    from amplifier_tui.ui.state.formats import spent_words

    folder = stored_at(cwd, session)
    details = done(lambda: details_of(folder))
    card = details.card
    if as_json:
        known = fields(details)
        say_json({**known.pop("card"), **known})
        return
    click.echo(one_line(card.title or card.first_prompt, 200) or "(empty)")
    facts = {
        "id": card.session_id,
        "about": card.description,
        "tags": " ".join(card.tags),
        "bundle": card.bundle,
        "model": card.model,
        "created": minute_of(details.created),
        "turns": str(card.turns),
        "cost": spent_words(card),
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


@click.command(short_help="Find words in all sessions.")
@click.argument("words", nargs=-1, required=True)
@click.option("--here", is_flag=True, help="Only in sessions of this directory.")
@click.option("--most", type=click.IntRange(1, 1_000), default=100, help="Hits; 100 else.")
@in_folder
@as_lines
def search(words: tuple[str, ...], here: bool, most: int, cwd: str, as_json: bool) -> None:
    """Find WORDS in titles, prompts, answers and tool calls of all sessions, the newest first.

    All of them must be there; the last may be the beginning of a word. Quote what belongs
    together: '"like this"'. Of very long outputs the beginning and the end are searched.
    """
    from amplifier_tui.host.store.search.finding import search_now

    folder = folder_at(cwd) if here else None
    found = done(lambda: search_now(" ".join(words), folder, most))
    if found.problem:
        click.echo(found.problem, err=True)
    for hit in found.hits:
        if as_json:
            say_json(fields(hit))
        else:
            click.echo(f"{card_line(hit.card)}\n    {hit.kind}: {hit.text}")
    if found.more and not as_json:
        click.echo("\nThere is more: add words, or --most.")
    elif not found.hits and not as_json:
        click.echo("Nothing was found.")
