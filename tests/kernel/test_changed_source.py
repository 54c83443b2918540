import os
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.mounting.errors import BrokenModuleError
from amplifier_tui.kernel.mounting.packages import importing
from amplifier_tui.kernel.mounting.packages.importing import (
    code_set_aside,
    has_changed,
    import_package,
)

NAME = "amplifier_module_tool_changing"


def test_source_that_could_not_be_imported_is_still_another_one_than_what_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / NAME
    folder.mkdir()
    source = folder / "__init__.py"
    source.write_text("VALUE = 1\n")
    import_package("tool-changing", folder)
    (folder / ".#lock.py").symlink_to("user@host.1")
    # An editor's lock is no source.
    assert not has_changed(folder)
    source.write_text("1 / 0\n")
    try:
        for _ in range(2):
            assert has_changed(folder)
            with pytest.raises(BrokenModuleError, match="ZeroDivisionError"), code_set_aside(NAME):
                import_package("tool-changing", folder)
        source.write_text("VALUE = 22\n")
        with code_set_aside(NAME):
            assert import_package("tool-changing", folder).VALUE == 22
        assert not has_changed(folder)
    finally:
        sys.modules.pop(NAME, None)


def test_a_large_package_is_looked_at_in_the_same_order_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_MOST", 3)
    for name in ("c.py", "a/x.py", "b/y.py", "a/z.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    walk = os.walk

    def other_order(folder: Path) -> Any:
        for place, folders, files in walk(folder):
            folders.sort(reverse=True)
            yield place, folders, sorted(files, reverse=True)

    found = importing._stamp(tmp_path)
    assert [Path(file).name for file, _, _ in found] == ["c.py", "x.py", "z.py"]
    monkeypatch.setattr(os, "walk", other_order)
    assert importing._stamp(tmp_path) == found


def test_a_change_is_run_although_what_was_compiled_can_not_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "__init__.py").write_text("VALUE = 1\n")
    try:
        import_package("tool-changing", folder)
        (folder / "__init__.py").write_text("VALUE = 22\n")
        monkeypatch.setattr(Path, "unlink", _refused)
        with code_set_aside(NAME):
            assert import_package("tool-changing", folder).VALUE == 22
    finally:
        sys.modules.pop(NAME, None)


def _refused(path: Path, missing_ok: bool = False) -> None:
    raise PermissionError(13, "Permission denied", str(path))
