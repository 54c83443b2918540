import io
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

from textual.app import App, ComposeResult
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.widgets import Static

from amplifier_tui.ui.terminal.textual_costs import SettledScreen, is_behind, write_to_the_end
from tests.waiting import within


class Gone(io.StringIO):
    """A terminal that has hung up."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_frames_for_a_terminal_that_is_gone_hold_nothing_up() -> None:
    write_to_the_end()
    writer = WriterThread(Gone())
    writer.start()

    def draw() -> None:
        for number in range(3 * MAX_QUEUED_WRITES):
            writer.write(f"frame {number}")
        writer.stop()

    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    drawing.join(10)
    assert not drawing.is_alive() and not writer.is_alive()


class Going(io.StringIO):
    """A terminal that hangs up before what it was given last is through."""

    gone = False

    def flush(self) -> None:
        if self.gone:
            raise OSError(5, "Input/output error")


def test_a_terminal_that_goes_at_the_end_is_not_waited_for() -> None:
    write_to_the_end()
    terminal = Going()
    writer = WriterThread(terminal)
    writer.start()
    writer.write("a frame")
    until(terminal.getvalue)
    terminal.gone = True
    threading.Thread(target=writer.stop, daemon=True).start()
    writer.join(10)
    assert not writer.is_alive()


def test_frames_for_a_terminal_that_was_given_away_hold_nothing_up() -> None:
    write_to_the_end()
    terminal = io.StringIO()
    writer = WriterThread(terminal)
    writer.start()
    writer.stop()

    def draw() -> None:
        for number in range(3 * MAX_QUEUED_WRITES):
            writer.write(f"frame {number}")

    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    drawing.join(10)
    assert not drawing.is_alive() and not terminal.getvalue()


def test_what_a_terminal_takes_is_written() -> None:
    write_to_the_end()
    terminal = io.StringIO()
    writer = WriterThread(terminal)
    writer.start()
    for number in range(3 * MAX_QUEUED_WRITES):
        writer.write(f"{number} ")
    writer.stop()
    assert terminal.getvalue() == "".join(f"{number} " for number in range(3 * MAX_QUEUED_WRITES))


class Held(io.StringIO):
    """A terminal behind a line that takes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def write(self, text: str) -> int:
        assert self.free.wait(10)
        return super().write(text)


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 10
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.005)


async def test_while_a_frame_is_held_up_no_other_is_drawn_and_then_the_latest() -> None:
    write_to_the_end()
    terminal = Held()
    writer = WriterThread(terminal)
    writer.start()
    drawn: list[str] = []

    class Drawn(App[None]):
        def get_default_screen(self) -> SettledScreen[None]:
            return SettledScreen()

        def compose(self) -> ComposeResult:
            yield Static("nothing")

        def _display(self, screen, renderable) -> None:
            drawn.append(str(self.query_one(Static).content))

    app = Drawn()
    async with app.run_test() as pilot:
        await pilot.pause()
        app._driver._writer_thread = writer
        words = app.query_one(Static)
        assert not is_behind(app)
        writer.write("a frame")
        until(lambda: is_behind(app))
        drawn.clear()
        for number in range(5):
            words.update(f"news {number}")
            await pilot.pause(0.02)
        assert drawn == []
        terminal.free.set()
        until(lambda: not is_behind(app))
        async with within(20):
            while not drawn:
                await pilot.pause(0.01)
        assert set(drawn) == {"news 4"}
        app._driver._writer_thread = None
    writer.stop()


def test_a_terminal_that_goes_while_it_holds_a_frame_up_is_not_waited_for() -> None:
    write_to_the_end()
    app = App[None]()
    writer = WriterThread(Gone())
    app._driver = SimpleNamespace(_writer_thread=writer)
    writer.start()
    writer.write("a frame")
    until(writer._queue.empty)
    writer.stop()
    assert not is_behind(app)
