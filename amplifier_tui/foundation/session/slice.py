"""Cutting a conversation at a turn: turn 1 begins with the user's first message."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from amplifier_tui.base.messages.tool_calls import (
    CALL_BLOCKS,
    answer_calls,
    calls_of,
    read_call,
    unanswered,
)
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.session.messages import is_real_user_message

Message = dict[str, Any]
OrphanRule = Literal["complete", "remove", "error"]


def get_turn_boundaries(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the index of the message that each turn begins with."""
    return [index for index, message in enumerate(messages) if is_real_user_message(message)]


def count_turns(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return how many turns there are."""
    return len(get_turn_boundaries(messages))


def slice_to_turn(
    messages: Sequence[Mapping[str, Any]],
    turn: int,
    *,
    handle_orphaned_tools: OrphanRule = "complete",
) -> list[Message]:
    """Return copies of the messages up to the end of a turn.

    Args:
        messages: The conversation; what stands before the first turn is kept.
        turn: The last turn that is kept, counted from 1.
        handle_orphaned_tools: What becomes of a call without a result: a result that says so is
            added, the call is removed, or it is an error.

    Raises:
        ValueError: There is no such turn; or a call has no result, and that is an error.
    """
    starts = get_turn_boundaries(messages)
    if not 1 <= turn <= len(starts):
        raise ValueError(f"There is no turn {turn}: the session has {len(starts)}")
    end = starts[turn] if turn < len(starts) else len(messages)
    kept: list[Message] = copy_plain(list(messages[:end]))
    orphans = find_orphaned_tool_calls(kept)
    if not orphans:
        return kept
    if handle_orphaned_tools == "error":
        raise ValueError(f"Tool calls without a result: {', '.join(orphans)}")
    if handle_orphaned_tools == "remove":
        return _without_calls(kept, set(orphans))
    return add_synthetic_tool_results(kept, orphans)


def find_orphaned_tool_calls(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the ids of the calls that have no result anywhere, in order."""
    return [call.call_id for call in unanswered(messages)]


def add_synthetic_tool_results(
    messages: Iterable[Mapping[str, Any]], orphaned_ids: Iterable[str]
) -> list[Message]:
    """Return the messages with a result that says there is none, for each of the calls."""
    return answer_calls(messages, set(orphaned_ids))


def get_turn_summary(
    messages: Sequence[Mapping[str, Any]], turn: int, max_length: int = 100
) -> dict[str, Any]:
    """Return what happened in a turn.

    That is `turn`, `user_content` and `assistant_content` (at most `max_length` characters),
    `tool_count` and `message_count`. Raises `ValueError` when there is no such turn.
    """
    starts = get_turn_boundaries(messages)
    if not 1 <= turn <= len(starts):
        raise ValueError(f"There is no turn {turn}: the session has {len(starts)}")
    part = messages[starts[turn - 1] : starts[turn] if turn < len(starts) else len(messages)]
    answers = [_text(each) for each in part if each.get("role") == "assistant"]
    return {
        "turn": turn,
        "user_content": _shortened(_text(part[0]), max_length),
        "assistant_content": _shortened(next(filter(None, reversed(answers)), ""), max_length),
        "tool_count": sum(len(list(calls_of(each))) for each in part),
        "message_count": len(part),
    }


def _without_calls(messages: Iterable[Message], removed: set[str]) -> list[Message]:
    kept = []
    for message in messages:
        for key in ("tool_calls", "content"):
            value = message.get(key)
            if isinstance(value, list):
                message[key] = [item for item in value if not _is_call(item, key, removed)]
        if not message.get("tool_calls", True):
            del message["tool_calls"]
        if message.get("role") != "assistant" or message.get("content") or "tool_calls" in message:
            kept.append(message)
    return kept


def _is_call(item: Any, key: str, ids: set[str]) -> bool:
    if not isinstance(item, Mapping) or (key == "content" and item.get("type") not in CALL_BLOCKS):
        return False
    return read_call(item).call_id in ids


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: max(length - 1, 0)]}…"
