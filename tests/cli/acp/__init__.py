"""Tests of `amplifier-tui acp`; the slow way to import the protocol costs each worker 0.3 s."""

from amplifier_tui.cli.acp.command import import_protocol

import_protocol()
