"""Every command of the program that a README shows is one, and those that only look are run."""

import contextlib
import re
import shlex
from pathlib import Path

import click
import pytest

from amplifier_tui.cli.group import build, run

ROOT = Path(__file__).parents[2]
READMES = sorted(
    path
    for part in (".", "amplifier_tui", "bundles", "themes", "tests")
    for path in ((ROOT / part).glob("*.md") if part == "." else (ROOT / part).rglob("README.md"))
    if path.name == "README.md"
)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?amplifier-tui [^`\n]+)`")
_LOOKING = {
    *("bundle list", "keys", "module list", "rules audit", "schema events", "schema input"),
    "sessions",
}
"""Commands that only look, need no project, and take no time."""


def shown() -> list[str]:
    """The arguments of each command, as they are written."""
    found: dict[str, None] = {}
    for path in READMES:
        text = path.read_text(encoding="utf-8")
        lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
        for line in (*lines, *INLINE.findall(text)):
            for part in line.partition("   #")[0].split("&&"):
                program, _, arguments = part.strip().partition(" ")
                if program in ("amplifier-tui", ".venv/bin/amplifier-tui"):
                    found[arguments.strip()] = None
    return sorted(filter(None, found))


def parsed(group: click.Command, name: str, arguments: list[str], parent: click.Context) -> None:
    """Read a command line as far as running it would; raises what click raises."""
    context = group.make_context(name, arguments, parent)
    if isinstance(group, click.Group) and (rest := [*context._protected_args, *context.args]):
        command_name, command, left = group.resolve_command(context, rest)
        assert command is not None
        parsed(command, str(command_name), left, context)


def test_there_are_commands_to_look_at() -> None:
    assert len(READMES) >= 10 and len(shown()) >= 20
    assert {command.split(" (")[0] for command in shown()} >= _LOOKING


@pytest.mark.parametrize("arguments", shown())
def test_a_command_of_a_readme_is_one_of_the_program(arguments: str) -> None:
    # `a|b` stands for either of them.
    first, *others = shlex.split(arguments.split("|")[0])
    with click.Context(build()) as top, contextlib.suppress(click.exceptions.NoArgsIsHelpError):
        parsed(build(), "amplifier-tui", [first, *others], top)


@pytest.mark.parametrize("arguments", sorted(_LOOKING))
def test_a_command_that_only_looks_works_in_an_empty_folder(
    arguments: str,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments.split()) == 0
    assert capsys.readouterr().out
