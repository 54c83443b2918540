from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Notice,
)
from amplifier_tui.host.stream.blocks import Blocks
from tests.host.stream.up import Up


def stream(request: str, index: int, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"request_id": request, "block_index": index, "block_type": kind, **more}


def durable(index: int, total: int, **block: Any) -> dict[str, Any]:
    return {"block_index": index, "total_blocks": total, "block": block}


async def test_the_durable_copy_replaces_what_streamed(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.step_begins("main")
    blocks.stream_start("main", stream("r", 0))
    blocks.stream_delta("main", stream("r", 0, text="Hel"))
    blocks.stream_delta("main", stream("r", 0, text="lo"))
    blocks.stream_end("main", stream("r", 0))
    blocks.content_end("main", durable(0, 1, type="text", text="Hello!"))
    (started,) = up.of(BlockStarted)
    assert [e.text for e in up.of(BlockEnded)] == ["Hello", "Hello!"]
    assert {e.block_id for e in up.events} == {started.block_id}


async def test_pieces_without_words_are_told_once_with_the_line_that_emits_them(up: Up) -> None:
    blocks = Blocks(up.sender)
    for _ in range(3):
        blocks.stream_delta("main", {"request_id": "r", "txt": "Hel", "timestamp": "now"})
        blocks.stream_delta("main", stream("r", 1, "thinking", thinking=""))
        blocks.stream_delta("main", stream("r", 2, "tool_use", partial_json="{"))
    (notice,) = up.of(Notice)
    assert notice.level == "warning" and f"({__file__}:" in notice.text
    assert notice.text.endswith("llm:stream_block_delta has request_id, txt, and no `text`")


@pytest.mark.parametrize("other", [{}, {"request_id": "r2"}])
async def test_pieces_of_another_request_than_their_block_are_shown_in_it_and_told_once(
    up: Up, other: dict[str, Any]
) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_start("main", stream("r1", 0))
    for text in ("one ", "two "):
        blocks.stream_delta("main", {"block_index": 0, "block_type": "text", "text": text, **other})
    blocks.stream_end("main", stream("r1", 0))
    blocks.content_end("main", durable(0, 1, type="text", text="one two"))
    assert list(up.texts().values()) == ["one two"] and len(up.of(BlockStarted)) == 1
    (notice,) = up.of(Notice)
    has = f"`request_id` '{other['request_id']}'" if other else "no `request_id`"
    assert notice.level == "warning" and f"({__file__}:" in notice.text
    assert notice.text.endswith(f"llm:stream_block_delta has {has}, and its block has 'r1'")


async def test_an_equal_copy_is_not_sent_again(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="same"))
    blocks.stream_end("main", stream("r", 0))
    blocks.content_end("main", durable(0, 1, type="text", text="same"))
    assert len(up.of(BlockEnded)) == 1


async def test_a_provider_that_does_not_stream_gives_whole_blocks(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.content_end("main", durable(0, 2, type="thinking", thinking="hm"))
    blocks.content_end("main", durable(1, 2, type="text", text="yes"))
    assert [(e.kind, e.text) for e in up.of(BlockEnded)] == [("thinking", "hm"), ("text", "yes")]
    assert not up.of(BlockStarted)


async def test_copies_find_their_blocks_whatever_their_numbers(up: Up) -> None:
    blocks = Blocks(up.sender)
    for index, kind in enumerate(("thinking", "text", "tool_use", "text")):
        blocks.stream_delta("main", stream("r", index * 2, kind, text=f"{kind}{index}"))
        blocks.stream_end("main", stream("r", index * 2))
    for index, text in enumerate(("text1", "text3")):
        blocks.content_end("main", durable(index, 2, type="text", text=text))
    assert len(up.of(BlockStarted)) == len(up.texts()) == 4


async def test_an_answer_that_was_continued_is_one_text(up: Up) -> None:
    blocks = Blocks(up.sender)
    for request, text in (("r1", "Hello "), ("r2", "World")):
        blocks.stream_delta("main", stream(request, 0, text=text))
        blocks.stream_end("main", stream(request, 0))
    blocks.content_end("main", durable(0, 1, type="text", text="Hello World"))
    assert list(up.texts().values()) == ["Hello World"]


async def test_an_aborted_request_is_void_and_its_repetition_is_not(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r1", 0, text="broken"))
    assert blocks.stream_aborted("main", {"request_id": "r1"})
    assert not blocks.stream_aborted("main", {"request_id": "r1"})
    blocks.stream_delta("main", stream("r2", 0, text="whole"))
    blocks.stream_end("main", stream("r2", 0))
    assert list(up.texts().values()) == ["whole"]
    assert blocks.unsaved_texts() == ["whole"]


async def test_what_broke_off_stays_until_another_answer_begins_also_in_a_later_step(
    up: Up,
) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r1", 0, "thinking", text="hm"))
    blocks.stream_delta("main", stream("r1", 1, text="broken"))
    blocks.stream_start("main", stream("r1", 2, "tool_use"))
    assert blocks.stream_aborted("main", {"request_id": "r1"})
    assert [e.kind for e in up.of(BlockEnded)] == ["tool_use"] and up.of(BlockEnded)[0].discarded
    blocks.step_begins("main")
    assert blocks.unsaved_texts() == ["broken"] and len(up.of(BlockEnded)) == 1
    blocks.content_end("main", durable(0, 1, type="text", text="whole"))
    assert [e.discarded for e in up.of(BlockEnded)] == [True, True, True, False]
    assert blocks.unsaved_texts() == ["whole"]


@pytest.mark.parametrize(("interrupted", "left"), [(True, ["broken"]), (False, [])])
async def test_what_broke_off_last_stays_where_the_turn_ends_without_an_answer(
    interrupted: bool, left: list[str], up: Up
) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r1", 0, text="broken"))
    blocks.stream_aborted("main", {"request_id": "r1"})
    blocks.turn_over("main", interrupted=interrupted)
    assert list(up.texts().values()) == left
    assert up.of(BlockEnded)[0].interrupted is interrupted


async def test_hidden_reasoning_keeps_the_summary_that_was_shown(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, "thinking", text="a summary"))
    blocks.stream_end("main", stream("r", 0, "thinking"))
    blocks.content_end("main", durable(0, 1, type="redacted_thinking", data="xyz"))
    assert list(up.texts().values()) == ["a summary"]


async def test_older_deltas_count_only_where_nothing_else_streams(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.content_delta("main", {"block_index": 0, "delta": {"text": "old"}})
    blocks.step_begins("main")
    blocks.stream_delta("main", stream("r", 0, text="new"))
    blocks.content_delta("main", {"block_index": 0, "delta": "new"})
    up.sender.turn_over()
    assert "".join(e.text for e in up.of(BlockDelta)) == "oldnew"


async def test_what_still_streams_at_the_end_is_interrupted(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="half"))
    blocks.turn_over("main", interrupted=True)
    (ended,) = up.of(BlockEnded)
    assert ended.interrupted and ended.text == "half"


async def test_words_in_a_row_are_saved_and_those_after_it_are_not(up: Up) -> None:
    blocks = Blocks(up.sender)
    blocks.stream_delta("main", stream("r", 0, text="first"))
    blocks.row_added()
    blocks.stream_delta("main", stream("r", 1, text="second"))
    blocks.stream_delta("lane", stream("q", 0, text="of a sub-agent"))
    assert blocks.unsaved_texts() == ["second"]


async def test_streams_of_lanes_do_not_mix(up: Up) -> None:
    blocks = Blocks(up.sender)
    for lane in ("main", "child"):
        blocks.stream_delta(lane, stream("same", 0, text=lane))
        blocks.stream_end(lane, stream("same", 0))
    assert [(e.agent, e.text) for e in up.of(BlockEnded)] == [("main", "main"), ("child", "child")]
