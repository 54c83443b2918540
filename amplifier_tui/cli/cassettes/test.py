"""`amplifier-tui test`: a folder of cassettes, for a bundle's CI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from amplifier_tui.cli.bundle.common import print_json
from amplifier_tui.cli.cassettes.common import (
    DIFFERS,
    EXIT_STATUS,
    SAME,
    SUFFIX,
    PlayedFile,
    PlayOptions,
    play_file,
    playing_options,
    prepare,
    say,
    say_unknown,
)

if TYPE_CHECKING:
    from amplifier_tui.host.cassettes.playing import ToolsFrom

_HELP = f"""Play every NAME{SUFFIX} in DIR and below again, and say what differs.

{EXIT_STATUS}"""
_MOST: Final = 20
"""Differences of one cassette that are printed."""


@click.command(help=_HELP, short_help="Play a folder of recorded sessions again.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@playing_options
@click.option(
    "--junit",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what came of it as JUnit XML, which CI systems show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per cassette.")
def test(
    folder: Path,
    bundle: str,
    tools: ToolsFrom,
    workspace: Path | None,
    trust: bool,
    cwd: str,
    junit: Path | None,
    as_json: bool,
) -> int:
    """Play a folder of cassettes again; see the command's help."""
    paths = [folder] if folder.is_file() else sorted(folder.rglob(f"*{SUFFIX}"))
    if not paths:
        raise click.UsageError(f"There is no NAME{SUFFIX} in {folder}")
    options = PlayOptions(Path(os.path.expanduser(cwd)).resolve(), bundle, tools, workspace, trust)
    done: list[PlayedFile] = []
    prepare(trust=trust)
    for path in paths:
        played = play_file(path, options)
        done.append(played)
        if as_json:
            print_json(played.to_json())
        else:
            say(played, _MOST)
            say_unknown(played)
    if junit is not None:
        _write_junit(junit, folder.name, done)
    if not as_json:
        same = sum(each.status == SAME for each in done)
        differs = sum(each.status == DIFFERS for each in done)
        failed = len(done) - same - differs
        click.echo(f"{same} without a difference, {differs} with, {failed} not played")
    return max(each.status for each in done)


def _write_junit(path: Path, name: str, done: list[PlayedFile]) -> None:
    """Write a report.

    Raises:
        ClickException: It can't be written.
    """
    from xml.etree import ElementTree

    from amplifier_tui.base.files import write_atomic
    from amplifier_tui.base.text import clean

    suite = ElementTree.Element("testsuite", name=clean(name) or "cassettes", tests=str(len(done)))
    counts = {"failures": 0, "errors": 0}
    total = 0.0
    for each in done:
        seconds = each.replayed.seconds if each.replayed is not None else 0.0
        total += seconds
        about = {"classname": "cassettes", "name": clean(each.path.name), "time": f"{seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", about)
        if each.status != SAME:
            kind = "failure" if each.status == DIFFERS else "error"
            counts[f"{kind}s"] += 1
            said = ElementTree.SubElement(case, kind, message=clean(each.summary))
            said.text = clean("\n".join(map(str, each.found)))
    suite.attrib |= {key: str(count) for key, count in counts.items()} | {"time": f"{total:.3f}"}
    data = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    for code in ("\ufffe", "\uffff"):
        # Characters that no XML holds, and the library writes all the same.
        data = data.replace(code.encode(), "\ufffd".encode())
    try:
        write_atomic(path, data)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error
