"""`amplifier-tui schema`: what the program reads and writes, as JSON Schema."""

import click

from amplifier_tui.cli.bundle.common import print_json


@click.group()
def schema() -> None:
    """Print the JSON Schema of what programs exchange with this one."""


@schema.command()
def events() -> int:
    """Of a line that `run --output jsonl` writes."""
    from amplifier_tui.cli.run.headless import RunResult
    from amplifier_tui.cli.run.lines import RefusedLine
    from amplifier_tui.host.events.schema import events_schema

    made = events_schema({"RunEnded": RunResult, "InputRefused": RefusedLine})
    made["$defs"]["RunEnded"]["properties"]["exit_status"] = {"type": "integer"}
    print_json(made)
    return 0


@schema.command(name="input")
def input_lines() -> int:
    """Of a line that `run --input jsonl` reads."""
    from amplifier_tui.cli.run.lines import LINE
    from amplifier_tui.host.events.schema import DIALECT

    print_json({"$schema": DIALECT, "title": "Input", **LINE.json_schema()})
    return 0
