import io
import threading

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from amplifier_tui.ui.terminal.textual_costs import write_to_the_end


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


def test_what_a_terminal_takes_is_written() -> None:
    write_to_the_end()
    terminal = io.StringIO()
    writer = WriterThread(terminal)
    writer.start()
    for number in range(3 * MAX_QUEUED_WRITES):
        writer.write(f"{number} ")
    writer.stop()
    assert terminal.getvalue() == "".join(f"{number} " for number in range(3 * MAX_QUEUED_WRITES))
