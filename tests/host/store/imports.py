"""Transcripts of other programs, in the shape in which those write them."""

import json
from pathlib import Path
from typing import Any

CLAUDE_ID = "0f5c1c1e-6a51-4c8e-9d55-1f6d2f0c7a11"
CODEX_ID = "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
KEY = "sk-ant-api03-" + "a1" * 20


def claude_rows(cwd: str = "/work/app") -> list[Any]:
    def row(kind: str, **more: Any) -> dict[str, Any]:
        base = {"type": kind, "cwd": cwd, "sessionId": CLAUDE_ID, "isSidechain": False}
        return {**base, "timestamp": "2026-01-02T03:04:05.000Z", "uuid": "u", **more}

    def said(block: dict[str, Any], identity: str) -> dict[str, Any]:
        message = {"id": identity, "role": "assistant", "model": "m", "content": [block]}
        return row("assistant", message=message)

    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "1"}],
    }
    return [
        {"type": "summary", "summary": "Mend the \x1b[31mparser", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": {}},
        row("user", isMeta=True, message={"role": "user", "content": "Caveat: see below"}),
        row("user", message={"role": "user", "content": f"Why is it slow?\x1b]0;x\x07 {KEY}"}),
        said({"type": "thinking", "thinking": "I look.", "signature": "s"}, "m1"),
        said({"type": "text", "text": "I read it."}, "m1"),
        said(call, "m1"),
        row("user", message={"role": "user", "content": [result]}, toolUseResult={"x": 1}),
        row("user", isSidechain=True, message={"role": "user", "content": "of a sub-agent"}),
        said({"type": "text", "text": "It waits for the disk."}, "m2"),
        row("telepathy", thought="of a later version"),
    ]


def codex_rows(cwd: str = "/work/app") -> list[Any]:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": payload}

    def text(role: str, kind: str, said: str) -> dict[str, Any]:
        return item(type="message", role=role, content=[{"type": kind, "text": said}])

    meta = {"id": CODEX_ID, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.50.0"}
    given = '{"command": ["ls"]}'
    return [
        {"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": meta},
        text("user", "input_text", "<environment_context>\n  <cwd>/x</cwd>"),
        text("user", "input_text", "List the files"),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "List the files"}},
        {"type": "turn_context", "payload": {"cwd": "/elsewhere"}},
        item(type="reasoning", summary=[{"type": "summary_text", "text": "I list."}]),
        item(type="function_call", name="shell", arguments=given, call_id="c1"),
        item(type="function_call_output", call_id="c1", output="a.py\x1b[31m"),
        text("assistant", "output_text", "There is one."),
        {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
        {"type": "telepathy", "payload": {"thought": "of a later version"}},
    ]


def write_claude(home: Path, rows: list[Any] | None = None, name: str = CLAUDE_ID) -> Path:
    return _write(
        home / ".claude" / "projects" / "-work-app" / f"{name}.jsonl", rows or claude_rows()
    )


def write_codex(home: Path, rows: list[Any] | None = None) -> Path:
    day = home / ".codex" / "sessions" / "2026" / "01" / "02"
    return _write(day / f"rollout-2026-01-02T03-04-05-{CODEX_ID}.jsonl", rows or codex_rows())


def _write(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
