import errno
from collections.abc import Callable

import pytest

from amplifier_tui.base.files import AppendFile
from amplifier_tui.host.events import SavingChanged, SessionClosed
from tests.host.driving import Driver, Project, saying


class Disk:
    """A disk that can be full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self._append = AppendFile.append
        disk = self

        def append(file: AppendFile, lines: bytes) -> int:
            if disk.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return disk._append(file, lines)

        monkeypatch.setattr(AppendFile, "append", append)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_turns_that_a_full_disk_did_not_take_are_counted_and_written_once_there_is_room(
    project: Project, drive: Callable[..., Driver], disk: Disk
) -> None:
    name = project.bundle(script=saying("Answer {{prompt}}."))
    driver = drive()
    session = driver.open(name).session_id
    driver.turn("one")
    assert driver.client.save_again().result(10) == ""
    disk.is_full = True
    driver.turn("two")
    driver.turn("three")
    assert [each.problem for each in driver.of(SavingChanged)] == ["No space left on device"]
    words = "2 turns of this session are not on disk: No space left on device"
    assert driver.client.save_again().result(10) == words
    disk.is_full = False
    assert driver.client.save_again().result(10) == ""
    driver.drain()
    assert driver.of(SavingChanged)[-1].problem == ""
    driver.close()
    assert driver.of(SessionClosed)[-1].unsaved == ""
    again = drive()
    again.open(resume=session)
    assert again.answers() == ["Answer one.", "Answer two.", "Answer three."]


def test_a_session_that_ends_while_the_disk_is_full_says_what_of_it_is_lost(
    project: Project, drive: Callable[..., Driver], disk: Disk
) -> None:
    driver = drive()
    driver.open(project.bundle(script=saying("Answer.")))
    driver.turn("one")
    disk.is_full = True
    driver.turn("two")
    driver.close()
    closed = driver.of(SessionClosed)[-1]
    assert closed.unsaved == "1 turn of this session is not on disk: No space left on device"
    assert closed.resume_command


def test_a_session_of_which_the_disk_took_nothing_offers_no_way_back(
    project: Project, drive: Callable[..., Driver], disk: Disk
) -> None:
    driver = drive()
    driver.open(project.bundle(script=saying("Answer.")))
    disk.is_full = True
    driver.turn("one")
    driver.close()
    closed = driver.of(SessionClosed)[-1]
    assert closed.unsaved.startswith("1 turn of this session is not on disk")
    assert closed.resume_command == ""
