"""Tool calls and their results, put right in the view; the ledger stays as it is.

Every API refuses a call without its result and a result without its call. A session that was
killed in mid-turn, or resumed from another program's transcript, has both.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_tui.base.messages.tool_calls import failed_result, match_calls
from amplifier_tui.context.entries import ATTRIBUTION, Entry, Row, read_entry


def repaired(entries: Sequence[Entry], tool_names: Mapping[str, str]) -> Sequence[Entry]:
    """Return the entries with every call followed by its results, and no other results.

    A missing result is made up, a result that is somewhere else is moved behind its call, and a
    result without a call is told as text. Where nothing is wrong it is the very same sequence.
    """
    if _is_paired(entries):
        return entries
    names = dict(tool_names)
    single = [piece for entry in entries for piece in _split(entry, names)]
    found = match_calls((entry.calls, entry.answers) for entry in single)
    moved = set(found.results.values())
    fixed: list[Entry] = []
    for index, entry in enumerate(single):
        if index in found.orphans:
            fixed.append(_told(entry, names))
        elif index not in moved:
            fixed.append(entry)
            places = [found.results.get((index, number)) for number in range(len(entry.calls))]
            fixed += [single[place] for place in sorted({p for p in places if p is not None})]
            fixed += [
                _made_up(entry, call_id, names)
                for call_id, place in zip(entry.calls, places, strict=True)
                if place is None
            ]
    return fixed


def _is_paired(entries: Sequence[Entry]) -> bool:
    pending: set[str] = set()
    for entry in entries:
        if entry.answers:
            for call_id in entry.answers:
                if call_id not in pending:
                    return False
                pending.discard(call_id)
        elif pending:
            return False
        if entry.calls:
            pending = set(entry.calls)
    return not pending


def _split(entry: Entry, names: dict[str, str]) -> Iterator[Entry]:
    """Results that are blocks of a message, as messages of their own, before its other blocks."""
    content = entry.message.get("content")
    if not entry.answers or "tool_call_id" in entry.message or not isinstance(content, list):
        yield entry
        return
    others: list[Any] = []
    for number, block in enumerate(content):
        if not isinstance(block, Mapping) or block.get("type") != "tool_result":
            others.append(block)
            continue
        row = {
            "role": "tool",
            "tool_call_id": str(block.get("tool_call_id") or block.get("tool_use_id")),
            "content": block.get("output", block.get("content")),
        }
        if block.get("is_error") is True:
            row["metadata"] = {"is_error": True}
        yield _like(entry, row, f"{entry.key}.{number}", names)
    if others:
        yield _like(entry, {**entry.message, "content": others}, entry.key, names)


def _told(entry: Entry, names: dict[str, str]) -> Entry:
    content = entry.message.get("content")
    label = f"[Result of an earlier tool call ({entry.source.removeprefix('tool:')})]"
    said: Any
    if isinstance(content, list):
        said = [{"type": "text", "text": label}, *content]
    else:
        said = label if content is None else f"{label}\n{content}"
    row = {
        "role": "user",
        "content": said,
        "metadata": {ATTRIBUTION: {"source_id": entry.source}, "repaired": True},
    }
    return _like(entry, row, entry.key, names)


def _made_up(entry: Entry, call_id: str, names: dict[str, str]) -> Entry:
    row = failed_result(call_id, names.get(call_id, ""), mark="repaired")
    return _like(entry, row, f"{entry.key}+{call_id}", names)


def _like(entry: Entry, row: Row, key: str, names: dict[str, str]) -> Entry:
    """An entry for a row that stands in another one's place."""
    return read_entry(row, key, names, turn=entry.turn, seq=entry.seq, provided=entry.provided)
