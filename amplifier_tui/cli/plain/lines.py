"""The lines of the line mode: what is written, and what a person or a program writes."""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from io import BufferedReader
from select import select
from time import monotonic
from typing import Final, NamedTuple, TextIO

from amplifier_tui.base.text import StreamCleaner, clean

LONGEST: Final = 1_000_000
"""Bytes of a line that is read; the rest of a longer one is the next."""
_PROMPT: Final = "> "
_MOST_OF_TERMINAL: Final = 4_096
"""Bytes of a line, its end included, that a terminal passes on; the others it drops."""
CUT: Final = (
    f"Nothing was done with that: a terminal cuts a line at {_MOST_OF_TERMINAL - 1:,} bytes. "
    "Break it into lines that end in \\, or send a file along with /attach."
)
"""What is said of a line whose end is missing."""
_AT_ONCE: Final = 0.05
"""Seconds in which nobody types a second line."""


class TypedLine(NamedTuple):
    """A line that was read, or lines that came at once.

    Attributes:
        at: When it came, in seconds of `time.monotonic`.
        cut: The terminal dropped the end of a line.
    """

    text: str
    at: float
    cut: bool = False

    @property
    def pasted(self) -> bool:
        """Whether it is lines that nobody typed one by one."""
        return "\n" in self.text


class LineWriter:
    """Writes whole lines, in the characters that the output takes.

    Args:
        stream: Where they go; what its encoding does not have is written as `?`.
        prompts: A person is told when the program waits for a line.
    """

    def __init__(self, stream: TextIO, *, prompts: bool) -> None:
        self._stream = stream
        self._prompts = prompts
        self._prompted = False
        self._last = ""
        self.gone = False
        """Nobody reads what is written any more."""

    def say(self, text: str) -> None:
        """Write text from anywhere, without control sequences, line by line."""
        newline = "\n" if self._prompted else ""
        self._prompted = False
        self._last = text
        self._write(f"{newline}{clean(text)}\n")

    def prompt(self, hint: str = "") -> None:
        """Show that a line is waited for; nothing where that is shown already.

        Args:
            hint: What is waited for, said again where something else was said since.
        """
        if self._prompts and not self._prompted:
            if hint and self._last != hint:
                self.say(hint)
            self._write(_PROMPT)
            self._prompted = True

    def line_came(self) -> None:
        """The person has ended the line behind the prompt."""
        self._prompted = False

    def _write(self, text: str) -> None:
        if self.gone:
            return
        encoding = self._stream.encoding
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except OSError:
            # A pipe nobody reads, a terminal that went away, a full disk.
            self.gone = True
            # What is left in the buffer has nowhere to go either.
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class LineReader:
    """Reads lines in a thread of its own.

    Args:
        stream: Where they come from; it is read to its end.
        encoding: Its characters; what is none of them is read as `U+FFFD`.
        terminal: It is one: lines that come at once were pasted, and are read as one.
    """

    def __init__(self, stream: BufferedReader, encoding: str, *, terminal: bool = False) -> None:
        self._stream = stream
        self._terminal = terminal
        self._encoding = encoding
        self._read: deque[TypedLine] = deque()
        self._at_end = False

    @property
    def ended(self) -> bool:
        """Whether no line will come any more."""
        return self._at_end and not self._read

    def start(self, wake: Callable[[], None]) -> None:
        """Begin to read; `wake` is called, in that thread, when there is something new."""
        threading.Thread(target=self._work, args=(wake,), name="read lines", daemon=True).start()

    def take(self) -> TypedLine | None:
        """Return the next line; None where there is none yet."""
        return self._read.popleft() if self._read else None

    def _work(self, wake: Callable[[], None]) -> None:
        try:
            for lines, at in self._together():
                texts = [raw.decode(self._encoding, "replace").rstrip("\r\n") for raw in lines]
                cut = self._terminal and max(map(len, lines)) >= _MOST_OF_TERMINAL
                self._read.append(TypedLine("\n".join(texts), at, cut))
                wake()
        except OSError:
            # The terminal is gone: the same as its end.
            return
        finally:
            self._at_end = True
            wake()

    def _together(self) -> Iterator[tuple[list[bytes], float]]:
        """Yield the lines that came at once, and when."""
        at_end = False
        while not at_end and (raw := self._stream.readline(LONGEST)):
            lines, at = [raw], monotonic()
            while self._terminal and select([self._stream], [], [], _AT_ONCE)[0]:
                raw = self._stream.readline(LONGEST)
                if at_end := not raw:
                    # A terminal says it once.
                    break
                lines.append(raw)
            yield lines, at


class StreamedAnswer:
    """Says a text that streams as its lines become whole.

    Args:
        say: Writes a line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._begin()

    def _begin(self) -> None:
        self._text = self._line = ""
        self._cleaner = StreamCleaner()

    def more(self, text: str) -> None:
        """Take what has come."""
        self._text += text
        *lines, self._line = (self._line + self._cleaner.feed(text)).split("\n")
        for line in lines:
            self._say(line)

    def end(self, whole: str) -> None:
        """Say what of the whole was not said yet; all of it where it reads otherwise now."""
        if not whole.startswith(self._text):
            self._begin()
            self._say("The answer reads otherwise now:")
        self.more(whole[len(self._text) :])
        self.finish()

    def finish(self) -> None:
        """Say what is left of the last line."""
        rest = self._line + self._cleaner.finish()
        if rest.strip():
            self._say(rest)
        self._line, self._cleaner = "", StreamCleaner()
