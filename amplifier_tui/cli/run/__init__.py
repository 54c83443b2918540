"""`amplifier-tui run`: one prompt, without a screen."""

from amplifier_tui.cli.run.command import run

__all__ = ["run"]
