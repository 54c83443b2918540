"""Tool calls and their results, brought together and put right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from amplifier_tui.kernel.message_models import TextBlock, ToolCallBlock
from amplifier_tui.kernel.utils._message_items import Item
from amplifier_tui.kernel.utils.turns import (
    AssistantTurn,
    Repair,
    ToolOutput,
    ToolTurn,
    Turn,
    UserTurn,
)

_NO_RESULT: Final = (
    "No result: the call was interrupted before it finished. "
    "Call the tool again if the result is still needed."
)


def paired(
    items: list[Item], repairs: list[Repair], clean_id: Callable[[str], str]
) -> Iterator[Turn]:
    """The items with every call answered right after its turn, and no other results."""
    answers = _matches(items)
    used = set(answers.values())
    ids: set[str] = set()
    for place, item in enumerate(items):
        match item:
            case UserTurn():
                yield item
            case AssistantTurn():
                renamed = [
                    _unique(block, ids, clean_id, repairs)
                    if isinstance(block, ToolCallBlock)
                    else block
                    for block in item.content
                ]
                turn = AssistantTurn(renamed)
                yield turn
                if turn.calls:
                    yield ToolTurn(list(_outputs(place, item, turn, items, answers, repairs)))
            case ToolOutput() if place not in used:
                repairs.append(Repair("orphan_result", item.call_id))
                yield _orphan(item)


def _matches(items: list[Item]) -> dict[tuple[int, int], int]:
    """Which item answers which call; a call is (place of its turn, number within the turn)."""
    open_calls: dict[str, list[tuple[int, int]]] = {}
    answers: dict[tuple[int, int], int] = {}
    for place, item in enumerate(items):
        if isinstance(item, AssistantTurn):
            # An id used again starts afresh: what is still open under it stays unanswered.
            for call in item.calls:
                open_calls.pop(call.id, None)
            for number, call in enumerate(item.calls):
                open_calls.setdefault(call.id, []).append((place, number))
        elif isinstance(item, ToolOutput) and open_calls.get(item.call_id):
            answers[open_calls[item.call_id].pop(0)] = place
    return answers


def _outputs(
    place: int,
    original: AssistantTurn,
    turn: AssistantTurn,
    items: list[Item],
    answers: dict[tuple[int, int], int],
    repairs: list[Repair],
) -> Iterator[ToolOutput]:
    for number, (before, call) in enumerate(zip(original.calls, turn.calls, strict=True)):
        found = answers.get((place, number))
        output = items[found] if found is not None else None
        if not isinstance(output, ToolOutput) or found is None:
            repairs.append(Repair("missing_result", before.id, call.name))
            yield ToolOutput(call.id, [TextBlock(text=_NO_RESULT)], is_error=True)
            continue
        if any(not isinstance(item, ToolOutput) for item in items[place + 1 : found]):
            repairs.append(Repair("moved_result", before.id, call.name))
        yield ToolOutput(call.id, output.content, output.is_error)


def _unique(
    call: ToolCallBlock, ids: set[str], clean_id: Callable[[str], str], repairs: list[Repair]
) -> ToolCallBlock:
    wanted = clean_id(call.id) if call.id else "call"
    identity, number = wanted, 1
    while identity in ids:
        number += 1
        identity = f"{wanted[:32]}_{number}"
    ids.add(identity)
    if identity == call.id:
        return call
    if identity != wanted or not call.id:
        repairs.append(Repair("renamed_call", call.id, call.name))
    return call.model_copy(update={"id": identity})


def _orphan(output: ToolOutput) -> UserTurn:
    label = TextBlock(text=f"Result of an earlier tool call ({output.call_id}):")
    shown = [
        block for block in output.content if not isinstance(block, TextBlock) or block.text.strip()
    ]
    return UserTurn([label, *shown])
