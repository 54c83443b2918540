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
from tests.fixtures.modules import KIND_OF, copied, installed, write_distribution
from tests.foundation.helpers import write

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


def test_a_fetched_module_is_listed_with_its_source_and_hides_nothing(
    own_home: Path, capsys: Capture
) -> None:
    folder = own_home / ".amplifier" / "cache" / "installed" / "x-1"
    write(folder / "amplifier_module_tool_bash" / "__init__.py", "raise AssertionError")
    points = "[amplifier.modules]\ntool-bash = amplifier_module_tool_bash:mount\n"
    write_distribution(folder, "amplifier-module-tool-bash", "9", points)
    facts = {"name": "x", "source": "git+https://h/x@main", "commit": "c" * 40, "shared": {}}
    write(folder / "amplifier-installed.json", json.dumps({"version": 1, **facts}))
    first, second = [row for row in listed(capsys) if row["id"] == "tool-bash"]
    assert (first["from"], first["hidden"]) == ("built-in", False)
    assert second["from"] == "git+https://h/x@main at cccccccc" and second["only_named"]
    assert run(["module", "list"]) == 0
    assert "(where a bundle names that source)" in " ".join(capsys.readouterr().out.split())


def test_what_was_installed_for_a_bundle_by_an_earlier_version_is_named_with_what_removes_it(
    tmp_path: Path, own_home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    for name, place in (
        ("tool-bash", own_home / ".amplifier" / "cache" / "x"),
        ("tool-own", tmp_path),
    ):
        points = f"[amplifier.modules]\n{name} = {name.replace('-', '_')}:mount\n"
        write_distribution(site, f"zz-{name}", "9", points)
        (info,) = site.glob(f"zz_{name.replace('-', '_')}*.dist-info")
        write(info / "direct_url.json", json.dumps({"url": place.as_uri()}))
    monkeypatch.syspath_prepend(str(site))
    rows = listed(capsys)
    own, old = [row for row in rows if row["id"] == "tool-bash"]
    assert (own["from"], own["hidden"], own["remove"]) == ("built-in", False, "")
    assert (old["from"], old["hidden"]) == ("package zz-tool-bash", True)
    assert "uninstall" in old["remove"] and old["remove"].endswith("zz-tool-bash")
    assert [row["remove"] for row in rows if row["id"] == "tool-own"] == [""]
    assert run(["module", "list"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "tool-bash was installed here for a bundle" in shown


def test_what_a_variable_or_the_project_names_wins(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".amplifier" / "modules" / "tool-todo" / "x", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AMPLIFIER_MODULE_TOOL_BASH", str(tmp_path))
    rows = listed(capsys)
    for module, origin in (
        ("tool-bash", f"$AMPLIFIER_MODULE_TOOL_BASH: {tmp_path}"),
        ("tool-todo", f"project: {tmp_path}/.amplifier/modules/tool-todo"),
    ):
        found = [(row["from"], row["hidden"]) for row in rows if row["id"] == module]
        assert found == [(origin, False), ("built-in", True)]
