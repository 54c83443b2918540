"""`amplifier-tui doctor`: what of this machine, this terminal and these bundles does not work."""

import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.homes import user_home
from amplifier_tui.cli.bundle import common
from amplifier_tui.cli.doctor.findings import Diagnosis, State, worst
from amplifier_tui.cli.layout import paragraph, table_rows

if TYPE_CHECKING:
    from amplifier_tui.host.redaction import Redactor

Group = tuple[str, list[Diagnosis]]

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "note": ("·", "cyan"),
    "warning": ("!", "yellow"),
    "error": ("✗", "red"),
}


@click.command(short_help="Look for what does not work here, and say what to do.")
@click.option("--call", is_flag=True, help="Send each provider one small request.")
@common.json_option
@click.pass_context
def doctor(context: click.Context, call: bool, as_json: bool) -> None:
    """Look at terminal, machine, folders, keys, bundles and modules, and say what to do.

    Nothing is changed, and nothing is fetched; with --call each provider of the bundle in use gets
    one small request. The text can be pasted whole into a report: it has no secrets. Ends with 1
    where something does not work at all.
    """
    groups, redactor = _look(call)
    groups = [(title, _readable(findings, redactor)) for title, findings in groups]
    found = [finding for _, findings in groups for finding in findings]
    if as_json:
        common.print_json(
            {
                "state": worst(found),
                "groups": {title: [asdict(each) for each in listed] for title, listed in groups},
            }
        )
    else:
        for line in _lines(groups):
            click.echo(line)
        click.echo(_summary(found))
    if worst(found) == "error":
        context.exit(common.FAILED)


def _look(call: bool) -> "tuple[list[Group], Redactor]":
    """Return what was found out by group, and what knows the secrets in it."""
    import asyncio

    from amplifier_tui.cli.doctor import bundles, homes, machine, providers, terminal
    from amplifier_tui.cli.logs import log_to_file
    from amplifier_tui.foundation.exceptions import BundleError
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.host.redaction import Redactor
    from amplifier_tui.host.session.opening.opening import DEFAULT_BUNDLE
    from amplifier_tui.paths import shipped_bundles_dir

    log_to_file()
    workspace = Workspace.open(Path.cwd(), shipped=(shipped_bundles_dir(),))
    choice = workspace.choose(default=DEFAULT_BUNDLE)
    name = workspace.catalog().reference_of(choice.entry)
    chosen, others = bundles.previews(workspace, name)
    keys = list(providers.look_at_keys(workspace, chosen))
    keys += providers.look_at_servers()
    if call:
        try:
            keys += asyncio.run(providers.call_providers(workspace, name))
        except (BundleError, RuntimeError) as error:
            said = f"the session can't be made: {error}"
            keys.append(Diagnosis(what="calls", state="error", said=said, remedy="See Bundles."))
    found = list(bundles.look_at_bundles(chosen, others))
    if choice.notice:
        remedy = f"Choose one with `{as_typed('amplifier-tui bundle use')}`."
        found.insert(
            0, Diagnosis(what="choice", state="warning", said=choice.notice, remedy=remedy)
        )
    redactor = Redactor()
    redactor.add_config(chosen.plan)
    groups: list[Group] = [
        ("Terminal", list(terminal.look_at_terminal(os.environ, _tells_keys_apart, _is_light))),
        ("Machine", list(machine.look_at_machine())),
        ("Programs", list(machine.look_at_programs(os.environ))),
        ("Folders", list(homes.look_at_homes(workspace))),
        ("Providers", keys),
        ("Bundles", found),
        ("Modules", list(bundles.look_at_modules(workspace))),
    ]
    return groups, redactor


def _tells_keys_apart() -> bool | None:
    from amplifier_tui.ui.terminal.asking import KEYBOARD, ask_terminal, tells_keys_apart

    return tells_keys_apart(ask_terminal(KEYBOARD))


def _is_light() -> bool | None:
    from amplifier_tui.ui.terminal.asking import is_light

    return is_light(os.environ)


def _readable(findings: list[Diagnosis], redactor: "Redactor") -> list[Diagnosis]:
    """Return findings without secrets, and with the home as `~`."""
    redact, home = redactor.text, str(user_home())

    def plain(text: str) -> str:
        return redact(text).replace(f"{home}/", "~/")

    return [
        replace(
            each,
            what=plain(each.what),
            said=" ".join(plain(each.said).split()),
            remedy=plain(each.remedy),
            lines=tuple(map(plain, each.lines)),
        )
        for each in findings
    ]


def _lines(groups: list[Group]) -> Iterator[str]:
    for title, findings in groups:
        if not findings:
            continue
        yield common.style(title, bold=True)
        rows = table_rows([(_MARKS[each.state][0], each.what, each.said) for each in findings])
        for finding, lines in zip(findings, rows, strict=True):
            mark, color = _MARKS[finding.state]
            yield common.style(mark, fg=color) + lines[0].removeprefix(mark)
            yield from lines[1:]
            if finding.remedy:
                first, *more = paragraph(finding.remedy, indent=5)
                yield f"   → {first.lstrip()}"
                yield from more
            yield from (f"       {line}" for line in finding.lines)
        yield ""


def _summary(found: list[Diagnosis]) -> str:
    words: dict[State, str] = {"error": "broken", "warning": "to mend", "note": "to know"}
    counts = {state: sum(each.state == state for each in found) for state in words}
    said = [f"{count} {words[state]}" for state, count in counts.items() if count]
    return ", ".join(said) or "Everything works."
