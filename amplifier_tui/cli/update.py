"""`amplifier-tui update`: how this installation is brought up to date."""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Literal, NamedTuple
from urllib.parse import unquote

import click

from amplifier_tui import __version__
from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.bundle.common import json_option, print_json

Kind = Literal["pipx", "uv tool", "editable", "pip"]
_NAME = "amplifier-tui"


class Installation(NamedTuple):
    """How the program came here, where it is, and the command that updates it."""

    kind: Kind
    place: str
    command: str


@click.command()
@json_option
def update(as_json: bool) -> int:
    """Say how this installation is updated; nothing is changed.

    Bundles are updated by `amplifier-tui bundle update`.
    """
    found = installation()
    if as_json:
        print_json({"version": __version__, **found._asdict()})
        return 0
    how = "run from the clone" if found.kind == "editable" else f"installed by {found.kind}"
    click.echo(f"amplifier-tui {__version__}, {how} in {found.place}")
    click.echo(f"Update it with:\n\n    {found.command}\n")
    click.echo(f"Bundles: {as_typed('amplifier-tui bundle update NAME')}")
    return 0


def installation(prefix: Path | None = None) -> Installation:
    """Find out how the program was installed.

    Args:
        prefix: The environment it is in; default the one that runs.
    """
    prefix = Path(sys.prefix) if prefix is None else prefix
    source, editable = _source_folder()
    pull = f"git -C {quote(str(source))} pull"
    if source is not None and editable:
        return Installation("editable", str(source), pull)
    place = str(prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return Installation("pipx", place, f"pipx upgrade {_NAME}")
    if (prefix / "uv-receipt.toml").is_file():
        return Installation("uv tool", place, f"uv tool upgrade {_NAME}")
    # Installed from a clone, it comes from there again: by its name, there may be another one.
    what = _NAME if source is None else quote(str(source))
    first = "" if source is None else f"{pull} && "
    if "uv" in _installer():
        python = f" --python {quote(sys.executable)}" if not os.environ.get("VIRTUAL_ENV") else ""
        return Installation("pip", place, f"{first}uv pip install --upgrade{python} {what}")
    pip = f"{quote(sys.executable)} -m pip install --upgrade {what}"
    return Installation("pip", place, first + pip)


def _source_folder() -> tuple[Path | None, bool]:
    """Return the folder it was installed from, if any, and whether it runs from there."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        data = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return None, False
    url = str(data.get("url", ""))
    if "dir_info" not in data or not url.startswith("file://"):
        return None, False
    return Path(unquote(url.removeprefix("file://"))), bool(data["dir_info"].get("editable"))


def _installer() -> str:
    try:
        return (distribution(_NAME).read_text("INSTALLER") or "").strip()
    except PackageNotFoundError:
        return ""
