"""Writing files while confined commands run, which may write in the same folder."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import pytest

from amplifier_tui.base.commands import beside
from amplifier_tui.base.files import write_atomic, write_together

replacing = import_module("amplifier_tui.base.files.replacing")
together = import_module("amplifier_tui.base.files.together")
Write = Callable[[Path], None]
WRITES: dict[str, Write] = {
    "atomic": lambda path: write_atomic(path, b"mine\n"),
    "together": lambda path: write_together({path: b"mine\n"}),
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes")


class Running:
    """A command that runs."""

    def look(self) -> None: ...

    def excuse(self, makes: Callable[[Path], bool]) -> None: ...

    def take(self, place: Path) -> None: ...


@pytest.fixture(autouse=True)
def running() -> Iterator[None]:
    command = Running()
    beside.watch(command)
    yield
    beside.unwatch(command)


class Getting:
    """What gets hold of a file before it has its name."""

    def __init__(self, how: str, folder: Path, times: int) -> None:
        self._how = how
        self._folder = folder
        self._times = times
        self._rename = replacing.rename
        self.opened: list[BinaryIO] = []

    def rename(self, name: str, to: str, folder: int | None) -> None:
        if self._times:
            self._times -= 1
            if self._how == "link":
                os.link(name, self._folder / f"second{self._times}", src_dir_fd=folder)
            else:
                staged = os.open(name, os.O_WRONLY | os.O_APPEND, dir_fd=folder)
                self.opened.append(os.fdopen(staged, "ab"))
        self._rename(name, to, folder)


@pytest.mark.parametrize("how", ["link", "open"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_a_command_gets_hold_of_as_it_is_written_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, write: Write
) -> None:
    path = tmp_path / ".envrc"
    path.write_text("was\n")
    path.chmod(0o640)
    getting = Getting(how, tmp_path, 1)
    monkeypatch.setattr(replacing, "rename", getting.rename)
    monkeypatch.setattr(together, "rename", getting.rename)
    write(path)
    for each in getting.opened:
        each.write(b"evil\n")
        each.close()
    for other in tmp_path.glob("second*"):
        other.write_text("evil\n")
    assert path.read_text() == "mine\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_a_command_gets_hold_of_each_time_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "rename", Getting("link", tmp_path, 100).rename)
    with pytest.raises(OSError, match="keeps a way to write"):
        write_atomic(tmp_path / ".envrc", b"mine\n")


def test_a_file_that_somebody_reads_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / ".envrc"
    write_atomic(path, b"1\n")
    with path.open("rb"):
        assert not replacing.is_open_to_others(path)
    with path.open("ab"):
        assert replacing.is_open_to_others(path)
