"""Our validators say of each module, plan and bundle what the published ones say, with a remedy.

`published_verdicts.json` was taken from the package by `take_verdicts.py`. `bundle_verdicts.json`
has what the published bundle validator is documented to say; no registry has that package.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui import compat
from amplifier_tui.foundation.checks.bundle_file import check_bundle_file
from amplifier_tui.kernel.validation import VALIDATORS, MountPlanValidator
from amplifier_tui.kernel.validation.module_check import check_module
from tests.compat.module_packages import PLANS, sources, write_module
from tests.foundation.helpers import write

PUBLISHED: dict[str, Any] = json.loads(
    Path(__file__).with_name("published_verdicts.json").read_text()
)
BUNDLES: dict[str, Any] = json.loads(Path(__file__).with_name("bundle_verdicts.json").read_text())
MODULES = sources()

UNSEEN = {"hook_is_not_callable", "hook_takes_one"}
"""Hooks that fail at their first event: the published check is the same, but can't see handlers."""


@pytest.fixture(autouse=True)
def aliases() -> None:
    compat.install()


def test_every_module_and_plan_has_a_published_verdict() -> None:
    assert PUBLISHED["modules"].keys() == MODULES.keys()
    assert PUBLISHED["plans"].keys() == PLANS.keys()


@pytest.mark.parametrize("name", MODULES)
async def test_a_module_gets_the_published_verdict_and_a_remedy(name: str, tmp_path: Path) -> None:
    kind, source = MODULES[name]
    package = write_module(tmp_path, name, source)
    result = await VALIDATORS[kind]().validate(package)
    published = PUBLISHED["modules"][name]
    assert result.passed is (published["passed"] and name not in UNSEEN)
    # One cause is told once, and a bad name already when it is mounted.
    known = {row.partition(" ")[2] for row in published["failed"]} | {"protocol_compliance"}
    assert {check.name for check in result.errors} <= known | {"hook_call"}
    assert all(check.message and check.remedy for check in (*result.errors, *result.warnings))
    checked = await check_module(str(package.parent), kind)
    assert checked.result.passed is result.passed


@pytest.mark.parametrize("name", PLANS)
def test_a_mount_plan_gets_the_published_verdict_and_a_remedy(name: str) -> None:
    result = MountPlanValidator().validate(PLANS[name])
    assert {
        "passed": result.passed,
        "failed": sorted(f"{c.severity} {c.name}" for c in result.checks if not c.passed),
    } == PUBLISHED["plans"][name]
    assert all(check.remedy for check in result.errors)


@pytest.mark.parametrize("name", BUNDLES["bundles"])
def test_a_bundle_gets_the_published_verdict_with_its_line(name: str, tmp_path: Path) -> None:
    row = BUNDLES["bundles"][name]
    path = write(tmp_path / row.get("file", "bundle.yaml"), row["text"])
    problems = [each for each in check_bundle_file(path) if each.severity == "error"]
    assert [each.message for each in problems if row["error"] not in each.message] == []
    assert bool(problems) is not row["valid"]
    assert all(each.path == path and each.remedy for each in problems)


async def test_a_module_of_one_file_is_validated_as_published(tmp_path: Path) -> None:
    source = MODULES["tool_good"][1]
    path = write(tmp_path / "tool_of_one_file.py", source)
    checked = await check_module(str(path), "tool")
    assert checked.result.passed, checked.result.errors


async def test_the_name_of_an_entry_point_changes_nothing(tmp_path: Path) -> None:
    package = write_module(tmp_path, "tool_by_name", MODULES["tool_good"][1])
    result = await VALIDATORS["tool"]().validate(package, "tool-by-name")
    assert result.passed, result.errors


async def test_a_module_without_an_entry_point_passes_with_a_warning(tmp_path: Path) -> None:
    package = write_module(tmp_path, "tool_without_entry", MODULES["tool_good"][1])
    write(package.parent / "pyproject.toml", '[project]\nname = "x"\nversion = "1"\n')
    checked = await check_module(str(package.parent), "tool")
    assert checked.result.passed
    (warning,) = [each for each in checked.result.warnings if each.name == "entry_point"]
    assert "mounts from a path only" in warning.message
    assert '[project.entry-points."amplifier.modules"]' in warning.remedy


async def test_a_pyproject_that_is_no_toml_is_named_with_its_line(tmp_path: Path) -> None:
    package = write_module(tmp_path, "tool_with_typo", MODULES["tool_good"][1])
    project = write(package.parent / "pyproject.toml", '[project]\nname = "x"\nversion "1"\n')
    checked = await check_module(str(package.parent), "tool")
    (error,) = checked.result.errors
    assert error.where == f"{project}:3" and "Expected '='" in error.message
    assert not any("entry point" in str(check) for check in checked.result.checks)


async def test_a_pyproject_that_ends_too_early_is_named(tmp_path: Path) -> None:
    package = write_module(tmp_path, "tool_with_end", MODULES["tool_good"][1])
    project = write(package.parent / "pyproject.toml", "[project]\nname =")
    checked = await check_module(str(package.parent), "tool")
    assert [error.where for error in checked.result.errors] == [str(project)]
