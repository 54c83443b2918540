"""The marks that grouping and compaction leave on messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.context.adr.message import CALL, REASONING, RESULT, Content, Message
from amplifier_tui.context.compaction.outline import GroupKind, group_entries
from amplifier_tui.context.entries import Entry

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
        group_of(message).get(GROUP_TOKEN_COUNT_KEY) or 0 for message in included_messages(messages)
    )


_BASIS = "basis"
"""Key of what a token count was made with: another tokenizer counts anew."""


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that are kept or left out together, and their tokens."""

    group_id: str
    kind: GroupKind
    messages: tuple[Message, ...]
    tokens: int

    @property
    def included(self) -> bool:
        """Whether the model gets any of it."""
        return any(not is_excluded(message) for message in self.messages)


def annotate_message_groups(
    messages: Sequence[Message], tokenizer: TokenizerProtocol | None = None
) -> list[MessageGroup]:
    """Mark every message with its group, and return the groups in order.

    A call, its results wherever they are, and the reasoning right before it are one group. Tokens
    that the same tokenizer counted are not counted again.
    """
    counter = tokenizer or CharacterEstimatorTokenizer()
    basis = f"{type(counter).__module__}.{type(counter).__qualname__}"
    entries = [_entry(message) for message in messages]
    groups: list[MessageGroup] = []
    found = group_entries(entries)
    known = {name for group in found if (name := _known_id(messages[group.rows[0]]))}
    taken: set[str] = set()
    for index, group in enumerate(found):
        members = tuple(messages[row] for row in group.rows)
        group_id = _group_id(members[0], index, taken, known)
        reasons = any(c.type == REASONING for m in members for c in m.contents)
        total = 0
        for message in members:
            tokens = _tokens(message, counter, basis)
            total += tokens
            message.additional_properties[GROUP_ANNOTATION_KEY] = {
                GROUP_ID_KEY: group_id,
                GROUP_KIND_KEY: group.kind,
                GROUP_INDEX_KEY: index,
                GROUP_HAS_REASONING_KEY: reasons,
                GROUP_TOKEN_COUNT_KEY: tokens,
                _BASIS: basis,
            }
        groups.append(MessageGroup(group_id, group.kind, members, total))
    return groups


def included_groups(
    messages: Sequence[Message], tokenizer: TokenizerProtocol | None = None
) -> list[MessageGroup]:
    """Return the groups of which the model gets something."""
    return [group for group in annotate_message_groups(messages, tokenizer) if group.included]


def _group_id(first: Message, index: int, taken: set[str], known: set[str]) -> str:
    """The id the group had, or a new one that no other has."""
    own = _known_id(first)
    if own is not None and own not in taken:
        taken.add(own)
        return own
    wanted = f"group_{first.message_id or index}"
    identity, number = wanted, 1
    while identity in taken or identity in known:
        number += 1
        identity = f"{wanted}_{number}"
    taken.add(identity)
    return identity


def _known_id(message: Message) -> str | None:
    known = group_of(message).get(GROUP_ID_KEY)
    return known if isinstance(known, str) else None


def _tokens(message: Message, tokenizer: TokenizerProtocol, basis: str) -> int:
    known = group_of(message)
    if known.get(_BASIS) == basis and isinstance(known.get(GROUP_TOKEN_COUNT_KEY), int):
        return int(known[GROUP_TOKEN_COUNT_KEY])
    return tokenizer.count_tokens(message_text(message))


def _entry(message: Message) -> Entry:
    role = "system" if message.role == "developer" else message.role
    contents = message.contents
    calls = _ids(contents, CALL) if role == "assistant" else ()
    answers = _ids(contents, RESULT) if role != "assistant" else ()
    thinks = role == "assistant" and bool(contents) and all(c.type == REASONING for c in contents)
    return Entry({}, 0, "", role, "", calls=calls, answers=answers, thinks=thinks)


def _ids(contents: Iterable[Content], kind: str) -> tuple[str, ...]:
    found = (content.call_id for content in contents if content.type == kind)
    return tuple(call_id for call_id in found if call_id is not None)


class TokenizerProtocol(Protocol):
    """Counts tokens."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        ...


class CharacterEstimatorTokenizer:
    """Estimates from the number of characters, and from how many of them are ASCII."""

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens a text has; at least one."""
        return max(1, text_tokens(text))


def message_text(message: Message) -> str:
    """Return everything of a message that takes tokens, as one text."""
    data = {
        "contents": [content.to_dict() for content in message.contents],
        "message_id": message.message_id,
        "role": message.role,
    }
    return json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
