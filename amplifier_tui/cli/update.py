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
    click.echo("Bundles: amplifier-tui bundle update NAME")
    return 0


def installation(prefix: Path | None = None) -> Installation:
    """Find out how the program was installed.

    Args:
        prefix: The environment it is in; default the one that runs.
    """
    prefix = Path(sys.prefix) if prefix is None else prefix
    source = _source_folder()
    if source is not None:
        return Installation("editable", str(source), f"git -C {quote(str(source))} pull")
    place = str(prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return Installation("pipx", place, f"pipx upgrade {_NAME}")
    if (prefix / "uv-receipt.toml").is_file():
        return Installation("uv tool", place, f"uv tool upgrade {_NAME}")
    if "uv" in _installer():
        python = f" --python {quote(sys.executable)}" if not os.environ.get("VIRTUAL_ENV") else ""
        return Installation("pip", place, f"uv pip install --upgrade{python} {_NAME}")
    return Installation("pip", place, f"{quote(sys.executable)} -m pip install --upgrade {_NAME}")


def _source_folder() -> Path | None:
    """Return the folder an editable installation runs from."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        data = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return None
    url = str(data.get("url", ""))
    if not data.get("dir_info", {}).get("editable") or not url.startswith("file://"):
        return None
    return Path(unquote(url.removeprefix("file://")))


def _installer() -> str:
    try:
        return (distribution(_NAME).read_text("INSTALLER") or "").strip()
    except PackageNotFoundError:
        return ""
