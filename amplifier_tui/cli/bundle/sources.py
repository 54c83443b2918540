"""`amplifier-tui bundle use`, `add` and `remove`."""

import os
import re
from typing import TYPE_CHECKING

import click

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.bundle import common

if TYPE_CHECKING:
    from amplifier_tui.foundation.catalog import BundleEntry
    from amplifier_tui.foundation.settings.settings import Scope
    from amplifier_tui.foundation.workspace import Workspace

SCOPES = ("global", "project", "local")


@click.command(short_help="Choose the bundle that new sessions are opened with.")
@click.argument("name", required=False)
@click.option("--reset", is_flag=True, help="Choose none: take what the other scopes say.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="global",
    show_default=True,
    help="For all your projects, for everybody in this one, or for you in this one.",
)
@common.json_option
@click.pass_context
def use(context: click.Context, name: str | None, reset: bool, scope: str, as_json: bool) -> None:
    """Choose the bundle that new sessions are opened with.

    A running session keeps its bundle.
    """
    import asyncio

    from amplifier_tui.base.text import one_line
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.foundation.settings.settings import Scope
    from amplifier_tui.foundation.settings.writing import write_setting
    from amplifier_tui.foundation.trust.items import choice_of_bundle
    from amplifier_tui.host.trust.answers import TrustFile

    if bool(name) == reset:
        raise click.UsageError("Name a bundle, or give --reset.")
    workspace = common.open_workspace(context)
    with common.failures(context):
        value = None
        if name:
            entry = workspace.choose(requested=name).entry
            preview = asyncio.run(workspace.preview(name))
            if preview.state == "invalid":
                raise BundleError(preview.error, remedy="Mend it first; nothing was changed.")
            value = written_source(entry, name)
        file = write_setting(workspace.settings.files, Scope(scope), "bundle.active", value)
        if name and scope != "global":
            # Or what the user says here would be asked about, as a stranger's wish.
            item = choice_of_bundle(workspace.project, entry.source)
            TrustFile().add({item: True})
    workspace = common.open_workspace(context)
    active = workspace.settings.active_bundle
    if as_json:
        common.print_json({"bundle": value, "scope": scope, "file": str(file), "active": active})
        return
    said = f"New sessions use {value}" if value else f"The {scope} settings name no bundle now"
    click.echo(f"{one_line(said)} ({one_line(str(file))}).")
    if active != value:
        stronger = workspace.settings.scope_of("bundle.active")
        if stronger is not None:
            common.complain(
                "Note", f"The {stronger} settings say {active}, and count here.", "yellow"
            )


def written_source(entry: "BundleEntry", name: str) -> str:
    """Return what to put into the settings: a path is written so that it holds everywhere."""
    from amplifier_tui.foundation.registry.includes import is_path

    return entry.source if is_path(name) or name.startswith("~") else name


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def valid_name(name: str) -> bool:
    """Whether a bundle can be called so."""
    return _NAME.fullmatch(name) is not None


def check_free(name: str, taken_by: "BundleEntry | None", remedy: str) -> None:
    """Raise `BundleError` for a name that is a bundle's already."""
    from amplifier_tui.foundation.exceptions import BundleError

    if taken_by is not None:
        raise BundleError(f"There is a bundle {name!r} already: {taken_by.source}", remedy=remedy)


@click.command(short_help="Add a bundle by its path or URI.")
@click.argument("uri")
@click.option("--name", help="What to call it; default its own name.")
@click.option("--scope", type=click.Choice(SCOPES), default="global", show_default=True)
@common.trust_option
@common.json_option
@click.pass_context
def add(
    context: click.Context, uri: str, name: str | None, scope: str, trust: bool, as_json: bool
) -> None:
    """Add the bundle at URI (a path, git+https, https, zip+https) to the settings.

    It is fetched, with what it includes, after a question; headless that needs --trust, or an
    answer given before. Its modules are neither installed nor run.
    """
    import asyncio

    from amplifier_tui.base.text import one_line
    from amplifier_tui.foundation.exceptions import BundleError, BundleNotFoundError
    from amplifier_tui.foundation.settings.settings import Scope
    from amplifier_tui.foundation.settings.writing import write_setting

    workspace = common.open_workspace(context)
    with common.failures(context):
        entry = workspace.catalog().find(uri)
        if entry is None:
            remedy = "Give a path, or a URI such as git+https://…"
            if os.path.lexists(uri):
                remedy = f"What lies in this directory is given as a path: ./{uri}"
            raise BundleNotFoundError(f"There is no bundle {uri!r}", remedy=remedy)
        callback = common.trust_answers(trust)
        found = asyncio.run(
            workspace.load(entry.source, trust=callback, progress=common.Progress())
        )
        known = name or found.name
        if not valid_name(known):
            raise BundleError(
                f"{known!r} can't be used as a name",
                remedy="Give one with --name: letters, digits, -",
            )
        added = _added(workspace, Scope(scope))
        if added.get(known) != entry.source:
            # It would be chosen and included in the other one's place, or be out of reach.
            taken_by = workspace.catalog().taken_by(known, entry.source)
            check_free(known, taken_by, "Give another name with --name.")
        added[known] = entry.source
        # Not by a dotted path: a name may have dots.
        file = write_setting(workspace.settings.files, Scope(scope), "bundle.added", added)
    if as_json:
        common.print_json({"name": known, "uri": entry.source, "scope": scope, "file": str(file)})
    else:
        click.echo(f"Added {known}: {one_line(found.description or entry.source, 200)}")
        click.echo(f"Choose it with: {as_typed(f'amplifier-tui bundle use {known}')}")
    for skipped in found.skipped:
        common.complain("Warning", f"Left out {skipped.source}: {skipped.reason}", "yellow")


def _added(workspace: "Workspace", scope: "Scope") -> dict[str, str]:
    return dict((workspace.settings.by_scope.get(scope, {}).get("bundle") or {}).get("added") or {})


@click.command(short_help="Remove a bundle that was added.")
@click.argument("name")
@common.json_option
@click.pass_context
def remove(context: click.Context, name: str, as_json: bool) -> None:
    """Remove a bundle that was added, from all settings here and from the registry.

    What was fetched stays in the cache. Bundles that are files are removed by deleting the file.
    """
    from amplifier_tui.base.text import one_line
    from amplifier_tui.foundation.settings.writing import write_setting

    workspace = common.open_workspace(context)
    removed: list[str] = []
    with common.failures(context):
        for scope, data in workspace.settings.by_scope.items():
            added = (data.get("bundle") or {}).get("added") or {}
            if name in added:
                left = {key: uri for key, uri in added.items() if key != name}
                path = "bundle.added"
                write_setting(workspace.settings.files, scope, path, left or None)
                removed.append(f"{scope} settings")
        registry = workspace.registry()
        state = registry.get_state(name)
        if state is not None and (state.explicitly_requested or removed):
            registry.unregister(name)
            registry.save()
            removed.append("registry")
    if not removed:
        entry = workspace.catalog().find(name)
        why = f"It is {entry.origin}: {entry.source}" if entry is not None else "It is not known"
        common.complain("Error", f"{name} was not added, so it can't be removed. {why}.", "red")
        context.exit(common.FAILED)
    if as_json:
        common.print_json({"name": name, "removed_from": removed})
    else:
        click.echo(f"Removed {one_line(name, 100)} from {' and '.join(removed)}.")
    if workspace.settings.active_bundle == name:
        text = (
            f"{name} is still chosen; choose another with `{as_typed('amplifier-tui bundle use')}`."
        )
        common.complain("Note", text, "yellow")
