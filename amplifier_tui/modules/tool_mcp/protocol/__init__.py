"""Speaking to servers with the official SDK.

Nothing else of the module imports the SDK: it takes a second and thirty megabytes, so this is
imported when the first server is started, and in a thread.
"""

from amplifier_tui.modules.tool_mcp.protocol.client import (
    CallFailedError,
    ServerClient,
    connected,
    reason,
)
from amplifier_tui.modules.tool_mcp.protocol.http import http_streams
from amplifier_tui.modules.tool_mcp.protocol.sign_in import sign_in
from amplifier_tui.modules.tool_mcp.protocol.stdio import stdio_streams

__all__ = [
    "CallFailedError",
    "ServerClient",
    "connected",
    "http_streams",
    "reason",
    "sign_in",
    "stdio_streams",
]
