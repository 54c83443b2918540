"""Strategies that decide by rule what the model no longer gets.

A strategy is called with a list of messages, marks some of them as excluded, may put a summary in
the list, and returns whether it changed anything. The messages stay in the list: what the model
gets are the included ones.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Final, Protocol
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.adr.groups import (
    SUMMARIZED_BY_SUMMARY_ID_KEY,
    SUMMARY_OF_GROUP_IDS_KEY,
    SUMMARY_OF_MESSAGE_IDS_KEY,
    CharacterEstimatorTokenizer,
    MessageGroup,
    TokenizerProtocol,
    annotate_message_groups,
    exclude,
    included_groups,
    included_messages,
    included_token_count,
    is_excluded,
)
from amplifier_tui.context.adr.message import CALL, RESULT, Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.session import AgentSession
from amplifier_tui.context.compaction.shorten import shortened_text

_RESULTS_CAP: Final = 4_096
"""Characters of the line that stands for a group of tool calls."""


class CompactionStrategy(Protocol):
    """Decides what the model no longer gets."""

    async def __call__(self, messages: list[Message]) -> bool:
        """Mark messages of the list as excluded; returns whether anything changed."""
        ...


async def apply_compaction(
    messages: list[Message],
    strategy: CompactionStrategy,
    tokenizer: TokenizerProtocol | None = None,
) -> list[Message]:
    """Run a strategy on a conversation, in place, and return what the model gets."""
    annotate_message_groups(messages, tokenizer)
    await strategy(messages)
    return included_messages(messages)


@dataclass(eq=False)
class TruncationStrategy:
    """Leaves out the oldest groups when there is too much; never the last one.

    Args:
        max_n: Most tokens, or most messages where there is no tokenizer.
        compact_to: How many to go down to; not more than ``max_n``.
        tokenizer: Counts tokens.
        preserve_system: Whether system messages stay.
    """

    max_n: int
    compact_to: int
    _: KW_ONLY
    tokenizer: TokenizerProtocol | None = None
    preserve_system: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.compact_to <= self.max_n:
            raise ValueError(
                f"compact_to ({self.compact_to}) must be between 0 and max_n ({self.max_n})"
            )

    async def __call__(self, messages: list[Message]) -> bool:
        """Leave out the oldest groups."""
        groups = included_groups(messages, self.tokenizer)
        if self._size(messages) <= self.max_n:
            return False
        changed = False
        for group in _removable(groups, self.preserve_system):
            if self._size(messages) <= self.compact_to:
                break
            changed = _exclude_group(group, "truncation") or changed
        return changed

    def _size(self, messages: Sequence[Message]) -> int:
        if self.tokenizer is not None:
            return included_token_count(messages)
        return len(included_messages(messages))


@dataclass(eq=False)
class SlidingWindowStrategy:
    """Keeps the last groups, at least one; with ``preserve_system`` all system messages, too."""

    keep_last_groups: int
    _: KW_ONLY
    preserve_system: bool = True

    def __post_init__(self) -> None:
        _check(self.keep_last_groups, "keep_last_groups", least=1)

    async def __call__(self, messages: list[Message]) -> bool:
        """Leave out all but the last groups."""
        groups = [
            group
            for group in included_groups(messages)
            if not (self.preserve_system and group.kind == "system")
        ]
        return _exclude_all(groups[: -self.keep_last_groups], "sliding_window")


@dataclass(eq=False)
class _OlderCallsStrategy:
    """For the tool calls with their results, but for the last ``keep_last_tool_call_groups``."""

    keep_last_tool_call_groups: int = 1

    def __post_init__(self) -> None:
        _check(self.keep_last_tool_call_groups, "keep_last_tool_call_groups", least=0)

    def _older(self, messages: list[Message]) -> list[MessageGroup]:
        calls = [group for group in included_groups(messages) if group.kind == "tool_call"]
        return calls[: max(0, len(calls) - self.keep_last_tool_call_groups)]


class SelectiveToolCallCompactionStrategy(_OlderCallsStrategy):
    """Leaves out tool calls with their results, but for the last ones."""

    async def __call__(self, messages: list[Message]) -> bool:
        """Leave out the older tool calls."""
        return _exclude_all(self._older(messages), "tool_call")


class ToolResultCompactionStrategy(_OlderCallsStrategy):
    """Puts one line in the place of a tool call and its results, but for the last ones."""

    async def __call__(self, messages: list[Message]) -> bool:
        """Replace the older tool calls."""
        older = self._older(messages)
        for group in older:
            line = _results_line(group)
            place = next(i for i, m in enumerate(messages) if m is group.messages[0])
            _exclude_group(group, "tool_result")
            for message in group.messages:
                message.additional_properties[SUMMARIZED_BY_SUMMARY_ID_KEY] = line.message_id
            messages.insert(place, line)
        if older:
            annotate_message_groups(messages)
        return bool(older)


@dataclass(eq=False)
class TokenBudgetComposedStrategy:
    """Runs strategies one after the other until the tokens fit.

    Where they are not enough, the oldest groups are left out; never a system message and never
    the last group. Without ``early_stop`` all of them run.
    """

    token_budget: int
    tokenizer: TokenizerProtocol | None = None
    strategies: Sequence[CompactionStrategy] = ()
    _: KW_ONLY
    early_stop: bool = True

    async def __call__(self, messages: list[Message]) -> bool:
        """Run the strategies."""
        if self._fits(messages):
            return False
        changed = False
        for strategy in self.strategies:
            changed = await strategy(messages) or changed
            if self._fits(messages) and self.early_stop:
                return changed
        for group in _removable(included_groups(messages, self.tokenizer), True):
            if self._fits(messages):
                break
            changed = _exclude_group(group, "token_budget") or changed
        return changed

    def _fits(self, messages: list[Message]) -> bool:
        annotate_message_groups(messages, self.tokenizer)
        return included_token_count(messages) <= self.token_budget


class ContextWindowCompactionStrategy:
    """Two stages on what the window leaves beside the answer: tool results, then truncation.

    Args:
        max_context_window_tokens: The model's window.
        max_output_tokens: What of it is kept for the answer.
        tool_eviction_threshold: Part of the rest above which older tool calls become one line
            each; also the part truncation goes down to.
        truncation_threshold: Part of the rest above which the oldest groups are left out.
        keep_last_tool_call_groups: Tool calls that stay as they are.
        tokenizer: Counts tokens; an estimate by default.

    Raises:
        ValueError: The answer leaves no room, or the thresholds make no sense.
    """

    def __init__(
        self,
        max_context_window_tokens: int,
        max_output_tokens: int,
        *,
        tool_eviction_threshold: float = 0.5,
        truncation_threshold: float = 0.8,
        keep_last_tool_call_groups: int = 4,
        tokenizer: TokenizerProtocol | None = None,
    ) -> None:
        room = max_context_window_tokens - max_output_tokens
        if room <= 0:
            raise ValueError(
                f"max_output_tokens ({max_output_tokens}) leaves nothing of a window of "
                f"{max_context_window_tokens}"
            )
        if not 0 < tool_eviction_threshold <= truncation_threshold <= 1:
            raise ValueError("The thresholds must be parts of 1, the eviction's the smaller one")
        self._tokenizer = tokenizer or CharacterEstimatorTokenizer()
        self._evict_above = int(room * tool_eviction_threshold)
        self._evict = ToolResultCompactionStrategy(keep_last_tool_call_groups)
        self._truncate = TruncationStrategy(
            int(room * truncation_threshold), self._evict_above, tokenizer=self._tokenizer
        )

    async def __call__(self, messages: list[Message]) -> bool:
        """Evict, and then truncate."""
        annotate_message_groups(messages, self._tokenizer)
        changed = False
        if included_token_count(messages) > self._evict_above:
            changed = await self._evict(messages)
            annotate_message_groups(messages, self._tokenizer)
        return await self._truncate(messages) or changed


def _removable(groups: list[MessageGroup], preserve_system: bool) -> list[MessageGroup]:
    """The groups that may go, oldest first: never the last one."""
    if not preserve_system:
        return groups[:-1]
    return [group for group in groups if group.kind != "system"][:-1]


def _exclude_group(group: MessageGroup, reason: str) -> bool:
    return sum(exclude(message, reason) for message in group.messages) > 0


def _exclude_all(groups: Sequence[MessageGroup], reason: str) -> bool:
    return sum(_exclude_group(group, reason) for group in groups) > 0


def _results_line(group: MessageGroup) -> Message:
    names: dict[str | None, str] = {}
    results: list[str] = []
    for message in group.messages:
        if is_excluded(message):
            continue
        for content in message.contents:
            if content.type == CALL:
                names[content.call_id] = content.name or "tool"
            elif content.type == RESULT:
                name = names.get(content.call_id) or content.name or "tool"
                results.append(f"{name}: {_plain(content.result)}")
    text = shortened_text("; ".join(results), _RESULTS_CAP)
    return Message(
        "assistant",
        [f"[Tool results: {text}]"],
        message_id=f"summary_{uuid4().hex}",
        additional_properties={
            SUMMARY_OF_MESSAGE_IDS_KEY: [m.message_id for m in group.messages if m.message_id],
            SUMMARY_OF_GROUP_IDS_KEY: [group.group_id],
        },
    )


def _plain(result: Any) -> str:
    if isinstance(result, list):
        return " ".join(
            str(block.get("text") or f"[{block.get('type')}]")
            if isinstance(block, dict)
            else str(block)
            for block in result
        )
    return "" if result is None else str(result)


def _check(value: int, name: str, *, least: int) -> None:
    if value < least:
        wanted = f"be at least {least}" if least else "not be negative"
        raise ValueError(f"{name} must {wanted}, not {value}")


class CompactionProvider(ContextProvider):
    """Compacts what other providers loaded, and what a history has stored.

    It has to come after the history among an agent's providers. What the second strategy excludes
    is left out of later runs by a history with ``skip_excluded=True``.

    Args:
        before_strategy: Runs on what this run's context holds; None for no change.
        after_strategy: Runs on the history in the session's state; None for no change.
        tokenizer: Counts tokens; an estimate by default.
        source_id: Name under which it is known.
        history_source_id: Whose stored messages the second strategy is for.
    """

    def __init__(
        self,
        before_strategy: CompactionStrategy | None = None,
        after_strategy: CompactionStrategy | None = None,
        tokenizer: TokenizerProtocol | None = None,
        *,
        source_id: str = "compaction",
        history_source_id: str = "in_memory",
    ) -> None:
        super().__init__(source_id)
        self._before = before_strategy
        self._after = after_strategy
        self._tokenizer = tokenizer
        self._history_source_id = history_source_id

    async def before_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Leave out what the strategy excludes; a summary counts as said by whom it follows."""
        if self._before is None:
            return
        messages = context.get_messages()
        source_of = {
            id(message): source
            for source, loaded in context.context_messages.items()
            for message in loaded
        }
        annotate_message_groups(messages, self._tokenizer)
        await self._before(messages)
        kept: dict[str, list[Message]] = {source: [] for source in context.context_messages}
        source = next(iter(kept), self.source_id)
        for message in messages:
            source = source_of.get(id(message), source)
            if not is_excluded(message):
                kept.setdefault(source, []).append(message)
        context.context_messages.update(kept)

    async def after_run(
        self, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Mark in the stored history what the strategy excludes."""
        history = session.state.get(self._history_source_id)
        messages = history.get("messages") if isinstance(history, dict) else None
        if self._after is None or not isinstance(messages, list) or not messages:
            return
        annotate_message_groups(messages, self._tokenizer)
        await self._after(messages)
