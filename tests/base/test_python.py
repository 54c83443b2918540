import asyncio
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.python import awaited, signature_of


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


def test_a_signature_that_can_not_be_read_is_a_value_error_whatever_its_code_raises() -> None:
    class Tool:
        @property
        def __signature__(self) -> inspect.Signature:
            raise NameError("name 'OnlyForTheTypeChecker' is not defined")

        def __call__(self, a: int) -> None: ...

    with pytest.raises(ValueError, match="OnlyForTheTypeChecker"):
        signature_of(Tool())
    with pytest.raises(TypeError):
        signature_of(1)  # type: ignore[arg-type]
    assert list(signature_of(lambda a, b=1: None).parameters) == ["a", "b"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated when defined")
def test_a_signature_is_read_without_the_names_of_its_annotations() -> None:
    space: dict[str, Any] = {}
    exec("def report(provider: OnlyForTheTypeChecker, deep: bool = False): ...", space)
    assert list(signature_of(space["report"]).parameters) == ["provider", "deep"]
