import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from amplifier_tui.base.files import (
    AppendFile,
    FileLock,
    FileLockedError,
    NotRegularFileError,
    append,
    free_name,
    locked,
    move_aside,
    open_regular,
    write_atomic,
    write_link,
    write_together,
)


def test_a_replaced_file_has_the_new_content_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f"
    write_atomic(path, "ä")
    write_atomic(path, b"two", durable=True)
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(mode)
    write_atomic(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    write_atomic(path, "new", mode=0o400)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "f", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640


def test_a_link_is_replaced_followed_or_refused(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(NotRegularFileError):
        write_atomic(link, "new", links="refuse")
    write_atomic(link, "through", links="follow")
    assert link.is_symlink() and target.read_text() == "through"
    write_atomic(link, "instead")
    assert not link.is_symlink() and target.read_text() == "through"


def test_a_folder_or_a_pipe_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path, "x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularFileError):
        write_atomic(tmp_path / "pipe", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_replacement_that_fails_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    def fail(source: object, target: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_durable_files_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    write_atomic(tmp_path / "f", "x")
    assert not synced
    write_atomic(tmp_path / "f", "x", durable=True)
    assert len(synced) == 1


def test_what_could_block_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularFileError):
        open_regular(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")


def test_a_link_is_read_through_unless_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    with open_regular(link) as file:
        assert file.read() == b"x"
    with pytest.raises(NotRegularFileError):
        open_regular(link, follow_links=False)


def test_a_line_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f"
    file = AppendFile(path)
    assert (file.append(b"one\n"), file.append(b"two\n")) == (0, 4)
    assert path.read_bytes() == b"one\ntwo\n"
    assert file.size == 8
    assert path.stat().st_mode & 0o077 == 0, "a conversation is private"
    file.clear()
    file.append(b"three\n")
    assert path.read_bytes() == b"three\n"


def test_half_a_line_of_before_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"half")
    append(path, b"whole\n")
    assert path.read_bytes() == b"half\nwhole\n"


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError) as caught:
        append(path, b"one\n")
    assert caught.value.errno == errno.ENOSPC


def test_a_line_that_a_full_disk_cut_is_taken_back(tmp_path: Path) -> None:
    code = f"""
import resource
from pathlib import Path
from amplifier_tui.base.files import AppendFile
file = AppendFile(Path({str(tmp_path / "f")!r}))
file.append(b"a" * 49 + b"\\n")
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (80, hard))
try:
    file.append(b"b" * 50)
except OSError:
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    file.append(b"c")
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] in (-1, resource.RLIM_INFINITY)
    subprocess.run([sys.executable, "-B", "-c", code], check=True)
    assert (tmp_path / "f").read_bytes() == b"a" * 49 + b"\nc"


def test_what_another_process_appended_after_half_a_line_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    file = AppendFile(path)
    file.append(b"1\n")
    write = os.write

    def cut(handle: int, data: bytes) -> int:
        if bytes(data[:1]) == b"l":
            raise OSError(errno.ENOSPC, "full")
        done = write(handle, data[:2])
        with path.open("ab") as other:
            other.write(b"other\n")
        return done

    monkeypatch.setattr("os.write", cut)
    with pytest.raises(OSError, match="full"):
        file.append(b"half\n")
    assert path.read_bytes() == b"1\nhaother\n"


def test_only_one_holder_has_a_lock_and_the_other_learns_who(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    one.acquire()
    with pytest.raises(FileLockedError) as caught:
        two.acquire()
    assert caught.value.owner == str(os.getpid())
    one.release()
    two.acquire()
    two.release()
    two.release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from amplifier_tui.base.files import FileLock;"
        "FileLock(Path(sys.argv[1])).acquire(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "lock")], check=False)
    FileLock(tmp_path / "lock").acquire()


def test_a_lock_is_a_file_of_its_own(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularFileError):
        FileLock(tmp_path / "pipe").acquire()
    with pytest.raises(IsADirectoryError):
        FileLock(tmp_path).acquire()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        FileLock(tmp_path / "link").acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_loses_a_change_that_is_made_under_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")

    def count() -> None:
        for _ in range(20):
            with locked(path):
                write_atomic(path, str(int(path.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "80"


def test_a_lock_that_is_not_given_back_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with locked(tmp_path / "f"), pytest.raises(FileLockedError), locked(tmp_path / "f", 0.05):
        pass


def test_what_can_not_be_used_is_kept_under_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "f"
    kept = []
    for content in ("one", "two"):
        path.write_text(content)
        kept.append(move_aside(path))
    assert [aside.read_text() for aside in kept] == ["one", "two"]
    assert all(aside.name.startswith("f.corrupt-") for aside in kept)
    assert not free_name(path, "corrupt").exists()


def test_a_link_is_neither_replaced_nor_removed_with_others(tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(tmp_path / "target")
    for data in (None, b"new"):
        with pytest.raises(NotRegularFileError):
            write_together({other: b"x", link: data})
        assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_whether_a_lock_is_held_is_seen_without_taking_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert other.is_free() and not (tmp_path / "lock").exists()
    lock.acquire()
    assert not other.is_free()
    lock.release()
    assert other.is_free()
    lock.acquire()

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr("amplifier_tui.base.files.locking._flock", none)
    assert other.is_free(), "where there are no locks nothing is guarded"


def test_a_link_takes_the_place_of_a_link_and_what_that_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    link = tmp_path / "new" / "link"
    write_link(link, b"../file")
    write_link(link, b"../other")
    assert os.readlink(link) == "../other" and (tmp_path / "file").read_text() == "kept"
    with pytest.raises(OSError):
        write_link(tmp_path / "new", b"file")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["link"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "new"]
