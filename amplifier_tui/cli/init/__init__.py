"""`amplifier-tui init`: the first steps, asked one after the other."""

from amplifier_tui.cli.init.command import init

__all__ = ["init"]
