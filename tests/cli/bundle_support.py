import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from amplifier_tui.cli.group import run

ROOT = Path(__file__).parents[2]


class Bundles:
    """A project, and the `bundle` commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def write(self, name: str, text: str = "", body: str = "Hello.") -> Path:
        path = self.folder / ".amplifier" / "bundles" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nbundle: {{name: {name}}}\n{text}---\n{body}\n")
        return path

    def run(self, *arguments: str) -> int:
        return run(["bundle", "--cwd", str(self.folder), *arguments])


def data(output: str) -> Any:
    return json.loads(output)


def rows(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def in_terminal(
    folder: Path, *arguments: str, keys: str = "", columns: int = 80
) -> tuple[int, str]:
    """Run a `bundle` command; see `program_in_terminal`."""
    arguments = ("bundle", "--cwd", str(folder), *arguments)
    return program_in_terminal(*arguments, keys=keys, columns=columns)


def program_in_terminal(
    *arguments: str, keys: str = "", columns: int = 80, asked: str = ""
) -> tuple[int, str]:
    """Run the program in a terminal of its own; returns exit status and what it showed.

    The keys are typed at once, or each time that it has `asked`.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "amplifier_tui", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)
    environment.pop("LINES", None)
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)
    if keys and not asked:
        os.write(master, keys.encode())
    shown, times = b"", 0
    while True:
        try:
            piece = os.read(master, 65_536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if asked and shown.count(asked.encode()) > times:
            times = shown.count(asked.encode())
            os.write(master, keys.encode())
    os.close(master)
    return process.wait(30), shown.decode("utf-8", "replace").replace("\r\n", "\n")
