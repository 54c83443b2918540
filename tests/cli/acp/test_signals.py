"""An agent that is told to end by the system, as editors do."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def asked(process: "subprocess.Popen[bytes]", number: int, method: str, **params: Any) -> Any:
    """Send a request, and return its result."""
    assert process.stdin is not None and process.stdout is not None
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]
    raise AssertionError("the agent has ended")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_agent_that_is_told_to_end_closes_its_sessions(
    number: signal.Signals, tmp_path: Path, own_home: Path
) -> None:
    command = [sys.executable, "-m", "amplifier_tui", "acp", "--demo"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # The tests may run with some of them ignored.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    with process:
        asked(process, 1, "initialize", protocolVersion=1, clientCapabilities={})
        new = asked(process, 2, "session/new", cwd=str(tmp_path), mcpServers=[])
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stderr is not None and process.stderr.read() == b""
    logs = "".join(path.read_text() for path in own_home.parent.rglob("amplifier-tui.log"))
    assert f"Session {new['sessionId']} closed" in logs
