"""What has to be the same on disk, on the screen, and on the screen of a fresh resume."""

import json
import re
from collections import Counter
from collections.abc import Set
from typing import Any

from amplifier_tui.base.jsonl import Row, StoredRows
from amplifier_tui.host.messages import is_from_hook, is_steering, typed_prompt
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    NoteEntry,
    ShellEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
)
from amplifier_tui.ui.state.session import SessionState
from tests.host.dice import KEY
from tests.sequences.world import Ending, World

Line = tuple[Any, ...]
_OF_THE_SCREEN = ("Resumed", "Mode auto, as", "Switched to", "Trying again")
"""Notes that say what this screen has seen, and no other."""
_GOING = ("running", "waiting")
_REFUSED = ("busy", "no_session")
"""Why a command was not followed; nothing of the conversation."""


def conversation(
    state: SessionState, *, ended: bool, without: Set[str] = frozenset()
) -> list[Line]:
    """Return the conversation as it is read.

    Args:
        ended: As it is once the program has: what was going on is interrupted.
        without: Ids of calls that are left out.
    """
    entries = (e for e in state.entries if not (isinstance(e, ToolEntry) and e.call_id in without))
    lines = [_line(entry, ended) for entry in entries]
    return [line for line in lines if line]


def _line(entry: ConversationEntry, ended: bool) -> Line:
    match entry:
        case UserEntry():
            return ("user", entry.text, entry.steered)
        case TextEntry():
            return ("text", entry.text.strip(), entry.interrupted)
        case ThinkingEntry():
            # What it thought before an answer that broke off is in no row.
            return ()
        case ShellEntry():
            return ("shell", json.dumps(entry.arguments), entry.output, entry.told, entry.waits)
        case ToolEntry() if entry.preparing:
            return () if ended else ("tool", entry.tool, "preparing")
        case ToolEntry():
            state = "interrupted" if entry.state in _GOING and ended else entry.state
            return ("tool", entry.tool, json.dumps(entry.arguments), state, entry.diff)
        case ErrorEntry() if entry.kind not in _REFUSED:
            return ("error", entry.kind)
        case NoteEntry() if not entry.text.startswith(_OF_THE_SCREEN):
            return ("note", re.sub(r" after .*?s", "", entry.text))
    return ()


def _whole(line: Line) -> Line:
    return line[:2] if line[0] == "text" else line


def facts(state: SessionState) -> dict[str, Any]:
    """Return what the bar and the instruments say."""
    known = state.facts
    return {
        "title": known.title,
        "bundle": known.bundle,
        "model": known.model,
        "effort": known.effort,
        "mode": known.mode,
        "tokens": state.usage.session.input_tokens,
        "limit": state.usage.limit_tokens,
        "off": sorted(
            m.key for m in state.modules.by_key.values() if m.state == "off" and m.key != KEY
        ),
    }


def check_words(world: World) -> None:
    """Everything that was said is in one place, once: said, steered, waiting, or given back."""
    places: list[str] = [*world.returned, *world.state.queue.items, *world.state.queue.steering]
    places += [e.text for e in world.state.entries if isinstance(e, UserEntry)]
    found = Counter(word for text in places for word in re.findall(r"words\d+\.", text))
    assert found == Counter(f"words{n + 1}." for n in range(world.said)), "words lost or doubled"


def check_files(world: World) -> None:
    """What the user wrote by hand is there until a tool writes it."""
    for name, text in world.by_hand.items():
        assert (world.project.folder / name).read_text() == text, "the user's own words are gone"


def check_ledger(world: World) -> None:
    """The rows have the words of the screen in its order, and one result for each call."""
    rows = [row for _, row in StoredRows(world.folder / TRANSCRIPT).read()]
    shown = [e.text for e in world.state.entries if isinstance(e, UserEntry)]
    assert [said for row in rows if (said := _said(row))] == shown
    answered = Counter(row["tool_call_id"] for row in rows if row.get("role") == "tool")
    called = [call["id"] for row in rows for call in row.get("tool_calls") or ()]
    assert len(called) == len(set(called)), "a call came twice"
    assert set(answered) <= set(called) and set(answered.values()) <= {1}, "a result too many"
    entries = [e for e in world.state.entries if not isinstance(e, ShellEntry)]
    tools = [e for e in entries if isinstance(e, ToolEntry) and not e.preparing]
    if not world.state.activity.running:
        assert [e.call_id for e in tools] == called
        assert set(called) == set(answered) | world.cut_off & set(called), "a call without a result"


async def check_context(world: World) -> None:
    """The model gets one result for each call, also for those that a kill cut off."""
    messages = await world.live.session.coordinator.get("context").get_messages()
    called = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    answers = [m["tool_call_id"] for m in messages if m.get("role") == "tool"]
    assert sorted(called) == sorted(answers), "the model misses a result"


def _said(row: Row) -> str:
    steered = is_steering(row)
    return (
        typed_prompt(row)
        if row.get("role") == "user" and (steered or not is_from_hook(row))
        else ""
    )


async def check_resume(world: World, end: Ending) -> None:
    """A fresh resume shows the conversation, the facts and the queue of the screen before."""
    kill = end == "kill"
    while not kill and world.live.turns.running:
        # What was sent after a stop runs after it.
        await world.do(("stop", 1))
    before = conversation(world.state, ended=True)
    known, queue = facts(world.state), world.state.queue
    waiting = [*queue.steering, *queue.items]
    tools = [entry for entry in world.state.entries if isinstance(entry, ToolEntry)]
    world.cut_off |= {each.call_id for each in tools if kill and each.state in _GOING}
    if not await world.live_again(end):
        # Nothing was said: there is no such session.
        return
    shown = [entry for entry in world.state.entries if isinstance(entry, ToolEntry)]
    # A call that waited for others of its answer had no line, and is in the answer's row.
    waited = {each.call_id for each in shown if kill and each.state == "interrupted"}
    waited -= {each.call_id for each in tools}
    world.cut_off |= waited
    after = conversation(world.state, ended=False, without=waited)
    # A command may have been run in the middle of what is one row.
    own = [[line for line in lines if line[0] == "shell"] for lines in (before, after)]
    assert own[0] == own[1], difference(*own)
    before, after = ([line for line in lines if line[0] != "shell"] for lines in (before, after))
    if kill:
        # Nobody had the time to say that these were interrupted, and what was used.
        before, after = (list(map(_whole, lines)) for lines in (before, after))
        known["tokens"] = facts(world.state)["tokens"]
    assert after == before, difference(before, after)
    assert facts(world.state) == known, difference([known], [facts(world.state)])
    assert [*world.state.queue.items] == waiting, difference(waiting, [*world.state.queue.items])
    check_ledger(world)
    await check_context(world)


def difference(before: list[Any], after: list[Any]) -> str:
    """Return the lines that differ, in words."""
    import difflib

    return "\n".join(difflib.ndiff([*map(repr, before)], [*map(repr, after)]))
