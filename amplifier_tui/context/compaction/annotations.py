"""The marks that grouping and compaction leave on messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from amplifier_tui.context.message import Message

GROUP_ANNOTATION_KEY: Final = "_group"
"""Key of a message's group in its additional properties; a dict with the five keys below."""
GROUP_ID_KEY: Final = "id"
GROUP_KIND_KEY: Final = "kind"
GROUP_INDEX_KEY: Final = "index"
GROUP_HAS_REASONING_KEY: Final = "has_reasoning"
GROUP_TOKEN_COUNT_KEY: Final = "token_count"
EXCLUDED_KEY: Final = "_excluded"
"""Set on messages the model does not get."""
EXCLUDE_REASON_KEY: Final = "_exclude_reason"
SUMMARY_OF_MESSAGE_IDS_KEY: Final = "_summary_of_message_ids"
SUMMARY_OF_GROUP_IDS_KEY: Final = "_summary_of_group_ids"
SUMMARIZED_BY_SUMMARY_ID_KEY: Final = "_summarized_by_summary_id"


def is_excluded(message: Message) -> bool:
    """Whether compaction excluded a message."""
    return message.additional_properties.get(EXCLUDED_KEY) is True


def exclude(message: Message, reason: str) -> bool:
    """Exclude a message; returns whether it was included before."""
    if is_excluded(message):
        return False
    message.additional_properties[EXCLUDED_KEY] = True
    message.additional_properties[EXCLUDE_REASON_KEY] = reason
    return True


def group_of(message: Message) -> dict[str, Any]:
    """Return a message's group; empty where it was not grouped yet."""
    group = message.additional_properties.get(GROUP_ANNOTATION_KEY)
    return group if isinstance(group, dict) else {}


def included_messages(messages: Iterable[Message]) -> list[Message]:
    """Return the messages the model gets."""
    return [message for message in messages if not is_excluded(message)]


def included_token_count(messages: Iterable[Message]) -> int:
    """Return the tokens of the messages the model gets, as they were counted when grouped."""
    return sum(
        group_of(message).get(GROUP_TOKEN_COUNT_KEY) or 0
        for message in messages
        if not is_excluded(message)
    )
