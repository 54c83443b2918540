"""Scripts as JSON, for a server that runs in a process of its own.

```json
{
  "models": ["claude-sonnet-5-5"],
  "replies": [
    "A plain string is a text answer.",
    {"thinking": "Let me see.", "text": "Hello", "pace": 0.02, "usage": {"input": 900}},
    {"tools": [{"name": "bash", "arguments": {"command": "ls"}}]},
    {"parts": [{"text": ["one ", {"gate": "first"}, "two ", {"pause": 0.5}, {"cut": true}]}]},
    {"text": "You said: ${last_tool_result}"},
    {"fail": "rate_limited", "retry_after": 2}
  ],
  "otherwise": "Done."
}
```

`${last_tool_result}` and `${last_user}` are replaced by what the request carries, so that a
scripted model can react. Steps inside a list of chunks: `gate`, `pause`, `cut`, `stall`,
`malformed`, `stream_failure`.
"""

import json
import string
from pathlib import Path
from typing import Any

from tests.servers.asked import last_tool_result, last_user
from tests.servers.replies import (
    Answer,
    Cut,
    Failure,
    Malformed,
    Part,
    Pause,
    RedactedThinking,
    Reply,
    Script,
    Scripted,
    Stall,
    Step,
    StreamFailure,
    Text,
    Thinking,
    ToolUse,
    Usage,
    words,
)
from tests.servers.server import LoopbackServer


def load(path: Path, port: int = 0) -> LoopbackServer:
    """A server, not started, for the script in this file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    server = LoopbackServer(port=port, models=data.get("models"))
    otherwise = data.get("otherwise")
    server.script = Script(
        [_entry(entry, server) for entry in data["replies"]],
        otherwise=None if otherwise is None else _entry(otherwise, server),
    )
    return server


def _entry(entry: Any, server: LoopbackServer) -> Scripted:
    return lambda request: _answer(entry, request, server)


def _answer(entry: Any, request: dict[str, Any], server: LoopbackServer) -> Answer:
    if isinstance(entry, str):
        entry = {"text": entry}
    if kind := entry.get("fail"):
        return Failure(kind, entry.get("retry_after"), entry.get("message"))
    parts = [part for item in entry.get("parts", [entry]) for part in _parts(item, request, server)]
    options: dict[str, Any] = {"pace": entry.get("pace", 0.0), "stop": entry.get("stop")}
    if "usage" in entry:
        options["usage"] = Usage(**entry["usage"])
    if "before" in entry:
        options["before"] = _step(entry["before"], server)
    return Reply(parts, **options)


def _parts(
    item: dict[str, Any], request: dict[str, Any], server: LoopbackServer
) -> list[Part | Step]:
    parts: list[Part | Step] = []
    if "thinking" in item:
        signature = item.get("signature", "sig-1")
        parts.append(Thinking(_content(item["thinking"], request, server), signature))
    if "redacted" in item:
        parts.append(RedactedThinking(item["redacted"]))
    if "text" in item:
        parts.append(Text(_content(item["text"], request, server)))
    parts += [ToolUse(**call) for call in item.get("tools", [])]
    return parts


def _content(content: Any, request: dict[str, Any], server: LoopbackServer) -> list[str | Step]:
    if isinstance(content, str):
        return list(words(_filled(content, request)))
    return [
        _filled(piece, request) if isinstance(piece, str) else _step(piece, server)
        for piece in content
    ]


def _filled(text: str, request: dict[str, Any]) -> str:
    return string.Template(text).safe_substitute(
        last_tool_result=last_tool_result(request), last_user=last_user(request)
    )


def _step(step: dict[str, Any], server: LoopbackServer) -> Step:
    match step:
        case {"gate": str(name)}:
            return server.gate(name)
        case {"pause": seconds}:
            return Pause(float(seconds))
        case {"cut": True}:
            return Cut()
        case {"stall": True}:
            return Stall()
        case {"malformed": True}:
            return Malformed()
        case {"stream_failure": kind}:
            return StreamFailure(kind)
        case _:
            raise ValueError(f"unknown step in the script: {step!r}")
