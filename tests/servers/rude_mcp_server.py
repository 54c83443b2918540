"""An MCP server without the SDK that misbehaves as it is told: `python rude_mcp_server.py`."""

import json
import os
import subprocess
import sys
import time
from typing import Any

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
WRONG: list[dict[str, Any]] = [
    {"name": "listed", "inputSchema": {"type": "object"}},
    {"name": "listed", "inputSchema": {"type": "object"}},
    {"name": "huge", "inputSchema": {"type": "object", "description": "x" * 30_000}},
    {"name": "\x1b[31mred", "inputSchema": {"type": "object"}},
    {"name": "bash", "description": "\x1b]0;Mine\x07like yours", "inputSchema": SCHEMA},
]
TOOLS = ["echo", "die", "twice", "backwards", "junk", "flood", "logs", "huge_line", "wrong"]
TOOLS += ["stubborn", "late", "pictures", "pid", "ask", "grow"]


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


# As far as anyone looks: the head of a PNG of 9000 by 1 pixels, and of a JPEG.
WIDE = "iVBORw0KGgoAAAANSUhEUgAAIygAAAABCAIAAAA="
JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAA="
held: list[int] = []
asked: dict[str, int] = {}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Whose name"},
        "seats": {"type": "integer", "minimum": 1},
        "class": {"type": "string", "enum": ["first", "second"]},
        "window": {"type": "boolean"},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["dog", "bike"]}},
    },
    "required": ["name", "seats"],
}


def call(number: int, tool: str, words: str) -> None:
    if tool == "echo":
        send(id=number, result=text(words))
        for waiting in held:
            send(id=waiting, result=text("held back"))
        held.clear()
    elif tool == "die":
        print("I am dying", file=sys.stderr, flush=True)
        os._exit(3)
    elif tool == "twice":
        send(id=number, result=text("first"))
        send(id=number, result=text("second"))
        send(id=999_999, result=text("of no call"))
    elif tool == "backwards":
        held.append(number)
    elif tool == "junk":
        sys.stdout.write("Welcome!\n\x1b[31m{}\n[1, 2]\n\xff\n")
        send(id=number, result=text("after junk"))
    elif tool == "flood":
        for _ in range(1_000):
            send(method="notifications/tools/list_changed")
        send(id=number, result=text("flooded"))
    elif tool == "logs":
        for at in range(300):
            params = {"level": "info", "data": f"line {at}"}
            send(method="notifications/message", params=params)
        send(id=number, result=text("logged"))
    elif tool == "huge_line":
        sys.stdout.write("x" * 17 * 1024 * 1024)
        sys.stdout.flush()
    elif tool == "wrong":
        send(id=number, result={"content": "no list"})
    elif tool == "stubborn":
        child = subprocess.Popen(["sleep", "1000"])
        send(id=number, result=text(str(child.pid)))
    elif tool == "ask":
        asked["e1"] = number
        params = {"message": "Book it?", "requestedSchema": FORM}
        send(id="e1", method="elicitation/create", params=params)
    elif tool == "grow":
        TOOLS.append("grown")
        send(method="notifications/tools/list_changed")
        send(id=number, result=text("done"))
    elif tool == "pid":
        send(id=number, result=text(str(os.getpid())))
    elif tool == "pictures":
        images = [
            {"type": "image", "data": "!!!", "mimeType": "image/png"},
            {"type": "image", "data": "SGkgdGhlcmUsIEkgYW0gdGV4dC4=", "mimeType": "image/png"},
            {"type": "image", "data": WIDE, "mimeType": "image/png"},
            {"type": "image", "data": JPEG, "mimeType": "image/png"},
            {"type": "image", "data": "AAAA", "mimeType": "image/tiff"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "name": "notes", "uri": "notes://1"},
        ]
        send(id=number, result={"content": images})
    elif tool != "late":
        send(id=number, error={"code": -32602, "message": f"unknown tool {tool}"})


def main() -> None:
    if "silent" in sys.argv:
        time.sleep(1_000)
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if number is None:
            continue
        if method is None:
            send(id=asked.pop(number), result=text(json.dumps(message.get("result"))))
            continue
        if method == "initialize":
            info = {"name": "rude", "version": "1"}
            can: dict[str, Any] = {"tools": {"listChanged": True}, "resources": {}}
            version = params["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": can, "serverInfo": info}
            send(id=number, result=result)
        elif method == "tools/list":
            plain = [{"name": name, "inputSchema": SCHEMA} for name in TOOLS]
            odd = [{"name": "odd", "inputSchema": 3}] if "odd" in sys.argv else []
            send(id=number, result={"tools": [*plain, *WRONG, *odd]})
        elif method == "resources/list":
            resource = {"uri": "notes://today", "name": "today"}
            send(id=number, result={"resources": [resource]})
        elif method == "resources/read" and params["uri"] == "notes://today":
            contents = [{"uri": "notes://today", "text": "Buy cheese."}]
            send(id=number, result={"contents": contents})
        elif method == "resources/read" and params["uri"] == "notes://late":
            continue
        elif method == "tools/call":
            call(number, params["name"], str((params.get("arguments") or {}).get("text", "")))
        else:
            send(id=number, error={"code": -32601, "message": "unknown method"})


if __name__ == "__main__":
    main()
