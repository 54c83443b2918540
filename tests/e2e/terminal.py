"""A real program in a pty, with an emulated screen to look at."""

import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.e2e.pty_process import PtyProcess
from tests.e2e.screen import EmulatedScreen, Sight, named

PATIENCE = 40.0
"""Seconds to wait for what should come soon; the machine may be busy with other tests."""
ESCAPE_TIME = 0.3
"""Seconds after which a lone escape is a key; Textual waits 0.1 s."""
_KEYS = {
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "escape": "\x1b",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f8": "\x1b[19~",
    "ctrl+home": "\x1b[1;5H",
    "ctrl+end": "\x1b[1;5F",
}
_LEAVE_ALTERNATE = b"\x1b[?1049l"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>78])")


class Terminal(EmulatedScreen, PtyProcess):
    """Runs a program in a pty of its own; use it with `with`.

    Args:
        argv: The command.
        env: Its whole environment.
        cwd: Its working directory.
        columns: Width in cells.
        rows: Height in cells.
        notes: Files whose last lines are part of a failure's message, such as a log.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
        notes: Sequence[Path] = (),
    ) -> None:
        self._notes = notes
        EmulatedScreen.__init__(self, columns, rows)
        PtyProcess.__init__(self, argv, env=env, cwd=cwd, columns=columns, rows=rows)

    # --- looking ---------------------------------------------------------------------------

    def wait_for(self, sight: Sight, patience: float = PATIENCE) -> None:
        """Read until something is on the screen.

        Raises:
            AssertionError: It did not come, or the program ended before.
        """
        self._read_until(lambda: self.shows(sight), patience, f"{named(sight)} to be shown")

    def wait_gone(self, sight: Sight, patience: float = PATIENCE) -> None:
        """Read until something is no longer on the screen."""
        self._read_until(lambda: not self.shows(sight), patience, f"{named(sight)} to be gone")

    def wait_until(self, done: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        """Read until something outside of the screen has come about, such as a file's content."""
        self._read_until(lambda: bool(done()), patience, what)

    # --- acting ----------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        """Press keys one after the other: a character, or a name such as `enter` or `ctrl+x`."""
        for key in keys:
            self.write(_bytes_of(key))
            if key == "escape":
                # What follows it at once would be taken for one key with alt.
                self.watch(ESCAPE_TIME)

    def type(self, text: str) -> None:
        """Type text as a person does, in one go."""
        self.write(text.encode())

    def paste(self, text: str) -> None:
        """Paste as a terminal does: bracketed, with carriage returns for line ends."""
        body = text.replace("\n", "\r").encode()
        self.write(b"\x1b[200~" + body + b"\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.fit(columns, rows)
        super().resize(columns, rows)

    # --- the end ---------------------------------------------------------------------------

    def wait_end(self, patience: float = PATIENCE) -> int:
        """Wait until the program has ended and return its exit status."""
        self._read_until(lambda: self.ended, patience, "the program to end", ends=True)
        try:
            return self.reap(patience)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"the program has closed its terminal and goes on\n{self._report()}"
            ) from None

    @property
    def printed(self) -> str:
        """What stands in the normal screen after the program has left the alternate one."""
        _, found, rest = bytes(self.raw).rpartition(_LEAVE_ALTERNATE)
        text = (rest if found else bytes(self.raw)).decode(errors="replace")
        return _SEQUENCE.sub("", text).replace("\r\n", "\n").strip()

    def assert_restored(self) -> None:
        """Fail unless the terminal is as it was before the program."""
        wrong = self.left_behind()
        if wrong:
            raise AssertionError(f"left behind: {', '.join(wrong)}\n{self._report()}")

    # --- helpers ---------------------------------------------------------------------------

    def _read_until(
        self, done: Callable[[], bool], patience: float, what: str, *, ends: bool = False
    ) -> None:
        until = time.monotonic() + patience
        while not done():
            if self.ended and not ends:
                raise AssertionError(
                    f"the program ended with {self.reap(patience)} while waiting for {what}\n"
                    f"{self._report()}"
                )
            left = until - time.monotonic()
            if left <= 0:
                raise AssertionError(f"waited {patience:g} s for {what}\n{self._report()}")
            # What is waited for may be outside of the terminal.
            self.read(min(left, 0.1))

    def _report(self) -> str:
        bar = "─" * self.columns
        parts = [bar, self.text, bar]
        if _LEAVE_ALTERNATE in self.raw:
            parts += ["printed after it:", self.printed]
        for path in self._notes:
            if path.is_file():
                tail = path.read_text(errors="replace").splitlines()[-20:]
                parts += [f"end of {path.name}:", *tail]
        return "\n".join(parts)


def _bytes_of(key: str) -> bytes:
    if key in _KEYS:
        return _KEYS[key].encode()
    if key.startswith("ctrl+") and len(key) == 6:
        return bytes([ord(key[-1].upper()) - 64])
    if len(key) == 1:
        return key.encode()
    raise ValueError(f"no such key: {key}")
