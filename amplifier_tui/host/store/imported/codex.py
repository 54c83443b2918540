"""Transcripts of Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

A row has a `type` and a `payload`; before that, each was an item of a response itself.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.host.store.imported.builder import RowBuilder, named, text_in

_BOOKKEEPING: Final = ("session_meta", "turn_context", "ghost_snapshot", "state")
"""Types that hold nothing that was said. Tuples: a foreign type may be unhashable."""
_TOLD_TWICE: Final = (
    *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"),
    *("agent_reasoning_section_break", "token_count", "task_started", "task_complete"),
    *("turn_started", "turn_complete", "exec_command_begin", "exec_command_end"),
    *("mcp_tool_call_begin", "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end"),
    *("web_search_begin", "web_search_end", "turn_diff", "plan_update"),
)
"""Events that repeat what the items of the response say, or that say nothing."""
_OWN: Final = (
    *("<user_instructions>", "<environment_context>", "<permissions", "<turn_aborted>"),
    *("<collaboration_mode>", "<skill", "# AGENTS.md instructions"),
)
"""What the program puts into a user's message itself begins like this."""
_REFUSALS: Final = ("exec command rejected", "patch rejected", "rejected by user")
"""How the output of a call begins that was refused."""
_FAILURES: Final = (
    *("execution error", "failed to ", "unsupported ", "apply_patch verification failed"),
    *("aborted", "command timed out", "exec_command failed", "write_stdin failed"),
)
"""How the output of a call begins that never came to an exit code."""
_EXIT_CODE: Final = re.compile(
    r"(?:[^\n]*\n){0,4}?(?:Exit code:|Process exited with code) (-?\d+)(?:\n|$)"
)
"""The exit code above a command's output, among the first lines."""


class CodexReader:
    """Turns the rows of one transcript into ours."""

    def read(self, row: Row, builder: RowBuilder) -> None:
        """Take the next row."""
        builder.at(row.get("timestamp"))
        kind, payload = row.get("type"), row.get("payload")
        if kind in ("response_item", "event_msg", "compacted") and isinstance(payload, Mapping):
            if kind == "response_item":
                self._item(payload, builder)
            elif kind == "compacted":
                builder.note("compacted", text_in(payload.get("message")))
            elif payload.get("type") not in _TOLD_TWICE:
                builder.note(named(payload.get("type")), dict(payload))
        elif "payload" not in row and (kind is not None or "record_type" in row):
            if row.get("record_type") != "state":
                self._item(row, builder)
        elif kind not in _BOOKKEEPING and not (kind is None and "id" in row):
            builder.note(named(kind), row)

    def facts(self, row: Row) -> dict[str, str]:
        """Return what a row says of its session: `cwd`."""
        payload = row.get("payload")
        cwd = payload.get("cwd") if isinstance(payload, Mapping) else None
        return {"cwd": cwd} if isinstance(cwd, str) and cwd else {}

    def _item(self, item: Mapping[str, Any], builder: RowBuilder) -> None:
        kind, call_id = item.get("type"), item.get("call_id")
        match kind:
            case "message":
                self._message(item, builder)
            case "reasoning":
                builder.thinking(text_in(item.get("summary") or item.get("content") or []))
            case "function_call":
                builder.call(call_id, item.get("name"), item.get("arguments"))
            case "custom_tool_call":
                builder.call(call_id, item.get("name"), {"input": item.get("input")})
            case "local_shell_call":
                builder.call(call_id or item.get("id"), "local_shell", item.get("action"))
            case "function_call_output" | "custom_tool_call_output":
                text, failed = _output(item.get("output"))
                builder.result(call_id, text, failed=failed, refusals=_REFUSALS)
            case _ if kind not in _BOOKKEEPING:
                builder.note(named(kind), dict(item))

    def _message(self, item: Mapping[str, Any], builder: RowBuilder) -> None:
        text = text_in(item.get("content"))
        if item.get("role") == "assistant":
            builder.answer(text)
        elif item.get("role") == "user" and not text.lstrip().startswith(_OWN):
            builder.prompt(text)
        else:
            builder.note("Codex", text)


def _output(output: Any) -> tuple[str, bool]:
    """Return what a tool gave back as text, and whether it failed or was refused."""
    failed = False
    if isinstance(output, Mapping) and "content" in output:
        failed = output.get("success") is False
        output = output["content"]
    text = text_in(output)
    if text.startswith('{"'):
        with suppress(ValueError, RecursionError):
            whole = json.loads(text)
            metadata = whole.get("metadata")
            if isinstance(metadata, Mapping) and isinstance(whole.get("output"), str):
                return whole["output"], failed or metadata.get("exit_code", 0) not in (0, None)
    if exited := _EXIT_CODE.match(text):
        return text, failed or int(exited[1]) != 0
    return text, failed or text.startswith((*_REFUSALS, *_FAILURES))
