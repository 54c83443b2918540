"""Keywords that mean nothing to a result are found in the source of a module."""

from pathlib import Path

import pytest

from amplifier_tui.kernel.validation.keywords import unknown_keywords


@pytest.mark.parametrize("call", ["HookResult", "core.HookResult"])
def test_an_unknown_keyword_is_found_in_every_file_of_a_package(call: str, tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "inner.py").write_text(
        f"x = 1\ny = {call}(\n    action='deny',\n    raeson='z',\n)\n"
    )
    (found,) = unknown_keywords(tmp_path)
    assert found.where == f"{tmp_path / 'inner.py'}:4"
    assert "'raeson'" in found.message and "did you mean 'reason'?" in found.message


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("sucess", "did you mean 'success'?"),
        ("result", "its fields are success, output, error, content"),
    ],
)
def test_an_unknown_keyword_of_a_tool_result_is_told_with_what_may_be_meant(
    keyword: str, meant: str, tmp_path: Path
) -> None:
    file = tmp_path / "one.py"
    file.write_text(f"from amplifier_core.models import ToolResult\nToolResult({keyword}=False)\n")
    (found,) = unknown_keywords(file)
    assert (found.name, found.severity, found.where) == ("tool_result", "warning", f"{file}:2")
    assert f"ToolResult ignores '{keyword}'" in found.message and meant in found.message


@pytest.mark.parametrize(
    "source",
    [
        "ToolResult(success=False, output='', error={}, content=[])",
        "ToolResult(is_error=True)",
        "from fastmcp.tools import ToolResult\nToolResult(structured_content={})",
        "class ToolResult: ...\nToolResult(mine=1)",
        "HookResult(action='deny', reason='x')",
        "HookResult(**given)",
        "Other(acton=1)",
        "HookResult(",
    ],
)
def test_what_is_known_or_cannot_be_read_is_passed_over(source: str, tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(source)
    assert list(unknown_keywords(file)) == []
