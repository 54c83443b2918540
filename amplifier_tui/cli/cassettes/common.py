"""What the commands about cassettes share: their options, playing one, and saying what differs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.cli.bundle.common import TRUSTED
from amplifier_tui.cli.completion import bundle_names

if TYPE_CHECKING:
    from amplifier_tui.host.cassettes.cassette import Cassette
    from amplifier_tui.host.cassettes.conversing import Replayed
    from amplifier_tui.host.cassettes.difference import CassetteDifference
    from amplifier_tui.host.cassettes.playing import ToolsFrom

F = TypeVar("F", bound=Callable[..., Any])

SAME: Final = 0
DIFFERS: Final = 1
NO_CASSETTE: Final = 2
NOT_PLAYED: Final = 3

EXIT_STATUS: Final = """\b
Exit status:
    0  no difference
    1  something differs
    2  the command line makes no sense, or a file is no cassette
    3  the session could not be opened, or did not go on
"""

_OPTIONS: Final = (
    click.option("--cwd", metavar="DIR", default=".", help="Play it in this project."),
    click.option(
        "--trust", is_flag=True, help="Let everything a project or stranger brings count."
    ),
    click.option(
        "--workspace",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Work in a copy of this folder. Default: NAME.workspace beside NAME.cassette.jsonl; "
        "without that in the project, with real tools in a copy of it.",
    ),
    click.option(
        "--tools",
        type=click.Choice(["cassette", "real"]),
        default="cassette",
        show_default=True,
        help="Take results of tools from the cassette, or run the calls that only read or change "
        "files in a copy of the workspace. Which tools did not run is said.",
    ),
    click.option(
        "--bundle",
        metavar="NAME",
        default="",
        shell_complete=bundle_names,
        help="Play it with this bundle: a name, path or URI.",
    ),
)


def playing_options(command: F) -> F:
    """Add the options of how a cassette is played."""
    for option in _OPTIONS:
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How cassettes are played; see the help of the options."""

    cwd: Path
    bundle: str = ""
    tools: ToolsFrom = "cassette"
    workspace: Path | None = None
    trust: bool = False


@dataclass(frozen=True, slots=True)
class PlayedFile:
    """What came of playing a file.

    Attributes:
        problem: Why it could not be played; empty where it was.
        status: The exit status it asks for.
    """

    path: Path
    status: int = SAME
    problem: str = ""
    was: Cassette | None = None
    replayed: Replayed | None = None
    found: tuple[CassetteDifference, ...] = ()

    @property
    def summary(self) -> str:
        """What came of it on one line."""
        from amplifier_tui.base.text import one_line

        if self.was is None or self.replayed is None:
            return one_line(self.problem, 2_000)
        from amplifier_tui.host.cassettes.cassette import TapedAnswer, TapedEnd, TapedPrompt
        from amplifier_tui.ui.state.formats import plural

        now = self.replayed.cassette
        turns, answers = (sum(1 for _ in now.of(kind)) for kind in (TapedPrompt, TapedAnswer))
        number = len(self.found)
        said = plural(number, "difference") if number else "no difference"
        known = _tokens(self.was)
        took = sum(each.seconds for each in self.was.of(TapedEnd))
        parts = [
            plural(turns, "turn"),
            plural(answers, "answer"),
            f"{_tokens(now):,} tokens to read{f' (recorded: {known:,})' if known else ''}",
            f"{self.replayed.seconds:.1f} s (recorded: {took:.1f} s)",
        ]
        return f"{said}: {', '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-native data."""
        data: dict[str, Any] = {
            "cassette": str(self.path),
            "status": self.status,
            "problem": self.problem,
            "differences": [each._asdict() for each in self.found],
        }
        if self.was is not None and self.replayed is not None:
            data["tokens"] = {"now": _tokens(self.replayed.cassette), "was": _tokens(self.was)}
            data["seconds"] = round(self.replayed.seconds, 3)
            data["refused"] = self.replayed.refused
            data["failed"] = self.replayed.failed
            data["not_run"] = self.replayed.not_run
        return data


def play_file(path: Path, options: PlayOptions) -> PlayedFile:
    """Play a file and compare; what goes wrong with it is in what is returned."""
    from amplifier_tui.host.cassettes.cassette import CassetteError, read_cassette

    try:
        was = read_cassette(path)
    except CassetteError as error:
        return PlayedFile(path, NO_CASSETTE, f"It is no cassette to play: {error}")
    except OSError as error:
        return PlayedFile(path, NO_CASSETTE, error.strerror or str(error))
    return play_again(path, was, options)


def play_again(path: Path, was: Cassette, options: PlayOptions) -> PlayedFile:
    """Play a cassette and compare; see `play_file`."""
    from amplifier_tui.foundation.trust.gate import trust_everything
    from amplifier_tui.host.cassettes.cassette import CassetteError
    from amplifier_tui.host.cassettes.comparing import differences
    from amplifier_tui.host.cassettes.conversing import ReplayError, ReplayOrder, play
    from amplifier_tui.host.door.descriptors import DescriptorCapture
    from amplifier_tui.host.door.local_client import LocalClient

    beside = path.with_name(f"{path.name.removesuffix(SUFFIX)}.workspace")
    workspace = options.workspace or (beside if beside.is_dir() else None)
    if workspace is beside and not beside.resolve().is_relative_to(path.parent.resolve()):
        # Who wrote the cassette may have made it, and what is copied is read.
        problem = f"{beside.name} leads to {beside.resolve()}; to play it there, use --workspace"
        return PlayedFile(path, NOT_PLAYED, problem)
    order = ReplayOrder(options.cwd, options.bundle, options.tools, workspace)
    try:
        # What modules print is no part of what the command says.
        with DescriptorCapture() as printed:
            client = LocalClient(trust_everything if options.trust else None, printed)
            # The standard error there was before it is captured.
            stderr = sys.__stderr__
            replayed = play(was, order, client, lambda said: click.echo(f"  {said}", file=stderr))
    except (ReplayError, CassetteError, OSError, TimeoutError) as error:
        return PlayedFile(path, NOT_PLAYED, f"It could not be played: {error}")
    found = differences(was, replayed.cassette, options.tools)
    return PlayedFile(path, DIFFERS if found else SAME, "", was, replayed, found)


SUFFIX: Final = ".cassette.jsonl"


def say(played: PlayedFile, most: int | None = None) -> None:
    """Print what came of a file.

    Args:
        most: Differences that are listed; None for all.
    """
    from amplifier_tui.base.text import clean, one_line
    from amplifier_tui.ui.state.formats import plural

    click.echo(f"{one_line(played.path.name, 200)}: {played.summary}")
    for each in played.found[:most]:
        click.echo(f"  {clean(str(each))}")
    left = len(played.found) - len(played.found[:most])
    if left:
        click.echo(f"  and {left} more")
    if played.replayed is not None:
        for tool, calls in sorted(played.replayed.not_run.items()):
            number = f"{plural(len(calls), 'call')} of {one_line(tool, 200)}"
            said = f"not run: {number}, with what was recorded as the result"
            click.echo(f"  {said} (not known to stay in the copy of the workspace)")
        for module, error in sorted(played.replayed.failed.items()):
            click.echo(f"  did not mount: {one_line(f'{module}: {error}', 500)}")
        for refused in played.replayed.refused:
            click.echo(f"  not used without --trust: {one_line(refused, 500)}", err=True)


def say_unknown(played: PlayedFile) -> None:
    """Print what was not compared, where a cassette was recorded without being played."""
    from amplifier_tui.host.cassettes.cassette import TapedModules

    if played.was is None or played.replayed is None:
        return
    if next(played.was.of(TapedModules), None) is None:
        said = "not compared: modules and what requests hold, which the cassette does not know"
        click.echo(f"  {said}. `amplifier-tui replay --update` writes them into it.", err=True)


def say_kept(played: PlayedFile) -> None:
    """Print which turns a cassette that is written keeps as they were recorded."""
    for turn in sorted(played.replayed.incomplete, key=int) if played.replayed else ():
        click.echo(f"Turn {turn} stays as it was: it asks for more answers than it got", err=True)


def prepare(*, trust: bool) -> None:
    """Log to a file, and say what `--trust` means."""
    from amplifier_tui.cli.logs import log_to_file

    if trust:
        click.echo(TRUSTED, err=True)
    log_to_file()


def _tokens(cassette: Cassette) -> int:
    from amplifier_tui.host.cassettes.cassette import TapedRequest

    return sum(each.tokens for each in cassette.of(TapedRequest))
