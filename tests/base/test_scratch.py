import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from amplifier_tui.base.files import scratch
from amplifier_tui.base.files.scratch import OWNER, ScratchFolder, remove_abandoned

_KEEPER = """
import sys
from amplifier_tui.base.files.scratch import ScratchFolder
folder = ScratchFolder()
(folder.path / "note").write_text("kept")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is the system's temporary folder for the test; nothing in it is young."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(scratch, "_YOUNG", -1.0)
    return folder


def killed(temporary: Path) -> Path:
    """Return the scratch folder of a process that was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdout is not None
        path = Path(keeper.stdout.readline().strip())
        # It runs: whoever looks now leaves it alone.
        assert remove_abandoned() == 0 and (path / "note").exists()
        keeper.send_signal(signal.SIGKILL)
    assert path.parent == temporary and (path / "note").exists()
    return path


def test_the_folder_of_a_killed_process_is_removed_and_no_other(temporary: Path) -> None:
    left, own = killed(temporary), ScratchFolder()
    assert remove_abandoned() == 1
    assert not left.exists() and own.path.exists()
    own.remove()
    assert list(temporary.iterdir()) == []


def test_what_only_looks_like_one_stays(temporary: Path, tmp_path: Path) -> None:
    outside = killed(temporary)
    outside = outside.rename(tmp_path / "outside")
    (temporary / "amplifier-tui-aaaaaaaa").symlink_to(outside)  # leads elsewhere
    (temporary / "amplifier-tui-bbbbbbbb").mkdir(mode=0o700)  # has no mark
    (temporary / "amplifier-tui-cccccccc").mkdir(mode=0o700)  # its mark is a link
    (temporary / "amplifier-tui-cccccccc" / OWNER).symlink_to(outside / OWNER)
    (temporary / "amplifier-tui-dddddddd").mkdir()  # others may write there
    (temporary / "amplifier-tui-dddddddd").chmod(0o777)
    (temporary / "amplifier-tui-dddddddd" / OWNER).write_bytes((outside / OWNER).read_bytes())
    (temporary / "amplifier-tui-eeeeeeee").write_text("a file")
    mine = killed(temporary).rename(temporary / "amplifier-tui-of-mine")  # has another name
    before = sorted(temporary.iterdir())
    assert remove_abandoned() == 0
    assert sorted(temporary.iterdir()) == before
    assert (outside / "note").exists() and (mine / "note").exists()


def test_links_in_one_that_is_removed_are_not_followed(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    (killed(temporary) / "link").symlink_to(tmp_path / "kept")
    assert remove_abandoned() == 1
    assert (tmp_path / "kept" / "file").exists()


def test_one_whose_process_runs_stays_where_there_are_no_locks(temporary: Path) -> None:
    left = killed(temporary)
    (left / OWNER).write_text(str(os.getpid()))
    assert remove_abandoned() == 0 and left.exists()


def test_one_that_was_just_made_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed(temporary)
    monkeypatch.setattr(scratch, "_YOUNG", 60.0)
    assert remove_abandoned() == 0 and left.exists()
