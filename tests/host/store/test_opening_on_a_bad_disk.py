"""A stored session is opened while the disk does not take what mending it would write."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.files import AppendFile, FileLock
from amplifier_tui.host.events import BlockEnded, SavingChanged, TurnStarted
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from tests.host.driving import Driver, Project, saying


class Disk:
    """A disk that can be full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self._append = AppendFile.append
        disk = self

        def append(file: AppendFile, lines: bytes) -> int:
            if disk.is_full and lines:
                raise OSError(errno.ENOSPC, "No space left on device")
            return disk._append(file, lines)

        monkeypatch.setattr(AppendFile, "append", append)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def opened(folder: Path, troubles: list[OSError | None] | None = None) -> SessionStore:
    store = SessionStore(folder, Redactor(), (troubles if troubles is not None else []).append)
    store.open()
    return store


def stored(folder: Path) -> SessionStore:
    """Return a session with two turns, still open."""
    store = opened(folder)
    for turn in (1, 2):
        store.add_row({"role": "user", "content": f"prompt {turn}"})
        store.add_row({"role": "assistant", "content": f"answer {turn}"})
    store.metadata.name, store.metadata.bundle, store.metadata.mode = "Title", "mine", "plan"
    return store


def said(store: SessionStore) -> list[Any]:
    return [row["content"] for _, row in store.stored().read()]


def test_a_torn_end_that_cannot_be_moved_aside_hides_nothing_else(
    tmp_path: Path, disk: Disk
) -> None:
    folder = tmp_path / "s1"
    store = stored(folder)
    store.go_back(2, 2, "", 1)
    store.close()
    with (folder / "transcript.jsonl").open("ab") as file:
        file.write(b'{"role": "us')
    disk.is_full = True
    troubles: list[OSError | None] = []
    store = opened(folder, troubles)
    assert len(troubles) == 1 and store.rows == len(store.stored())
    card = store.metadata
    assert (card.name, card.bundle, card.mode) == ("Title", "mine", "plan")
    assert store.rewinds.last is not None
    disk.is_full = False
    store.add_row({"role": "user", "content": "another 2"})
    assert troubles[-1] is None, "it is said to be saved again"
    store.close()
    again = opened(folder)
    assert said(again) == ["prompt 1", "answer 1", "another 2"]
    again.close()


def test_what_a_crash_left_stays_on_disk_until_its_rows_are(tmp_path: Path, disk: Disk) -> None:
    folder = tmp_path / "s1"
    store = stored(folder)
    store.prompt_begins("prompt 3")
    store.partial.delta("b1", "half an answer")
    crashed = (folder / "partial.jsonl").read_bytes()
    store.close()
    (folder / "partial.jsonl").write_bytes(crashed)
    disk.is_full = True
    store = opened(folder)
    assert (store.recovered, store.rows) == (2, 6)
    store.add_row({"role": "user", "content": "prompt 4"})
    # The program is killed here.
    store._lock.release()
    disk.is_full = False
    again = opened(folder)
    assert said(again)[4:] == ["prompt 3", [{"type": "text", "text": "half an answer"}]]
    again.close()
    last = opened(folder)
    assert (last.recovered, len(said(last))) == (0, 6)
    last.close()


def test_once_the_disk_takes_the_rows_what_a_crash_left_comes_once(
    tmp_path: Path, disk: Disk
) -> None:
    folder = tmp_path / "s1"
    stored(folder).close()
    (folder / "partial.jsonl").write_text('{"k": "prompt", "text": "prompt 3", "row": 4}\n')
    disk.is_full = True
    store = opened(folder)
    disk.is_full = False
    store.prompt_begins("prompt 4")
    store.add_row({"role": "user", "content": "prompt 4"})
    store.close()
    again = opened(folder)
    assert (again.recovered, said(again)[4:]) == (0, ["prompt 3", "prompt 4"])
    again.close()


def test_a_record_of_going_back_that_could_not_be_read_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s1"
    store = stored(folder)
    store.go_back(2, 2, "", 1)
    store.close()
    record = (folder / "rewinds.jsonl").read_bytes()
    read = Path.read_bytes

    def broken(path: Path) -> bytes:
        if path.name == "rewinds.jsonl":
            raise OSError(errno.EIO, "Input/output error")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", broken)
    store = opened(folder)
    with pytest.raises(OSError, match="Input/output"):
        store.go_back(0, 1, "", 1)
    monkeypatch.undo()
    assert (folder / "rewinds.jsonl").read_bytes() == record
    assert said(store) == ["prompt 1", "answer 1"]
    store.close()


def test_a_session_on_a_read_only_disk_opens_as_it_is(
    project: Project, drive: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.bundle(script=saying("Of another."))
    name = project.bundle("mine", script=saying("Of mine."))
    driver = drive()
    session = driver.open(name).session_id
    driver.turn("one")
    driver.client.rename("Title")
    driver.close()

    def acquire(lock: FileLock, timeout: float = 0.0) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(FileLock, "acquire", acquire)
    again = drive()
    opened = again.open(resume=session)
    assert (opened.bundle, opened.title) == ("mine", "Title")
    again.drain()
    assert [e.prompt for e in again.of(TurnStarted)] == ["one"]
    assert [e.text for e in again.of(BlockEnded)] == ["Of mine."]
    assert again.of(SavingChanged)[0].problem == "Read-only file system"
    assert again.turn("two").turn == 2
