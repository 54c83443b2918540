"""Loopback LLM servers: the vendors' HTTP APIs on 127.0.0.1, scripted, able to fail.

    async with LoopbackServer(["Hello.", reply(ToolUse("bash", {"command": "ls"}))]) as server:
        ... ANTHROPIC_BASE_URL=server.url, OPENAI_BASE_URL=server.openai_url ...

`python -m tests.servers --script FILE.json` runs one in a process of its own.
"""

from tests.servers.asked import last_tool_result, last_user, system_text, tool_names, tool_results
from tests.servers.flags import Flag, Gate
from tests.servers.replies import (
    Cut,
    Failure,
    Malformed,
    Pause,
    Raw,
    RedactedThinking,
    Refusal,
    Reply,
    Script,
    Stall,
    StreamFailure,
    Text,
    Thinking,
    ToolUse,
    Usage,
    reply,
)
from tests.servers.server import LoopbackServer, Recorded

__all__ = [
    "Cut",
    "Failure",
    "Flag",
    "Gate",
    "LoopbackServer",
    "Malformed",
    "Pause",
    "Raw",
    "Recorded",
    "RedactedThinking",
    "Refusal",
    "Reply",
    "Script",
    "Stall",
    "StreamFailure",
    "Text",
    "Thinking",
    "ToolUse",
    "Usage",
    "last_tool_result",
    "last_user",
    "reply",
    "system_text",
    "tool_names",
    "tool_results",
]
