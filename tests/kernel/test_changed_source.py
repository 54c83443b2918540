import sys
from pathlib import Path

import pytest

from amplifier_tui.kernel.mounting.errors import BrokenModuleError
from amplifier_tui.kernel.mounting.packages import code_set_aside, has_changed, import_package

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
