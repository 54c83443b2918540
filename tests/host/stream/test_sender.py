"""Streamed text on its way up: whole, in order, and never half a secret."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    HostEvent,
    Notice,
    SessionClosed,
    ToolStarted,
    TurnEnded,
)
from amplifier_tui.host.redaction import REDACTED, Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.stream.sender import Sender

SECRET = "tr0ub4dor&3-horse"
KEY = "sk-ant-api03-" + "a1" * 20


class Up:
    """A sender and what it sent."""

    def __init__(self, folder: Path) -> None:
        self.events: list[HostEvent] = []
        redactor = Redactor({"MY_SECRET": SECRET})
        store = SessionStore(folder, redactor, lambda _: None)
        self.sender = Sender(self.events.append, store)
        self.partial = folder / "partial.jsonl"

    def end(self, text: str, **more: bool) -> None:
        block = BlockEnded(session_id="s", block_id="b", kind="text", text=text, **more)
        self.sender.send(block)

    @property
    def texts(self) -> list[tuple[str, str]]:
        self.sender.flush()
        return [(e.agent, e.text) for e in self.events if isinstance(e, BlockDelta)]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.texts)


@pytest.fixture
async def up(tmp_path: Path) -> Up:
    return Up(tmp_path / "s")


async def test_a_piece_goes_up_as_soon_as_the_loop_turns(up: Up) -> None:
    for piece in ("Hel", "lo ", "there"):
        up.sender.delta("main", "b", piece)
    assert not up.events
    await asyncio.sleep(0)
    up.sender.delta("main", "b", "!")
    await asyncio.sleep(0)
    assert [e.text for e in up.events if isinstance(e, BlockDelta)] == ["Hello there", "!"]


async def test_text_comes_before_what_was_sent_after_it(up: Up) -> None:
    up.sender.delta("main", "b", "Hello")
    up.sender.send(ToolStarted(session_id="s", call_id="c", tool="t", arguments={}))
    assert [type(e).__name__ for e in up.events] == ["BlockDelta", "ToolStarted"]


async def test_what_looked_like_a_secret_comes_when_it_turns_out_to_be_none(up: Up) -> None:
    up.sender.delta("main", "b", "it is tr0ub4")
    assert up.text == "it is "
    up.sender.delta("main", "b", "dour")
    assert up.text == "it is tr0ub4dour"


async def test_what_was_held_comes_before_the_end_of_its_block(up: Up) -> None:
    up.sender.delta("main", "b", "it is tr0ub4")
    up.end("it is tr0ub4")
    assert up.text == "it is tr0ub4"
    assert isinstance(up.events[-1], BlockEnded)


async def test_what_was_held_of_a_block_that_is_taken_back_is_dropped(up: Up) -> None:
    up.sender.delta("main", "b", "it is tr0ub4")
    up.end("", discarded=True)
    assert up.text == "it is "
    up.sender.delta("main", "b", "dim")
    assert up.text == "it is dim", "nothing of it is left over"


async def test_other_events_do_not_push_out_what_is_held(up: Up) -> None:
    up.sender.delta("main", "b", "it is tr0ub4")
    up.sender.send(ToolStarted(session_id="s", call_id="c", tool="t", arguments={}))
    up.sender.delta("main", "b", SECRET[6:] + "!")
    up.end("")
    assert up.text == f"it is {REDACTED}!"


async def test_blocks_and_lanes_are_held_apart(up: Up) -> None:
    up.sender.delta("main", "b", "tr0ub4")
    up.sender.delta("child", "b", "tr0u")
    up.sender.delta("main", "c", "!")
    assert up.texts == [("main", "!")]
    up.sender.delta("main", "b", "x")
    up.sender.delta("child", "b", "y")
    assert up.texts[1:] == [("main", "tr0ub4x"), ("child", "tr0uy")]


@pytest.mark.parametrize("secret", [SECRET, KEY, "ghp_" + "a" * 36, "AKIA" + "ABCD1234EFGH5678"])
@given(cuts=st.sets(st.integers(0, 80)))
def test_no_secret_slips_through_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, secret: str, cuts: set[int]
) -> None:
    up = Up(tmp_path_factory.mktemp("up") / "session")
    text = f"so the key is {secret} and goes on"

    async def stream() -> None:
        up.sender.text_begins("b")
        edges = [0, *sorted(c for c in cuts if c < len(text)), len(text)]
        for start, stop in pairwise(edges):
            up.sender.delta("main", "b", text[start:stop])
            up.sender.flush()
        up.end(f"so the key is {REDACTED} and goes on")

    asyncio.run(stream())
    assert up.text == f"so the key is {REDACTED} and goes on"
    assert secret not in up.partial.read_text()


async def test_a_session_that_was_left_says_nothing_after_its_end(up: Up) -> None:
    up.sender.delta("main", "b", "it is tr0ub4")
    up.sender.send(SessionClosed(session_id="s"))
    said = len(up.events)
    up.sender.send(Notice(session_id="s", level="info", text="late"))
    up.sender.send(TurnEnded(session_id="s", turn=1, status="cancelled"))
    up.sender.delta("main", "b", "ling & more")
    up.sender.flush()
    assert len(up.events) == said
