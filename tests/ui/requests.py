"""Approval requests for tests."""

import time
from typing import Any

from amplifier_tui.host.events import ApprovalRequested, ApprovalResolved, Segment
from tests.ui.fake_client import SESSION

DIFF = """--- a/src/app.py
+++ b/src/app.py
@@ -1,3 +1,4 @@
 import os
-x = 1
+x = 2
+y = 3
 print(x)
@@ -40,2 +41,2 @@
-old = True
+new = True
"""


def ask(request_id: str = "r1", **values: Any) -> ApprovalRequested:
    """Return a request to run a command."""
    defaults: dict[str, Any] = {
        "session_id": SESSION,
        "at": time.time(),
        "request_id": request_id,
        "tool": "bash",
        "asker": "hooks-approval",
        "action": "bash wants to run a command",
        "payload": "rm -rf build",
        "payload_kind": "command",
        "segments": (Segment(text="rm -rf build", note="no rule · deletes files"),),
        "risk": "high",
        "reasons": ("deletes files",),
        "cwd": "/home/u/src/app",
        "why": "not on the allow list",
        "scopes": ("once", "session", "project"),
        "rule": "rm -rf build",
    }
    return ApprovalRequested(**{**defaults, **values})


def resolved(request_id: str = "r1", **values: Any) -> ApprovalResolved:
    """Return the answer to a request."""
    defaults: dict[str, Any] = {"session_id": SESSION, "outcome": "allowed"}
    return ApprovalResolved(request_id=request_id, **{**defaults, **values})
