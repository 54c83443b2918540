import asyncio
import sys
from pathlib import Path

import pytest

from amplifier_tui.base.python import awaited


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    inner = tmp_path / "lazy_outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "lazy_outer" / "__init__.py").write_text("")
    (tmp_path / "lazy_outer" / "beside.py").write_text("Beside = 1\n")
    (inner / "home.py").write_text("class One: ...\nclass Two: ...\n")
    (inner / "__init__.py").write_text(
        "from amplifier_tui.base.python import lazy_names\n"
        "__getattr__, __dir__, __all__ = lazy_names(\n"
        "    __name__, {'home': 'One Two', '.beside': 'Beside'}\n"
        ")\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("lazy_outer")]:
        monkeypatch.delitem(sys.modules, name)
    return "lazy_outer.inner"


def test_a_name_is_imported_on_its_first_use_and_kept(package: str) -> None:
    module = __import__(package, fromlist=["x"])
    assert f"{package}.home" not in sys.modules
    assert module.One is sys.modules[f"{package}.home"].One
    assert "One" in vars(module) and "Two" not in vars(module)
    assert module.Beside == 1


def test_all_names_are_listed_and_others_are_missing(package: str) -> None:
    module = __import__(package, fromlist=["x"])
    assert module.__all__ == ["One", "Two", "Beside"]
    assert {"One", "Two", "Beside", "__doc__"} <= set(dir(module))
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = module.nope


async def test_what_can_be_awaited_is_and_all_else_comes_back() -> None:
    async def answer() -> int:
        return 42

    assert await awaited(answer()) == 42
    assert await awaited(42) == 42
    assert await awaited(asyncio.ensure_future(answer())) == 42
    assert await awaited(None) is None
