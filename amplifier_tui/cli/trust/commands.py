"""The commands of `amplifier-tui trust`."""

import os
from dataclasses import asdict
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING

import click

from amplifier_tui.base.homes import user_home
from amplifier_tui.cli.bundle import common
from amplifier_tui.cli.layout import paragraph, table

if TYPE_CHECKING:
    from amplifier_tui.host.trust.answers import StoredAnswer, TrustFile

_SHORT = 10
"""Digits of a key that are shown."""


@click.command("list", short_help="List what you answered, and whom you trust.")
@common.json_option
@click.pass_context
def trust_list(context: click.Context, as_json: bool) -> None:
    """List the answers that hold for good, the trusted publishers and your own folders."""
    file = _file(context)
    if as_json:
        answers = [asdict(each) for each in file.answers()]
        folders = [str(folder) for folder in file.folders]
        common.print_json({"owners": file.owners, "folders": folders, "answers": answers})
        return
    rows = [(owner, "everything of theirs") for owner in file.owners]
    rows += [(str(folder), "your own folder") for folder in file.folders]
    for line in table(rows):
        click.echo(line)
    # What has changed since is listed once for each form it had: the time tells them apart.
    listed = [
        (each.key[:_SHORT], _said(each), _when(each), each.group, each.title)
        for each in file.answers()
    ]
    for line in table(listed):
        click.echo(line)
    if not rows and not listed:
        click.echo("You have not trusted anything for good.")


@click.command(short_help="Show an answer with everything that was shown then.")
@click.argument("key")
@common.json_option
@click.pass_context
def show(context: click.Context, key: str, as_json: bool) -> None:
    """Show the answers whose key begins with KEY."""
    found = [each for each in _file(context).answers() if each.key.startswith(key)]
    if as_json:
        common.print_json([asdict(each) for each in found])
    for each in () if as_json else found:
        for line in _lines(each):
            click.echo(line)
    if not found:
        common.complain("Error", f"There is no answer {key!r}", "red")
        context.exit(common.FAILED)


@click.command(short_help="Forget an answer, a publisher or a folder.")
@click.argument("what")
@click.pass_context
def forget(context: click.Context, what: str) -> None:
    """Forget WHAT: the key of an answer, a publisher with all that was answered about it, a folder.

    It is asked about again the next time.
    """
    file = _file(context)
    with common.failures(context):
        path = str(Path(os.path.expanduser(what)).resolve())
        count = file.forget(what) or file.forget(path)
    if not count:
        common.complain("Error", f"Nothing is known of {what!r}", "red")
        context.exit(common.FAILED)
    click.echo(f"Forgot {count} {'answer' if count == 1 else 'answers'}.")


@click.command(short_help="Trust a publisher, or a folder of your own.")
@click.argument("who")
@click.pass_context
def add(context: click.Context, who: str) -> None:
    """Trust WHO from now on: a publisher such as github.com/microsoft, or a folder of your own.

    All that such a publisher brings, and all that is in such a folder, counts without a question:
    also the branches and tags of a repository there that is named as git+file:///…
    """
    from amplifier_tui.foundation.trust.code import publisher

    local = publisher(who)
    folder = Path(local if os.path.isabs(local) else os.path.expanduser(who))
    file = _file(context)
    with common.failures(context):
        if folder.is_dir():
            file.add(folders=(folder,))
            click.echo(f"{folder.resolve()} counts as your own now.")
            if user_home().resolve().is_relative_to(folder.resolve()):
                words = "it trusts everything below it, also what is cloned there. To undo it:"
                common.complain("Warning", f"{words} trust forget {folder.resolve()}", "yellow")
        elif publisher(f"git+https://{who.strip('/')}/x") == who.strip("/").lower():
            file.add(owners=(who.strip("/").lower(),))
            click.echo(f"What {who.strip('/').lower()} publishes counts now.")
        else:
            raise click.UsageError(
                f"{who!r} is neither a folder nor a publisher such as github.com/microsoft."
            )


def _file(context: click.Context) -> "TrustFile":
    from amplifier_tui.host.trust.answers import TrustFile

    file = TrustFile()
    notice = file.notice()
    if notice:
        common.complain("Warning", notice, "yellow")
    return file


def _lines(answer: "StoredAnswer") -> list[str]:
    head = f"{answer.key[:_SHORT]} {_said(answer)} {_when(answer)} · {answer.group}"
    head += f" · {answer.owner}"
    lines = [*paragraph(head), *paragraph(answer.title, indent=2)]
    for text in (answer.detail, answer.where):
        lines += paragraph(text, indent=2) if text else ()
    return lines


def _said(answer: "StoredAnswer") -> str:
    return "used" if answer.accepted else "refused"


def _when(answer: "StoredAnswer") -> str:
    return strftime("%Y-%m-%d %H:%M", localtime(answer.at))
