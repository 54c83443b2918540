"""`amplifier-tui acp`: an agent for editors that speak the Agent Client Protocol."""

from amplifier_tui.cli.acp.command import acp

__all__ = ["acp"]
