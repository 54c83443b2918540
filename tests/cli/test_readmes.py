"""Every command of the program that a README shows is one, and those that only look are run."""

import contextlib
import re
import shlex
import sys
from pathlib import Path

import click
import pytest

from amplifier_tui.cli.group import build, run
from tests import pictures

ROOT = Path(__file__).parents[2]
READMES = sorted(
    path
    for part in (".", "amplifier_tui", "bundles", "themes", "tests")
    for path in ((ROOT / part).glob("*.md") if part == "." else (ROOT / part).rglob("README.md"))
    if path.name == "README.md"
)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?amplifier-tui [^`\n]+)`")
_IN_A_PROJECT = (
    *("keys", "module list", "schema events", "schema input", "sessions"),
    *("bundle list", "bundle new mine", "bundle validate mine", "bundle show mine"),
    *("bundle diff coding mine", "bundle use mine --scope local", "bundle lock"),
    *("rules add 'bash(pytest *)'", "rules list", "rules audit", "doctor"),
)
"""In this order, in one project, with nothing but the program."""
_BEGINNING_A_MODULE = ("module new tool dice", "module validate .")
_WITH_MORE = {
    *("--bundle mine", "--demo", "--plain", "--resume", "--resume ID", "acp", "init", "serve"),
    *("run", 'run "why does the test fail?"', 'run "…"', "run --input jsonl"),
    *("record", "record last --output tests/fix.cassette.jsonl"),
    *("replay tests/fix.cassette.jsonl", "replay tests/fix.cassette.jsonl --update"),
    *("test tests --junit report.xml", "bundle new NAME", "rules explain TOOL ARGS"),
    *("trust", "trust list|show|forget|add"),
}
"""What needs a terminal, a model or a stored session, or stands for several: tests of their own."""


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


def test_every_command_of_a_readme_is_run_here_or_known_to_need_more() -> None:
    run_here = {*_IN_A_PROJECT, *_BEGINNING_A_MODULE}
    assert len(READMES) >= 10 and not run_here & _WITH_MORE
    assert {command.split(" (")[0] for command in shown()} == run_here | _WITH_MORE


@pytest.mark.parametrize("arguments", shown())
def test_a_command_of_a_readme_is_one_of_the_program(arguments: str) -> None:
    # `a|b` stands for either of them.
    first, *others = shlex.split(arguments.split("|")[0])
    with click.Context(build()) as top, contextlib.suppress(click.exceptions.NoArgsIsHelpError):
        parsed(build(), "amplifier-tui", [first, *others], top)


def test_the_commands_of_the_readmes_work_one_after_the_other_in_a_new_project(
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.chdir(tmp_path)
    for command in _IN_A_PROJECT:
        assert run(shlex.split(command)) == 0, command
        assert capfd.readouterr().out, command


def test_the_module_that_a_readme_begins_is_valid(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin, validate = _BEGINNING_A_MODULE
    assert run(begin.split()) == 0
    (package,) = tmp_path.iterdir()
    monkeypatch.chdir(package)
    forget_dice()
    try:
        assert run(validate.split()) == 0
    finally:
        forget_dice()


def forget_dice() -> None:
    """Unload the module: other tests have one of this name elsewhere, a process holds one copy."""
    for name in [name for name in sys.modules if name.startswith("amplifier_module_tool_dice")]:
        del sys.modules[name]


def test_a_picture_is_stale_where_its_words_differ_and_not_where_its_numbers_do(
    tmp_path: Path,
) -> None:
    there, now = tmp_path / "there", tmp_path / "now"
    for folder, said in ((there, "Full&#160;screen 12 ms tool:pre"), (now, "Full screen 9 ms")):
        folder.mkdir()
        (folder / "a.svg").write_text(f"<svg><text x='1'>{said}</text></svg>")
    assert pictures.stale(there, now) == []
    (now / "a.svg").write_text("<svg><text>Full size</text></svg>")
    assert pictures.stale(there, now) == []  # What a slow machine has not drawn yet.
    (now / "a.svg").write_text("<svg><text>Full size, that long rows take now</text></svg>")
    assert pictures.stale(there, now) == [
        f"{there / 'a.svg'} is stale: it lacks long rows size, take that; it has screen"
    ]
    (there / "a.svg").unlink()
    assert "it has -" in pictures.stale(there, now)[0]
