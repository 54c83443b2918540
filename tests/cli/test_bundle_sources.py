"""What `bundle validate` says of the sources of modules."""

from pathlib import Path

import pytest

from tests.cli.bundle_support import Bundles

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def bundles(tmp_path: Path, own_home: Path) -> Bundles:
    package = tmp_path / "mods" / "amplifier-module-tool-mine" / "amplifier_module_tool_mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it was run')\n")
    return Bundles(tmp_path / "project")


def validated(bundles: Bundles, source: str, capsys: Capture) -> str:
    bundles.write("mine", f"includes: [demo]\ntools: [{{module: tool-mine, source: '{source}'}}]\n")
    assert bundles.run("validate", "mine") == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_local_source_without_the_package_of_its_module_is_warned_of(
    bundles: Bundles, tmp_path: Path, capsys: Capture
) -> None:
    mods = tmp_path / "mods"
    folder = mods / "amplifier-module-tool-mine"
    assert "warning" not in validated(bundles, str(folder), capsys)
    said = validated(bundles, str(mods), capsys)
    assert f"tool-mine: has no valid Python package at {mods}: expected" in said
    assert "It is in amplifier-module-tool-mine there" in said
    (mods / "pyproject.toml").write_text("")
    assert "A module is a folder with a Python package" in validated(
        bundles, str(mods / "pyproject.toml"), capsys
    )


def test_a_misspelt_uri_is_told_as_such(bundles: Bundles, capsys: Capture) -> None:
    assert "did you mean http://foo?" in validated(bundles, "http//foo", capsys)


def test_a_module_that_is_there_twice_in_a_list_is_warned_of_with_its_line(
    bundles: Bundles, capsys: Capture
) -> None:
    twice = "tools:\n  - {module: tool-bash}\n  - {module: tool-todo}\n  - {module: tool-bash%s}\n"
    for more, warned in (("", True), (", id: other", False)):
        path = bundles.write("mine", f"includes: [demo]\n{twice % more}")
        assert bundles.run("validate", "mine") == 0
        said = "".join(capsys.readouterr().out.split())
        assert ("'tool-bash'istheretwiceintools" in said) == warned
        assert (f"{path}:7" in said) == warned
