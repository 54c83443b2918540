"""Between the context's rows and the provider's envelope."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.kernel.message_models import ChatRequest, Message, ToolCall, ToolSpec
from amplifier_tui.kernel.models import ContextInjection, ToolResult

logger = logging.getLogger(__name__)

Row = dict[str, Any]
"""One message as contexts keep it (spec 000, message format)."""


class RequestMaker:
    """Makes the requests of a session.

    A context of ours hands out the same row for the same message, again and again; what was made
    of it is used again, so that a request costs what is new in it.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Row, Message]] = {}

    def make(
        self, rows: Iterable[Row], injections: Iterable[ContextInjection], tools: list[ToolSpec]
    ) -> ChatRequest:
        """Build the request for the next step.

        Args:
            rows: What the context wants the model to see.
            injections: Texts for this request only.
            tools: The tools on offer.
        """
        seen = list(rows)
        for injection in injections:
            _inject(seen, injection)
        before, self._known = self._known, {}
        messages = []
        for row in seen:
            # The row is kept with its message, so that no other row can get its id.
            known = before.get(id(row)) or (row, _message(row))
            self._known[id(row)] = known
            messages.append(known[1])
        return ChatRequest(messages=messages, tools=tools or None, stream=True)


def _inject(rows: list[Row], injection: ContextInjection) -> None:
    last = rows[-1] if rows else {}
    if injection.append_to_last_tool_result and last.get("role") == "tool":
        content = last.get("content")
        added: Any
        if isinstance(content, list):
            added = [*content, {"type": "text", "text": injection.content}]
        else:
            added = f"{content or ''}\n\n{injection.content}"
        # The context's own row stays as it is.
        rows[-1] = {**last, "content": added}
        return
    rows.append(
        {
            "role": injection.role,
            "content": injection.content,
            "metadata": {
                "source": "hook",
                "hook_name": injection.hook_name,
                "event": injection.event,
                "ephemeral": True,
            },
        }
    )


def _message(row: Row) -> Message:
    # Whatever becomes of the message, the context's own row stays as it is.
    data: Row = copy_plain(row)
    if data.get("content") is None:
        data["content"] = ""
    try:
        return Message.model_validate(data)
    except ValidationError as error:
        # A row of another program: what it says matters more than its shape.
        logger.warning(
            "A row of the conversation has an unknown shape, sent as text: %s",
            error.errors(include_url=False, include_input=False)[0]["msg"],
        )
        content = data["content"]
        if not isinstance(content, str):
            content = json.dumps(content, ensure_ascii=False, default=str)
        return Message(role="user", content=content)


def block_rows(content: Any) -> list[Row]:
    """Return a response's content as block dicts that survive a round trip through JSON."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list | tuple):
        return []
    rows: list[Row] = []
    for block in content:
        if isinstance(block, BaseModel):
            rows.append(block.model_dump(mode="json", exclude_none=True, fallback=str))
        elif isinstance(block, Mapping):
            rows.append(dict(block))
    return rows


def text_of(blocks: Iterable[Row]) -> str:
    """Return what the model says in these blocks, its reasoning left out."""
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def assistant_row(blocks: list[Row], calls: Iterable[ToolCall]) -> Row:
    """Return the row of an answer, with everything its provider needs to send it again.

    Args:
        blocks: The content.
        calls: The tool calls; each is named under ``name`` and, for the Amplifier CLI, ``tool``.
    """
    row: Row = {"role": "assistant", "content": blocks}
    tool_calls = [
        {"id": call.id, "name": call.name, "tool": call.name, "arguments": call.arguments}
        for call in calls
    ]
    if tool_calls:
        row["tool_calls"] = tool_calls
    return row


def tool_row(call: ToolCall, result: ToolResult, *marks: str) -> Row:
    """Return the row of a tool call's result.

    Args:
        call: The call.
        result: What came of it; its images go along.
        *marks: What else its metadata says of a failure: "denied", "interrupted".
    """
    row: Row = {
        "role": "tool",
        "tool_call_id": call.id,
        "name": call.name,
        "content": _result_content(result),
    }
    if not result.success:
        row["metadata"] = dict.fromkeys(("is_error", *marks), True)
    return row


def _result_content(result: ToolResult) -> str | list[Row]:
    if not result.content:
        return result.get_serialized_output()
    blocks = block_rows(result.content)
    if result.output is not None and not text_of(blocks):
        blocks.insert(0, {"type": "text", "text": result.get_serialized_output()})
    return blocks


def usage_data(usage: Any) -> dict[str, Any] | None:
    """Return a response's usage as plain data, or None where it has none."""
    if isinstance(usage, BaseModel):
        return usage.model_dump(mode="json", exclude_none=True, fallback=str)
    return dict(usage) if isinstance(usage, Mapping) else None
