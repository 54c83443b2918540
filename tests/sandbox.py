"""Whether the tests that need a sandbox can run: CI installs bubblewrap and says they must."""

import os

import pytest

from amplifier_tui.base.commands.sandbox import sandbox_problem

_MUST = os.environ.get("AMPLIFIER_TUI_REQUIRE_SANDBOX") == "1"

needs_sandbox = pytest.mark.skipif(
    not _MUST and bool(sandbox_problem()), reason=f"no sandbox: {sandbox_problem()}"
)
