import asyncio
import gc
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.door.capture import PrintCapture
from amplifier_tui.host.door.engine import Engine, EngineStoppedError
from amplifier_tui.host.door.stacks import innermost


class Failures:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.came = threading.Event()

    def __call__(self, error: BaseException, what: str) -> None:
        self.seen.append((str(error), what))
        self.came.set()


@pytest.fixture
def failures() -> Failures:
    return Failures()


@pytest.fixture
def strays() -> Failures:
    return Failures()


@pytest.fixture
def engine(failures: Failures, strays: Failures) -> Iterator[Engine]:
    engine = Engine(failures, partial(strays, what=""))
    yield engine
    engine.stop(2)


def test_the_thread_starts_with_the_first_work(engine: Engine) -> None:
    assert not engine.started

    async def name() -> str:
        return threading.current_thread().name

    assert engine.ask(name).result(5) == "amplifier-engine"


def test_an_exception_of_a_command_is_reported_with_what_was_done(
    engine: Engine, failures: Failures
) -> None:
    async def work() -> None:
        raise ValueError("no")

    engine.post(work, "do it")
    assert failures.came.wait(5)
    assert failures.seen == [("no", "do it")]


def test_an_exception_of_a_question_goes_to_whoever_asked(
    engine: Engine, failures: Failures
) -> None:
    async def work() -> int:
        raise KeyError("no")

    with pytest.raises(KeyError):
        engine.ask(work).result(5)
    assert failures.seen == []


def test_an_exit_in_a_question_does_not_end_whoever_asked(
    engine: Engine, failures: Failures
) -> None:
    async def work() -> None:
        sys.exit(3)

    with pytest.raises(RuntimeError, match=r"tried to end the program \(exit 3\)"):
        engine.ask(work).result(5)


def test_a_module_that_calls_exit_does_not_end_the_engine_and_is_told_of_once(
    engine: Engine, strays: Failures
) -> None:
    async def leave() -> None:
        async def inner() -> None:
            sys.exit(3)

        asyncio.get_running_loop().create_task(inner())

    async def alive() -> str:
        return "yes"

    engine.post(leave, "leave")
    assert strays.came.wait(5)
    gc.collect()
    assert engine.ask(alive).result(5) == "yes"
    assert strays.seen == [("3", "")]


def test_an_exception_nobody_retrieved_is_no_failure_of_a_piece_of_work(
    engine: Engine, failures: Failures, strays: Failures
) -> None:
    async def work() -> None:
        async def lost() -> None:
            raise ValueError("lost")

        await asyncio.wait({asyncio.ensure_future(lost())})

    async def collect() -> None:
        gc.collect()

    engine.ask(work).result(5)
    engine.ask(collect).result(5)
    assert strays.came.wait(5)
    assert strays.seen == [("lost", "")] and not failures.seen


def test_after_the_end_questions_fail_and_commands_are_ignored(
    engine: Engine, failures: Failures
) -> None:
    async def work() -> None:
        return None

    engine.ask(work).result(5)
    assert engine.stop(5)
    engine.post(work, "late")
    with pytest.raises(EngineStoppedError):
        engine.ask(work).result(5)
    assert failures.seen == []


def test_the_end_does_not_wait_for_a_task_that_refuses_to_end(engine: Engine) -> None:
    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    kept: list[asyncio.Task[None]] = []

    async def start() -> None:
        kept.append(asyncio.ensure_future(stubborn()))

    engine.ask(start).result(5)
    assert engine.stop(5)


def test_a_blocked_engine_says_where_it_is(engine: Engine) -> None:
    inside, go_on = threading.Event(), threading.Event()

    async def a_rude_module() -> None:
        inside.set()
        go_on.wait(10)

    engine.post(a_rude_module, "block")
    assert inside.wait(5)
    places = engine.where()
    go_on.set()
    assert any(name == "a_rude_module" for name, _, _ in places)
    assert innermost(places).startswith("a_rude_module (door/test_engine.py:")


def test_prints_of_the_thread_are_caught_and_those_of_others_are_not(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[tuple[str, str]] = []
    capture = PrintCapture(lambda line, stream: lines.append((stream, line)))

    async def start() -> None:
        capture.start()
        print("from the engine")
        print("no line end", end="", file=sys.stderr)
        sys.stdout.flush()

    async def stop() -> None:
        capture.stop()
        print("let through")

    engine.ask(start).result(5)
    print("from the screen")
    engine.ask(stop).result(5)
    assert lines == [("stdout", "from the engine"), ("stderr", "no line end")]
    assert capsys.readouterr().out == "from the screen\nlet through\n"


def test_the_streams_are_what_they_were_when_the_last_of_several_engines_has_ended(
    engine: Engine,
) -> None:
    stream = sys.stdout
    other = Engine(lambda *_: None)
    lines: list[str] = []

    async def call(function: Callable[..., Any], *arguments: str) -> None:
        function(*arguments)

    captures = [PrintCapture(lambda line, stream: lines.append(line)) for _ in range(2)]
    for each, capture in zip((engine, other), captures, strict=True):
        each.ask(partial(call, capture.start)).result(5)
    engine.ask(lambda: call(captures[0].stop)).result(5)
    other.ask(lambda: call(print, "still caught")).result(5)
    other.ask(lambda: call(captures[1].stop)).result(5)
    assert lines == ["still caught"] and sys.stdout is stream
    other.stop(5)


def test_what_is_left_of_a_capture_does_nothing_to_a_stream_that_was_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unseen: said.append(unseen.exc_value))
    capture = PrintCapture(lambda line, stream: None)
    with Path(os.devnull).open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        capture.start()
        sys.stdout = io.StringIO()
    capture.stop()
    gc.collect()
    assert said == []


def test_whoever_takes_the_lines_may_print(engine: Engine) -> None:
    lines: list[str] = []

    def take(line: str, stream: str) -> None:
        lines.append(line)
        print("and again")

    capture = PrintCapture(take)

    async def work() -> None:
        capture.start()
        try:
            print("once")
        finally:
            capture.stop()

    engine.ask(work).result(5)
    assert lines[0] == "once" and len(lines) <= 2


def test_a_program_with_a_blocked_engine_can_still_end() -> None:
    code = (
        "import threading, time\n"
        "from amplifier_tui.host.door.engine import Engine\n"
        "e, inside = Engine(lambda *a: None), threading.Event()\n"
        "async def block():\n"
        "    inside.set()\n"
        "    time.sleep(60)\n"
        "e.post(block, 'block')\n"
        "inside.wait(10)\n"
        "assert e.stop(0.1) is False\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20, env=dict(os.environ))
