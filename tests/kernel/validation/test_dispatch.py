import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from amplifier_tui.kernel.validation import (
    ValidationCheck,
    ValidationResult,
    dispatch,
    validate_module,
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "amplifier_module_checked"
    folder.mkdir()
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return folder


async def test_an_unknown_kind_is_not_judged(package: Path) -> None:
    assert await validate_module("gadget", package, "gadget-x") is None


async def test_a_kinds_own_validator_is_asked(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    class Validator:
        async def validate(
            self, module_path: Any, entry_point: Any = None, config: Any = None
        ) -> ValidationResult:
            asked.append((module_path, config))
            return ValidationResult("tool", str(module_path), [ValidationCheck("c", True, "m")])

    monkeypatch.setattr(dispatch, "_validator_of", lambda kind: Validator())
    result = await validate_module("tool", package, "tool-x", {"n": 1})
    assert result is not None
    assert result.passed
    assert asked == [(package, {"n": 1})]


def test_a_validator_is_found_in_the_module_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    class ToolValidator:
        pass

    home = ModuleType("amplifier_tui.kernel.validation.tool")
    home.__spec__ = dispatch.find_spec("json")
    vars(home)["ToolValidator"] = ToolValidator
    monkeypatch.setitem(sys.modules, home.__name__, home)
    assert isinstance(dispatch._validator_of("tool"), ToolValidator)


@pytest.mark.parametrize(
    ("source", "failed"),
    [
        ("async def mount(coordinator, config): pass", []),
        ("", ["mount_exists"]),
        ("raise RuntimeError('x')", ["module_importable"]),
    ],
)
async def test_a_kind_without_a_validator_gets_the_checks_all_modules_get(
    package: Path, source: str, failed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_validator_of", lambda kind: None)
    (package / "__init__.py").write_text(source)
    result = await validate_module("tool", package, "tool-x")
    assert result is not None
    assert [check.name for check in result.errors] == failed
