from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.checks.bundle_file import check_bundle_file
from amplifier_tui.foundation.checks.validator import (
    BundleValidator,
    validate_bundle,
    validate_bundle_completeness,
    validate_bundle_completeness_or_raise,
    validate_bundle_or_raise,
)
from amplifier_tui.foundation.exceptions import BundleValidationError
from tests.foundation.helpers import write


def test_a_sound_bundle_is_valid() -> None:
    result = validate_bundle(Bundle(name="x", tools=[{"module": "a", "config": {}}]))
    assert (result.valid, result.errors, result.warnings) == (True, [], [])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"name": ""}, "must have a name"),
        ({"tools": ["x"]}, "tools[0]"),
        ({"hooks": [{"source": "x"}]}, "Missing required 'module'"),
        ({"providers": [{"module": "p", "config": []}]}, "'config' must be a dict"),
        ({"session": "x"}, "session"),
        ({"session": {"orchestrator": 5}}, "session.orchestrator"),
        ({"session": {"context": {"config": {}}}}, "'module' or 'source'"),
        ({"agents": {"a": "x"}}, "agents.a"),
    ],
)
def test_what_is_wrong_is_named(parts: dict[str, Any], words: str) -> None:
    result = validate_bundle(Bundle(**{"name": "x", **parts}))
    assert not result.valid
    assert any(words in error for error in result.errors)


def test_a_missing_context_file_is_a_warning_and_an_error_when_strict(tmp_path: Path) -> None:
    bundle = Bundle(name="x", base_path=tmp_path, context={"a": tmp_path / "a.md"})
    result = BundleValidator().validate(bundle)
    assert result.valid and "a.md" in result.warnings[0]
    strict = BundleValidator(strict=True).validate(bundle)
    assert not strict.valid and strict.errors[0].endswith("(strict mode)")
    bundle.base_path = None
    assert validate_bundle(bundle).warnings == []


def test_all_errors_are_raised_together() -> None:
    broken = Bundle(name="", tools=[{}])
    with pytest.raises(BundleValidationError, match=r"Bundle validation failed: .*name; tools"):
        validate_bundle_or_raise(broken)
    validate_bundle_or_raise(Bundle(name="x"))


def test_a_bundle_needs_session_and_provider_to_be_complete() -> None:
    result = validate_bundle_completeness(Bundle(name="x"))
    assert "Mount plan requires 'session' section" in result.errors
    assert "Mount plan requires at least one provider" in result.errors
    partial = Bundle(name="x", session={"context": "c"}, providers=[{"module": "p"}])
    assert validate_bundle_completeness(partial).errors == [
        "session: Missing required 'orchestrator' field"
    ]
    with pytest.raises(BundleValidationError, match="Bundle incomplete for mounting: "):
        validate_bundle_completeness_or_raise(Bundle(name="x"))


def test_a_file_is_checked_with_the_line_of_every_finding(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.md",
        "---\n"
        "bundle:\n"
        "  name: x\n"
        "tool:\n"
        "  - module: a\n"
        "hooks:\n"
        "  - source: y\n"
        "context:\n"
        "  include: [gone.md]\n"
        "hooks:\n"
        "  - module: z\n"
        "    config: 5\n"
        "---\n",
    )
    problems = check_bundle_file(path)
    found = {(problem.severity, problem.line, problem.message) for problem in problems}
    assert ("error", 12, "hooks[0]: 'config' must be a dict, got int") in found
    assert any(line == 10 and "twice" in message for _, line, message in found)
    unknown = next(problem for problem in problems if "'tool'" in problem.message)
    assert (unknown.line, unknown.remedy) == (4, "Did you mean 'tools'?")
    assert str(unknown).startswith(f"{path}:4: ")
    assert any("gone.md" in problem.message for problem in problems)


def test_a_file_that_cannot_be_loaded_has_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "x.yaml", "bundle: {name: x}\ntools: no\n")
    (problem,) = check_bundle_file(path)
    assert (problem.severity, problem.line, problem.path) == ("error", 2, path)
    assert "Correct format" in problem.remedy


def test_a_sound_file_has_no_findings(tmp_path: Path) -> None:
    assert check_bundle_file(write(tmp_path / "x.yaml", "bundle: {name: x}\nnote: 1\n")) == []


def test_a_template_that_is_not_there_and_a_misspelled_meta_of_an_agent_are_found(
    tmp_path: Path,
) -> None:
    text = "bundle: {name: x}\nsession:\n  workspace: {template: start}\n"
    text += "agents:\n  a:\n    meta: {descripton: Reads}\n"
    path = write(tmp_path / "x.yaml", text)
    template, meta = check_bundle_file(path)
    assert (template.severity, template.line) == ("warning", 3)
    assert "there is no folder 'start' beside the bundle" in template.message
    assert (meta.line, meta.remedy) == (6, "Did you mean 'description'?")
    (tmp_path / "start").mkdir()
    assert check_bundle_file(path) == [meta]
