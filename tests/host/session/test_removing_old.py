import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from amplifier_tui.base.files.scratch import OWNER, ScratchFolder
from amplifier_tui.host.session.cleanup.pruning import remove_old
from tests.foundation.test_pruning import OLD, fresh, installed, left

__all__ = ["fresh"]


def test_what_was_removed_is_said(own_home: Path) -> None:
    cache, said = own_home / ".amplifier" / "cache", list[tuple[str, str]]()
    for number in range(3):
        installed(cache, f"x-{number}", OLD + 5_000)
    remove_old("s", lambda level, text: said.append((level, text)))
    (told,) = said
    assert told == ("info", "Removed 2 old versions of installed modules, unused for 14 days")
    assert left(cache) == {"x-2"}
    remove_old("s", lambda level, text: said.append((level, text)))
    assert said == [told]


def test_scratch_folders_of_killed_processes_are_removed(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = ScratchFolder()
    left._lock.release()
    gone = subprocess.Popen(["true"])
    gone.wait()
    (left.path / OWNER).write_text(str(gone.pid))
    os.utime(left.path / OWNER, (0, 0))
    remove_old("s", lambda level, text: None)
    assert not left.path.exists()
