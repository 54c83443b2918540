"""The program in a browser: one process per visitor, behind an address that holds a token."""

from amplifier_tui.cli.serve.command import serve

__all__ = ["serve"]
