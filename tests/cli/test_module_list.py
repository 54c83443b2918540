import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from amplifier_tui.cli.group import run
from tests.cli.bundle_support import program_in_terminal
from tests.fixtures.modules import KIND_OF, copied, installed

Capture = pytest.CaptureFixture[str]


def listed(capsys: Capture) -> list[dict[str, Any]]:
    assert run(["module", "list", "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_built_in_modules_are_listed_with_kind_and_version(capsys: Capture) -> None:
    found = {row["id"]: row for row in listed(capsys)}
    assert found["tool-bash"]["kind"] == "tool"
    assert found["loop-streaming"]["kind"] == "orchestrator"
    assert found["tool-bash"]["from"] == "built-in"
    assert found["tool-bash"]["location"].endswith("__init__.py")
    assert list(found) == sorted(found)


@pytest.mark.parametrize("as_json", [True, False])
def test_installed_modules_are_listed_without_importing_one(tmp_path: Path, as_json: bool) -> None:
    site = installed(tmp_path)
    for source in site.glob("amplifier_module_*/__init__.py"):
        source.write_text(f"raise AssertionError('imported')\n{source.read_text()}")
    code = "import sys; from amplifier_tui.cli.group import run; sys.exit(run(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "module", "list", *(["--json"] if as_json else [])],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    if not as_json:
        head, *lines = done.stdout.splitlines()
        assert head.split() == ["MODULE", "KIND", "VERSION", "FROM"]
        [line] = [line for line in lines if line.startswith("loop-plain ")]
        assert line.split() == [
            *("loop-plain", "orchestrator", "2.0.0", "package", "amplifier-module-loop-plain")
        ]
        return
    rows = {row["id"]: row for row in map(json.loads, done.stdout.splitlines())}
    for module_id, kind in KIND_OF.items():
        assert rows[module_id]["kind"] == kind
        assert rows[module_id]["from"] == f"package amplifier-module-{module_id}"
    assert rows["tool-wordcount"]["version"] == "0.3.1"


def test_folders_of_the_search_path_are_listed_and_a_second_id_is_marked(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied("hooks-guard", tmp_path)
    (tmp_path / "amplifier-module-tool-bash").mkdir()
    (tmp_path / "amplifier-module-gadget\x1b[2J").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    rows = listed(capsys)
    [guard] = [row for row in rows if row["id"] == "hooks-guard"]
    assert (guard["kind"], guard["version"]) == ("hook", "1.2.0")
    assert guard["from"] == guard["location"] == str(tmp_path / "amplifier-module-hooks-guard")
    assert [row["hidden"] for row in rows if row["id"] == "tool-bash"] == [False, True]
    assert run(["module", "list"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert f"{tmp_path}/amplifier-module-tool-bash (hidden by the one above)" in out


def test_what_would_be_more_than_text_to_a_terminal_is_escaped(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "amplifier-module-tool-\x9b31m\u202e").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{tmp_path}:/nowhere\x1b[31m")
    assert run(["module", "list", "--json"]) == 0
    captured = capsys.readouterr()
    assert not set("\x1b\x9b\u202e") & set(captured.out + captured.err)
    assert "tool-\x9b31m\u202e" in [json.loads(row)["id"] for row in captured.out.splitlines()]
    assert captured.err.endswith("Module search path /nowhere does not exist\n")


def test_in_a_terminal_the_table_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"amplifier-module-tool-{'日本語' * 9}").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    status, shown = program_in_terminal("module", "list")
    assert status == 0
    lines = shown.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert len({line.index("built-in") for line in lines if "built-in" in line}) == 1


def test_a_declared_type_counts_more_than_the_id(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "amplifier-module-clever" / "amplifier_module_clever"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__amplifier_module_type__: str = 'context'\n")
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    [row] = [row for row in listed(capsys) if row["id"] == "clever"]
    assert row["kind"] == "context"
