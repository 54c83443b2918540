"""A request's messages as alternating turns that any chat API accepts.

Contexts hand out messages of many makes: compacted, resumed from disk, written by another
provider or cut off in the middle of a tool call. Every API refuses a tool call without its result
and a result without its call, so providers start from here (PROVIDER_SPECIFICATION: validate and
repair tool call and result pairs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from amplifier_tui.kernel.message_models import Message
from amplifier_tui.kernel.utils._message_items import Item, as_message, items_of
from amplifier_tui.kernel.utils._tool_pairing import paired
from amplifier_tui.kernel.utils.turns import AssistantTurn, Conversation, Turn, UserTurn

__all__ = ["clean_name", "encodable", "read_conversation"]


def clean_name(name: str) -> str:
    """A tool name or call id in the characters every API takes, at most 64 of them."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "tool"


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: for reasoning, where nothing else may change."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_conversation(
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    clean_id: Callable[[str], str] | None = None,
) -> Conversation:
    """Turn a request's messages into a conversation.

    System messages after the first other message stay where they are, as user text in a
    ``<system-reminder>`` element: moved to the front they would lose their place and spoil the
    prompt cache. Developer messages become user text in a ``<developer>`` element.

    Args:
        messages: Messages of a `ChatRequest`, or their dictionary forms.
        clean_id: Maps a call id to one the API accepts.

    Returns:
        The conversation; calls have results, ids are unique, empty text is gone.
    """
    system: list[str] = []
    items: list[Item] = []
    for message in messages:
        items.extend(items_of(as_message(message), system, at_start=not items))
    conversation = Conversation(system="\n\n".join(system))
    for turn in paired(items, conversation.repairs, clean_id or str):
        _append(conversation.turns, turn)
    return conversation


def _append(turns: list[Turn], turn: Turn) -> None:
    last = turns[-1] if turns else None
    match turn:
        case UserTurn() if isinstance(last, UserTurn):
            last.content.extend(turn.content)
        case AssistantTurn() if isinstance(last, AssistantTurn):
            last.content.extend(turn.content)
        case UserTurn():
            turns.append(UserTurn(list(turn.content)))
        case _:
            turns.append(turn)
