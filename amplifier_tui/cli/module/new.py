"""`amplifier-tui module new`: the smallest module of a kind that runs, with its test."""

import os
import re
import shlex
from pathlib import Path

import click

from amplifier_tui.cli.module.validate import KINDS

_PREFIXES = {"orchestrator": "loop", "hook": "hooks"}
"""What ids of a kind begin with, where that is not the kind."""
_TEST_PACKAGES = ("pytest", "pytest-asyncio")
"""What the tests of a module need, beside the program."""
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@click.command(short_help="Write a module that runs, with its test.")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--in", "parent", metavar="DIR", default=".", help="Folder to write it into.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def new(kind: str, name: str, parent: str, as_json: bool) -> None:
    """Write a module of a KIND, to be changed: a folder with a package, an entry point and a test.

    NAME is lower case letters, digits and -; the kind's prefix is put before it. It is none of the
    program's own modules. A folder that is there already is left as it is.
    """
    from amplifier_tui.base.commands.as_typed import as_typed
    from amplifier_tui.base.text import one_line, reveal
    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.kernel.mounting.discovery import installed_modules, is_built_in

    prefix = f"{_PREFIXES.get(kind, kind)}-"
    given, name = name, name.removeprefix(prefix)
    if not _NAME.fullmatch(name):
        raise click.UsageError(
            f"{one_line(reveal(given), 80)!r} can't be the name of a module: "
            "a name is lower case letters, digits and -, such as word-count."
        )
    module_id = f"{prefix}{name}"
    known = installed_modules().get(module_id)
    if known is not None and is_built_in(known):
        raise click.UsageError(
            f"There is a module {module_id!r} already, which comes with the program. "
            "Take another name."
        )
    folder = Path(os.path.expanduser(parent)) / f"amplifier-module-{module_id}"
    try:
        written = _write(folder, kind, module_id, name)
    except FileExistsError as error:
        raise click.UsageError(f"{folder} is there already; nothing was changed.") from error
    except OSError as error:
        raise click.UsageError(f"{folder} can't be written: {error.strerror}") from error
    if as_json:
        print_json({"id": module_id, "folder": str(folder.resolve()), "files": written})
        return
    for file in written:
        click.echo(f"Wrote {folder / file}")
    check = f"amplifier-tui module validate {shlex.quote(str(folder))}"
    click.echo(f"\nCheck it:  {as_typed(check)}")
    if kind in ("orchestrator", "context"):
        # A session has one from its beginning to its end.
        opens = as_typed("amplifier-tui --bundle NAME")
        click.echo(f"Open it:   {opens}, where the bundle has")
        click.echo(
            f"           session: {{{kind}: {{module: {module_id}, source: {folder.resolve()}}}}}"
        )
        click.echo(f"           ({as_typed('amplifier-tui bundle new NAME')} writes one)")
    else:
        opens = as_typed("amplifier-tui")
        click.echo(f"Open it:   {opens}, and in the session: /mount {folder.resolve()}")
    first, *more = _test_commands(folder)
    click.echo(f"Test it:   {first}")
    for line in more:
        click.echo(f"           {line}")


def _test_commands(folder: Path) -> list[str]:
    """Return what runs a module's test: what is missing for that in the program's environment, too.

    The program is installed without pytest, and another Python has no `amplifier_tui`.
    """
    import sys
    from importlib.util import find_spec

    from amplifier_tui.base.commands.installing import pip_install

    python = shlex.quote(sys.executable)
    missing = [name for name in _TEST_PACKAGES if find_spec(name.replace("-", "_")) is None]
    install = [pip_install(missing)] if missing else []
    run = f"cd {shlex.quote(str(folder))} && {python} -m amplifier_tui.compat -m pytest"
    return [*install, run]


def _write(folder: Path, kind: str, module_id: str, name: str) -> list[str]:
    """Write the files of a module; returns their names. Raises `FileExistsError` and `OSError`."""
    package = f"amplifier_module_{module_id.replace('-', '_')}"
    words = {
        "MODULE_ID": module_id,
        "PACKAGE_NAME": package,
        "CLASS_NAME": "".join(part.capitalize() for part in name.split("-")),
        "TOOL_NAME": name.replace("-", "_"),
    }
    files = {
        "pyproject.toml": "pyproject.toml.txt",
        f"{package}/__init__.py": f"{kind}.py.txt",
        f"tests/test_{module_id.replace('-', '_')}.py": f"{kind}_test.py.txt",
    }
    folder.mkdir(parents=True)
    for file, template in files.items():
        text = (Path(__file__).parent / "templates" / template).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return list(files)
