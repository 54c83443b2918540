"""The program of one visitor: a process in a terminal of its own, drawn on one page at a time."""

import asyncio
import contextlib
import errno
import os
import pty
import re
import signal
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, Self

from amplifier_tui.base.commands.process import ProcessGroup, start_group
from amplifier_tui.base.watcher import watcher
from amplifier_tui.ui.terminal.browser_page import PAGE_VARIABLE

LONGEST_END: Final = 10.0
"""Seconds the program gets to store its session; it gives up by itself a little earlier."""

SHOWN_ELSEWHERE: Final = 4000
"""Code with which a page is closed whose program shows on another one; `page.js` knows it."""

MOST_TYPED: Final = 16 * 1024 * 1024
"""Bytes that are typed at once, or wait for a program that does not read."""

_READ: Final = 64 * 1024
_LONGEST_ADDRESS: Final = 8 * 1024
_LAST_WORDS: Final = 0.5
_REDRAW: Final = 0.5
_SIDES: Final = range(2, 1001)
_MODE: Final = re.compile(rb"\x1b\[\?(\d+)([hl])")
_LONGEST_MODE: Final = 16
_SYNCHRONIZED: Final = b"2026"
_OTHER_TERMINAL: Final = (
    *("TMUX", "TMUX_PANE", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LC_TERMINAL"),
    *("KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR", "WEZTERM_PANE", "WT_SESSION", "ConEmuPID"),
    *("VTE_VERSION", "COLUMNS", "LINES", "ACCESSIBLE"),
)
"""Variables that tell of the terminal in which the server was started."""
_IN_FRONT: Final = (
    "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL);"
    " os.close(os.open(os.ttyname(0), os.O_RDWR));"
    " os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the controlling one, which editors and `sudo` open, and is the command.

A server that was started with `nohup` ignores SIGHUP, which ends the command when its page closes.
"""


class ShowingPage(Protocol):
    """What shows a program: an open WebSocket."""

    async def send_bytes(self, data: bytes) -> None:
        """Draw."""

    async def send_json(self, data: object) -> None:
        """Send a message of the terminal in the page."""

    async def close(self, *, code: int = 1000) -> object:
        """Say that the program shows here no more."""


class ServedProgram(ProcessGroup):
    """The running program. Create it with :meth:`start`.

    Attributes:
        page: What shows it; None while nothing does.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        terminal: "_Terminal",
        links: asyncio.StreamReader,
    ) -> None:
        super().__init__(process)
        self.page: ShowingPage | None = None
        self._terminal = terminal
        self._drawn = asyncio.Event()
        self._size = (0, 0)
        self._shown = False
        self._modes = TerminalModes()
        self._life = asyncio.create_task(self._live(links))

    @classmethod
    async def start(cls, command: Sequence[str], columns: int, rows: int) -> Self:
        """Start a program in a new terminal.

        Raises:
            OSError: It can't be started, or there are too many open files.
        """
        handle, inner = pty.openpty()
        links, links_inner = os.pipe()
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LONGEST_ADDRESS)
        try:
            terminal = await _Terminal.open(handle)
            pipe, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(links, "rb", 0)
            )
            termios.tcsetwinsize(inner, (rows, columns))
            try:
                process = await start_group(
                    [sys.executable, "-I", "-S", "-c", _IN_FRONT, *command],
                    Path.cwd(),
                    {**_environment(os.environ), PAGE_VARIABLE: str(links_inner)},
                    (inner, inner, inner),
                    (links_inner,),
                )
            except BaseException:
                terminal.close()
                pipe.close()
                raise
        finally:
            os.close(inner)
            os.close(links_inner)
        return cls(process, terminal, reader)

    @property
    def ended(self) -> bool:
        """Whether the program has ended, and its page was told."""
        return self._life.done()

    async def show_on(self, page: ShowingPage, columns: int, rows: int) -> None:
        """Draw on a page of this size from now on, and on no other.

        Raises:
            ConnectionError: The page has gone.
        """
        before, self.page = self.page, page
        try:
            await page.send_bytes(self._modes.restored())
            if self._shown and (columns, rows) == self._size:
                # A program draws all of its screen again only for another size.
                self.resize(columns, rows - 1)
                self._drawn.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_REDRAW):
                        await self._drawn.wait()
            self._shown = True
            self.resize(columns, rows)
        finally:
            if before is not None:
                # Last: it may be one that hears nothing any more.
                await before.close(code=SHOWN_ELSEWHERE)

    def write(self, data: bytes) -> bool:
        """Type something; returns whether the program takes it. Nothing happens at its end."""
        return self._terminal.write(data)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal, unless it can't be one; the program is told."""
        if columns in _SIDES and rows in _SIDES:
            self._size = columns, rows
            self._terminal.resize(columns, rows)

    async def end(self) -> None:
        """End the program in order, as when its window is closed; kill it if that takes long."""
        self._signal(signal.SIGHUP)
        try:
            async with asyncio.timeout(LONGEST_END):
                await self.wait()
        except TimeoutError:
            pass
        finally:
            await super().end()
        await self._life

    async def _live(self, links: asyncio.StreamReader) -> None:
        """Draw until the program ends, then close its page."""
        parts = [asyncio.create_task(self._draw()), asyncio.create_task(self._open_links(links))]
        await self.wait()
        # A program it left behind may have its terminal open for ever.
        await asyncio.wait(parts, timeout=_LAST_WORDS)
        for part in parts:
            part.cancel()
        self._terminal.close()
        watcher().forget_group(self.pid)
        if self.page is not None:
            await self.page.close()

    async def _draw(self) -> None:
        # Also read without a page: the program would wait for that.
        while drawn := await self._terminal.read():
            self._modes.note(drawn)
            self._drawn.set()
            if self.page is not None:
                with contextlib.suppress(ConnectionError):
                    await self.page.send_bytes(drawn)

    async def _open_links(self, links: asyncio.StreamReader) -> None:
        """Have the page open what the program asks for, in a tab of its own."""
        while True:
            try:
                line = await links.readline()
            except ValueError:
                # Longer than an address is.
                continue
            if not line:
                return
            address = line.decode("utf-8", "replace").strip()
            if self.page is not None and address.startswith(("https://", "http://")):
                with contextlib.suppress(ConnectionError):
                    await self.page.send_json(["open_url", {"url": address, "new_tab": True}])


class TerminalModes:
    """The modes a program has set in its terminal: another page has to be told of them."""

    def __init__(self) -> None:
        self._set: dict[bytes, bytes] = {}
        self._cut = b""

    def note(self, drawn: bytes) -> None:
        """Read what the program has drawn; a sequence may be cut in two."""
        text = self._cut + drawn
        self._set.update(_MODE.findall(text))
        # A mode that is seen twice is the same one.
        self._cut = text[-_LONGEST_MODE:]

    def restored(self) -> bytes:
        """Return what sets the modes in a new terminal, in the order in which they were first set.

        But for updates that are drawn at once: their end may have been drawn elsewhere.
        """
        modes = ((mode, how) for mode, how in self._set.items() if mode != _SYNCHRONIZED)
        return b"".join(b"\x1b[?%s%s" % pair for pair in modes)


class _Terminal:
    """The outer end of a terminal. Create it with :meth:`open`."""

    def __init__(
        self,
        handle: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        reading: asyncio.ReadTransport,
    ) -> None:
        self._handle = handle
        self._reader = reader
        self._writer = writer
        self._reading = reading

    @classmethod
    async def open(cls, handle: int) -> Self:
        """Read and write the terminal; both have a handle of their own, and close it."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(handle), "rb", 0)
        )
        writing, flow = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(handle, "wb", 0)
        )
        return cls(handle, reader, asyncio.StreamWriter(writing, flow, None, loop), reading)

    async def read(self) -> bytes:
        """Return what was drawn, as soon as there is something; empty at the end."""
        try:
            return await self._reader.read(_READ)
        except OSError as error:
            # So ends a terminal that nobody has open any more.
            if error.errno != errno.EIO:
                raise
            return b""

    def write(self, data: bytes) -> bool:
        """Type, unless too much waits to be read. Nothing happens once it is closed."""
        if self._writer.is_closing():
            return True
        if self._writer.transport.get_write_buffer_size() + len(data) > MOST_TYPED:
            return False
        self._writer.write(data)
        return True

    def resize(self, columns: int, rows: int) -> None:
        """Change the size. Nothing happens once it is closed."""
        if not self._writer.is_closing():
            termios.tcsetwinsize(self._handle, (rows, columns))

    def close(self) -> None:
        """Give the terminal back."""
        self._reading.close()
        self._writer.close()


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name not in _OTHER_TERMINAL}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
