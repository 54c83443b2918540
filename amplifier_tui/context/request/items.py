"""The items of the next request, one by one: what each takes, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from amplifier_tui.base.capabilities.context_items import ItemCard, ItemState
from amplifier_tui.context.compaction.choices import Choice, Choices, is_left_out
from amplifier_tui.context.compaction.outline import group_entries
from amplifier_tui.context.entries import KEEP, Decision, Entry, beginning_of

PROMPT: Final = "The instructions always go along; the bundle and its files say what they are."
TOOLS: Final = "Tools are described as long as their module is mounted."
SUMMARY: Final = "A summary stands until the conversation is summarized again."
NO_RESULT: Final = "It stands in for a result until that is there."
LENT: Final = "Its source puts it in with every turn; go on without the source instead."
LATEST: Final = "It is what the model is asked right now."


def refusal(entry: Entry | None, choice: Choice | None, latest: int) -> str:
    """Return why a decision about a row can't be made; empty where it can.

    Args:
        latest: Row of the user's latest words.
    """
    if entry is None:
        return LENT
    if entry.role == "system":
        return PROMPT
    if entry.seq == latest and choice in ("drop", "shorten"):
        return LATEST
    if choice == "shorten" and entry.tokens_under("truncate") >= entry.tokens:
        return f"It is shorter than the {KEEP['truncate']} characters that would stay of it."
    return ""


def items_of(
    entries: Sequence[Entry],
    tools: Mapping[str, tuple[int, int]],
    decisions: Mapping[str, Decision],
    choices: Choices,
    ledger: Sequence[Entry],
) -> tuple[ItemCard, ...]:
    """Return the items of a request, the biggest first; those left out by what they would take.

    Args:
        entries: The rows of the request, as the user decided about them.
        tools: By source, how many tools are offered, and their tokens.
        decisions: What compaction decided about them.
        ledger: The rows of the ledger.
    """
    groups = {row: group.rows for group in group_entries(ledger) for row in group.rows}
    found = [
        _item(e, decisions.get(e.key), choices, ledger, groups) for e in entries if not e.parts
    ]
    for entry in entries:
        for source, tokens in entry.parts:
            found.append(ItemCard("", source, source, tokens, tokens, fixed=PROMPT))
    for source, (number, tokens) in tools.items():
        text = f"{number} tools" if number != 1 else "1 tool"
        found.append(ItemCard("", source, text, tokens, tokens, fixed=TOOLS))
    return tuple(sorted(found, key=lambda item: -max(item.tokens, item.whole)))


def _item(
    entry: Entry,
    decision: Decision | None,
    choices: Choices,
    ledger: Sequence[Entry],
    groups: Mapping[int, Sequence[int]],
) -> ItemCard:
    made_up = "+" in entry.key and not is_left_out(entry)
    known = 0 <= entry.seq < len(ledger) and not (entry.provided or made_up)
    row = ledger[entry.seq] if known else entry
    summary = entry.key.startswith("summary:")
    state: ItemState = "whole" if decision is None else "compacted"
    match choices.of(entry.base):
        case "pin":
            state = "pinned"
        case "drop" if is_left_out(entry) or row.answers:
            state = "dropped"
        case "shorten":
            state = "shortened"
    whole = row.tokens
    if is_left_out(entry):
        whole = sum(ledger[each].tokens for each in groups.get(entry.seq, (entry.seq,)))
        state = "dropped"
    call = next(iter((*row.answers, *row.calls)), "")
    shown = entry if summary or not known else row
    return ItemCard(
        key=entry.base if known and not summary else "",
        source=shown.source,
        text=beginning_of(shown.message),
        tokens=entry.tokens_under(decision),
        whole=max(whole, entry.tokens) if summary else whole,
        state="summary" if summary else state,
        role=shown.role,
        call_id=call,
        turn=row.turn,
        fixed=_fixed(row if known else None, summary=summary, made_up=made_up),
    )


def _fixed(row: Entry | None, *, summary: bool, made_up: bool) -> str:
    if summary or made_up:
        return SUMMARY if summary else NO_RESULT
    return refusal(row, None, -1)
