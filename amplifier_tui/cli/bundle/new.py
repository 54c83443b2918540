"""`amplifier-tui bundle new`: the smallest bundle that runs."""

import click

from amplifier_tui.cli.bundle import common

_TEXT = """\
---
bundle:
  name: {name}
  version: 0.1.0
  description: What it is for, in a sentence for the list of bundles.

includes:
  - {base}
---

You are an agent in the user's terminal. Say here what you do, how, and what you leave alone.
"""


@click.command(short_help="Write a bundle that runs.")
@click.argument("name")
@click.option("--from", "base", metavar="BUNDLE", default="minimal", help="What it is made of.")
@click.option("--user", is_flag=True, help="For all your projects; default: for this one.")
@common.json_option
@click.pass_context
def new(context: click.Context, name: str, base: str, user: bool, as_json: bool) -> None:
    """Write a bundle NAME, to be changed: another bundle's modules with an instruction of its own.

    By default it is made of `minimal`, which has no tools; `--from coding` has those of that one.
    A bundle that is there already is left as it is.
    """
    from amplifier_tui.base.commands.as_typed import as_typed
    from amplifier_tui.base.text import one_line
    from amplifier_tui.cli.bundle.sources import check_free, valid_name, written_source
    from amplifier_tui.foundation.exceptions import BundleError

    workspace = common.open_workspace(context)
    with common.failures(context):
        if not valid_name(name):
            raise BundleError(
                f"{name!r} can't be used as a name", remedy="Letters, digits and - make one."
            )
        check_free(name, workspace.catalog().find(name), "Take another name.")
        base = written_source(workspace.choose(requested=base).entry, base)
        folder = workspace.home / "bundles" if user else workspace.project / ".amplifier/bundles"
        path = folder / f"{name}.md"
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_TEXT.format(name=_scalar(name), base=_scalar(base)))
    if as_json:
        common.print_json({"bundle": name, "file": str(path)})
        return
    click.echo(f"Wrote {one_line(str(path), 500)}")
    click.echo(f"\nCheck it:  {as_typed(f'amplifier-tui bundle validate {name}')}")
    click.echo(f"Open it:   {as_typed(f'amplifier-tui --bundle {name}')}")


def _scalar(text: str) -> str:
    """Return a text as YAML, in quotes only where it would be read as something else."""
    import json

    import yaml

    try:
        plain = yaml.safe_load(f"- {text}") == [text]
    except yaml.YAMLError:
        plain = False
    return text if plain else json.dumps(text, ensure_ascii=False)
