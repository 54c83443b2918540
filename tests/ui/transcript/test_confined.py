"""What the line of a command that failed says of the sandbox it ran in."""

from dataclasses import replace

from amplifier_tui.ui.state.conversation.entries import ToolEntry
from tests.ui.transcript.test_entries import drawn, tool


def line(entry: ToolEntry) -> str:
    """Return the line of the call itself: what it printed is below."""
    return drawn(entry)[1]


def test_a_failed_command_says_that_it_ran_in_the_sandbox() -> None:
    said = "The command ran in a sandbox: it could write only in /w and had no network. Ask."
    ending = "[exit code 7 · 0.1 s]"
    failed = tool(state="failed", error="exit code 7", output=f"refused\n{ending}\n[{said}]")
    assert "ls · in the sandbox, without network " in line(failed)
    online = failed.output.replace(" and had no network", "")
    assert "in the sandbox " in line(replace(failed, output=online))
    for other in (f"[{said}]\n{ending}", f"{said}\n{ending}\n[a note]"):
        assert "sandbox" not in line(replace(failed, output=other))
