"""Transcripts of Claude Code, `projects/<folder>/<id>.jsonl`: each block of a message is a row."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.host.store.imported.builder import RowBuilder, named, text_in

_BOOKKEEPING: Final = (
    *("summary", "custom-title", "ai-title", "file-history-snapshot", "queue-operation"),
    "progress",
)
"""Types of rows that hold nothing that was said. A tuple: a foreign type may be unhashable."""
_COMMANDS: Final = ("<command-", "<local-command-", "<bash-", "<system-reminder>")
"""What the program puts into a user's message itself begins like this."""
_REFUSALS: Final = (
    *("The user doesn't want to", "Permission to use", "Claude requested permissions"),
    "This command requires approval",
)
"""How the result of a call begins that was refused."""


class ClaudeCodeReader:
    """Turns the rows of one transcript into ours."""

    def __init__(self) -> None:
        self._message = ""

    def read(self, row: Row, builder: RowBuilder) -> None:
        """Take the next row."""
        if row.get("isSidechain") is True:
            # What a sub-agent said among itself: the call that asked it has its answer.
            return
        builder.at(row.get("timestamp"))
        kind, message = row.get("type"), row.get("message")
        if kind == "assistant" and isinstance(message, Mapping):
            self._answer(message, builder)
        elif kind == "user" and isinstance(message, Mapping):
            self._user(row, message.get("content"), builder)
        elif kind == "system":
            builder.note("system", text_in(row.get("content")))
        elif kind not in _BOOKKEEPING:
            builder.note(named(kind), row)

    def facts(self, row: Row) -> dict[str, str]:
        """Return what a row says of its session: `cwd`, `title`."""
        titles = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
        kind = row.get("type")
        named = {"title": row.get(titles[kind])} if isinstance(kind, str) and kind in titles else {}
        found = {"cwd": row.get("cwd"), **named}
        return {name: value for name, value in found.items() if isinstance(value, str) and value}

    def _answer(self, message: Mapping[str, Any], builder: RowBuilder) -> None:
        # Each block of an answer is a row of its own, with the id of the answer.
        identity = message.get("id")
        if not isinstance(identity, str) or identity != self._message:
            builder.finish()
        self._message = identity if isinstance(identity, str) else ""
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            if not isinstance(block, Mapping):
                builder.answer(text_in(block))
            elif block.get("type") == "thinking":
                builder.thinking(text_in(block.get("thinking")))
            elif block.get("type") == "tool_use":
                builder.call(block.get("id"), block.get("name"), block.get("input"))
            elif block.get("type") != "redacted_thinking":
                builder.answer(text_in(block))

    def _user(self, row: Row, content: Any, builder: RowBuilder) -> None:
        said: list[Any] = []
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, Mapping) and block.get("type") == "tool_result":
                text, failed = text_in(block.get("content")), block.get("is_error") is True
                builder.result(block.get("tool_use_id"), text, failed=failed, refusals=_REFUSALS)
            else:
                said.append(block)
        text = text_in(said)
        own = row.get("isMeta") is True or row.get("isCompactSummary") is True
        if own or text.lstrip().startswith(_COMMANDS):
            builder.note("Claude Code", text)
        else:
            builder.prompt(text)
