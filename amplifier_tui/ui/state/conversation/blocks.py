"""Content blocks as conversation entries: text and thinking that stream, calls being written."""

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import BlockDelta, BlockEnded, BlockKind, BlockStarted
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryList,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
)
from amplifier_tui.ui.state.conversation.tool_lines import ToolLines
from amplifier_tui.ui.state.section import Handlers, assign, on


@dataclass(slots=True)
class _Block:
    """A content block on its way; `entry` is None until there is something to show."""

    block_id: str
    agent: str
    kind: BlockKind
    entry: ConversationEntry | None = None
    ended: bool = False


class BlockEntries(Handlers):
    """Keeps one entry per content block; `tool_use` blocks belong to `ToolLines`."""

    def __init__(self, entries: EntryList, tools: ToolLines) -> None:
        self._entries = entries
        self._tools = tools
        self._blocks: dict[tuple[str, str], _Block] = {}
        self._turn_blocks: list[_Block] = []

    @on(BlockStarted)
    def _started(self, event: BlockStarted) -> None:
        if (event.agent, event.block_id) in self._blocks:
            return
        block = self._block(event, event.kind)
        if event.kind == "tool_use" and event.name:
            block.entry = self._tools.prepare(event.agent, event.block_id, event.name, event.at)
        elif event.kind == "thinking":
            self._show(block, "")

    @on(BlockDelta)
    def _streamed(self, event: BlockDelta) -> None:
        block = self._block(event, "text")
        if block.ended or not event.text:
            return
        entry = block.entry
        if isinstance(entry, TextEntry | ThinkingEntry):
            self._entries.stream(entry, event.text)
        elif isinstance(entry, ToolEntry):
            self._tools.write_arguments(entry, event.text)
        elif block.kind != "tool_use":
            self._show(block, event.text)

    @on(BlockEnded)
    def _ended(self, event: BlockEnded) -> None:
        block = self._block(event, event.kind)
        block.ended = True
        entry = block.entry
        if isinstance(entry, ToolEntry):
            if event.discarded:
                self._tools.discard(entry)
            else:
                self._tools.finish_arguments(entry, event.text, event.at)
            return
        if entry is not None and block.kind != event.kind:
            # A delta came before the block's start and was taken for text.
            self._entries.remove(entry)
            block.entry = entry = None
        block.kind = event.kind
        if event.kind == "tool_use":
            return
        if event.discarded or not event.text.strip():
            if entry is not None:
                self._entries.remove(entry)
                block.entry = None
            return
        if not isinstance(entry, TextEntry | ThinkingEntry):
            self._show(
                block,
                event.text,
                streaming=False,
                interrupted=event.interrupted,
                duration_ms=event.duration_ms,
            )
            return
        changed = assign(entry, text=event.text, streaming=False, interrupted=event.interrupted)
        if isinstance(entry, ThinkingEntry):
            changed = assign(entry, duration_ms=event.duration_ms) or changed
        if changed:
            self._entries.update(entry)

    def settle(self, agent: str | None = None, interrupted: bool = True) -> bool:
        """Close the blocks of a lane (None: all) that will not end; True if an answer is kept."""
        kept = False
        others = []
        for block in self._turn_blocks:
            if agent not in (None, block.agent):
                others.append(block)
                continue
            entry = block.entry
            if isinstance(entry, TextEntry | ThinkingEntry):
                if not block.ended:
                    entry.streaming = False
                    entry.interrupted = interrupted
                    if entry.text.strip():
                        self._entries.update(entry)
                    else:
                        self._entries.remove(entry)
                        block.entry = None
                kept = kept or (entry.interrupted and isinstance(entry, TextEntry))
            block.ended = True
        self._turn_blocks = others
        return kept

    def _block(self, event: BlockStarted | BlockDelta | BlockEnded, kind: BlockKind) -> _Block:
        """Return the block of an event, a new one of a kind if it is not known."""
        key = (event.agent, event.block_id)
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = _Block(event.block_id, event.agent, kind)
            self._turn_blocks.append(block)
        return block

    def _show(
        self,
        block: _Block,
        text: str,
        *,
        streaming: bool = True,
        interrupted: bool = False,
        duration_ms: float = 0.0,
    ) -> None:
        key, agent = f"block:{block.block_id}", block.agent
        if block.kind == "thinking":
            block.entry = ThinkingEntry(
                key=key,
                agent=agent,
                text=text,
                streaming=streaming,
                interrupted=interrupted,
                duration_ms=duration_ms,
            )
        else:
            block.entry = TextEntry(
                key=key, agent=agent, text=text, streaming=streaming, interrupted=interrupted
            )
        self._entries.add(block.entry)
