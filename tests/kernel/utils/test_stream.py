import asyncio
from typing import Any

from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.utils.stream import StreamEmitter


class Recorder:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


async def test_a_response_streams_block_by_block() -> None:
    recorder = Recorder()
    stream = StreamEmitter(recorder, request_id="r1")
    await stream.start(0, "thinking")
    await stream.delta(0, "hm")
    await stream.end(0)
    await stream.start(1, "tool_use", "bash")
    await stream.delta(1, '{"a"')
    await stream.delta(1, ":1}")
    await stream.end(1)
    block0 = {"request_id": "r1", "block_index": 0, "block_type": "thinking"}
    block1 = {"request_id": "r1", "block_index": 1, "block_type": "tool_use"}
    assert recorder.events == [
        ("llm:stream_block_start", block0),
        ("llm:stream_block_delta", {**block0, "sequence": 0, "text": "hm"}),
        ("llm:stream_block_end", block0),
        ("llm:stream_block_start", {**block1, "name": "bash"}),
        ("llm:stream_block_delta", {**block1, "sequence": 0, "text": '{"a"'}),
        ("llm:stream_block_delta", {**block1, "sequence": 1, "text": ":1}"}),
        ("llm:stream_block_end", block1),
    ]


async def test_interleaved_blocks_count_each_for_itself() -> None:
    recorder = Recorder()
    stream = StreamEmitter(recorder, request_id="r1")
    for index in (0, 1):
        await stream.start(index, "text")
    for index in (0, 1, 1, 0):
        await stream.delta(index, "x")
    assert [(d["block_index"], d["sequence"]) for _, d in recorder.events[2:]] == [
        (0, 0),
        (1, 0),
        (1, 1),
        (0, 1),
    ]


async def test_an_empty_piece_is_no_event() -> None:
    recorder = Recorder()
    stream = StreamEmitter(recorder, request_id="r1")
    await stream.start(0, "text")
    await stream.delta(0, "")
    assert len(recorder.events) == 1


async def test_a_piece_of_a_block_nobody_opened_opens_it_as_text() -> None:
    recorder = Recorder()
    stream = StreamEmitter(recorder, request_id="r1")
    await stream.delta(3, "x")
    await stream.end(4)
    assert [event for event, _ in recorder.events] == [
        "llm:stream_block_start",
        "llm:stream_block_delta",
    ]
    assert recorder.events[0][1]["block_type"] == "text"


async def test_a_broken_stream_says_why_and_closes_nothing() -> None:
    recorder = Recorder()
    stream = StreamEmitter(recorder, request_id="r1")
    await stream.start(0, "text")
    await stream.aborted(asyncio.CancelledError())
    await stream.end(0)
    assert recorder.events[1:] == [
        (
            "llm:stream_aborted",
            {"request_id": "r1", "error": {"type": "CancelledError", "msg": ""}},
        )
    ]


async def test_without_hooks_nothing_happens() -> None:
    stream = StreamEmitter(None, request_id="r1")
    await stream.start(0, "text")
    await stream.delta(0, "x")
    await stream.delta(1, "x")
    await stream.end(0)
    await stream.aborted(RuntimeError("x"))


async def test_the_hook_registry_takes_the_events() -> None:
    hooks = HookRegistry()
    seen: list[str] = []
    hooks.register("llm:stream_block_delta", lambda event, data: seen.append(data["text"]))
    stream = StreamEmitter(hooks, request_id="r1")
    await stream.start(0, "text")
    await stream.delta(0, "hello")
    assert seen == ["hello"]
