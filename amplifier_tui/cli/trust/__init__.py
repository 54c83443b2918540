"""`amplifier-tui trust`: what of projects and strangers may count, as it was answered."""

import click

from amplifier_tui.cli.trust.commands import add, forget, show, trust_list

trust = click.Group(
    "trust",
    commands={"list": trust_list, "show": show, "forget": forget, "add": add},
    help="Look at what you trust, forget it, or trust a publisher or a folder.",
)
