"""What `module new` and `bundle new` write runs as it stands."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from amplifier_tui.cli.group import run
from amplifier_tui.cli.module.validate import KINDS
from tests.cli.bundle_support import Bundles
from tests.fixtures.modules import aliases

__all__ = ["aliases"]

Capture = pytest.CaptureFixture[str]
IDS = {
    "orchestrator": "loop-word-count",
    "provider": "provider-word-count",
    "tool": "tool-word-count",
    "hook": "hooks-word-count",
    "context": "context-word-count",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_module_keeps_its_contract_without_a_warning(
    kind: str, aliases: None, tmp_path: Path, capsys: Capture
) -> None:
    assert run(["module", "new", kind, "word-count", "--in", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    folder = tmp_path / f"amplifier-module-{IDS[kind]}"
    assert f"amplifier-tui module validate {folder}" in said
    one_of_a_session = kind in ("orchestrator", "context")
    assert ("source: " if one_of_a_session else f"/mount {folder}") in said
    assert run(["module", "validate", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["module"], found["type"]) == (IDS[kind], kind)
    assert [row for row in found["checks"] if row["severity"] != "info"] == []


def test_new_modules_pass_the_tests_that_are_written_with_them(tmp_path: Path) -> None:
    for kind in KINDS:
        assert run(["module", "new", kind, "word-count", "--in", str(tmp_path)]) == 0
    roots = [tmp_path / f"amplifier-module-{module_id}" for module_id in IDS.values()]
    command = [sys.executable, "-m", "amplifier_tui.compat", "-m", "pytest", "-q"]
    options = ["-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    options += ["-c", str(roots[0] / "pyproject.toml")]
    done = subprocess.run(
        [*command, *options, *map(str, roots)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots))},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
    assert "Warning" not in done.stdout + done.stderr


def test_a_new_loop_tells_the_model_also_the_schema_of_get_schema(
    tmp_path: Path, aliases: None
) -> None:
    assert run(["module", "new", "orchestrator", "x", "--in", str(tmp_path)]) == 0
    [package] = (tmp_path / "amplifier-module-loop-x").glob("*/__init__.py")
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = SimpleNamespace(description="", get_schema=lambda: schema)
    (spec,) = runpy.run_path(str(package))["specs"]({"weather": tool})
    assert spec.parameters == schema


@pytest.mark.parametrize("pip", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_the_test_is_run_by_the_programs_own_python_and_what_it_needs_is_installed_first(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, pip: bool, there: bool
) -> None:
    spec = {"pip": pip, "pytest": there, "pytest_asyncio": there}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec[name] or None)
    monkeypatch.setattr("sys.executable", "/my env/bin/python")
    assert run(["module", "new", "tool", "x", "--in", str(tmp_path)]) == 0
    said = capsys.readouterr().out.partition("Test it:")[2]
    python = "'/my env/bin/python'"
    install = f"{python} -m pip install" if pip else f"uv pip install --python {python}"
    assert [line.strip() for line in said.splitlines()] == [
        *([] if there else [f"{install} pytest pytest-asyncio"]),
        f"cd {tmp_path / 'amplifier-module-tool-x'} && {python} -m amplifier_tui.compat -m pytest",
    ]


def test_what_is_written_is_laid_out_as_authors_have_it(tmp_path: Path) -> None:
    for kind in KINDS:
        assert run(["module", "new", kind, "x1", "--in", str(tmp_path)]) == 0
    for check in (["format", "--check"], ["check", "--select", "E,F,W,I,UP,B,RUF"]):
        command = [sys.executable, "-m", "ruff", *check, "--isolated", "--line-length", "100"]
        done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["Big", "a b", "../up", "-x", "x_y", ""])
def test_a_name_that_is_no_id_is_refused(name: str, tmp_path: Path, capsys: Capture) -> None:
    assert run(["module", "new", "tool", "--in", str(tmp_path), "--", name]) == 2
    said = capsys.readouterr().err
    assert f"Error: {name!r} can't be the name of a module" in said
    assert "lower case letters, digits and -" in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_space_is_quoted_for_the_shell(tmp_path: Path, capsys: Capture) -> None:
    assert run(["module", "new", "tool", "x", "--in", str(tmp_path / "sp ace")]) == 0
    folder = tmp_path / "sp ace" / "amplifier-module-tool-x"
    assert f"module validate '{folder}'\n" in capsys.readouterr().out


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "amplifier-module-tool-mine").mkdir()
    # The prefix may be part of the name already.
    assert run(["module", "new", "tool", "tool-mine", "--in", str(tmp_path)]) == 2
    assert "is there already; nothing was changed" in capsys.readouterr().err
    assert list((tmp_path / "amplifier-module-tool-mine").iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), [("tool", "bash"), ("orchestrator", "loop-basic")])
def test_the_name_of_a_module_of_the_program_is_refused(
    kind: str, name: str, tmp_path: Path, capsys: Capture
) -> None:
    assert run(["module", "new", kind, name, "--in", str(tmp_path)]) == 2
    assert f"{name}' already, which comes with the program." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# --- bundles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--user"], ["--from", "coding"]])
def test_a_new_bundle_is_valid_without_a_warning(
    arguments: list[str], tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    bundles = Bundles(tmp_path / "project")
    assert bundles.run("new", "mine", *arguments) == 0
    folder = own_home if arguments == ["--user"] else bundles.folder
    file = folder / ".amplifier" / "bundles" / "mine.md"
    said = capsys.readouterr().out
    assert f"Wrote {file}" in said
    assert "bundle validate mine" in said and "amplifier-tui --bundle mine" in said
    assert bundles.run("validate", "mine", "--strict") == 0
    assert bundles.run("show", "mine", "--json") == 0


@pytest.mark.parametrize("name", ["coding", "there", "a b", "../x", ""])
def test_a_name_that_is_taken_or_none_is_refused(
    name: str, tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    bundles = Bundles(tmp_path)
    bundles.write("there")
    assert bundles.run("new", name) == 1
    assert "already" in (said := capsys.readouterr().err) or "can't be used as a name" in said
    assert [path.name for path in (tmp_path / ".amplifier/bundles").iterdir()] == ["there.md"]


@pytest.mark.parametrize("name", ["123", "true", "1.5", "null"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_text(
    name: str, tmp_path: Path, own_home: Path
) -> None:
    bundles = Bundles(tmp_path)
    assert bundles.run("new", name) == 0
    text = (tmp_path / ".amplifier" / "bundles" / f"{name}.md").read_text()
    assert yaml.safe_load(text.split("---")[1])["bundle"]["name"] == name
    assert bundles.run("validate", name, "--strict") == 0


def test_what_it_is_made_of_must_be_there_and_may_be_a_path(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    bundles = Bundles(tmp_path)
    assert bundles.run("new", "mine", "--from", "codng") == 1
    assert "did you mean 'coding'?" in capsys.readouterr().err
    (tmp_path / "base.yaml").write_text("bundle: {name: base}\nincludes: [demo]\n")
    monkeypatch.chdir(tmp_path)
    assert bundles.run("new", "mine", "--from", "./base.yaml") == 0
    assert bundles.run("validate", "mine", "--strict") == 0


@pytest.mark.parametrize(
    "words",
    [
        ["sessions", "--cwd", "~no-such-user"],
        ["bundle", "--cwd", "~no-such-user", "list"],
        ["--plain", "--cwd", "~no-such-user"],
    ],
)
def test_a_home_of_nobody_is_a_folder_that_is_not_there(words: list[str], capsys: Capture) -> None:
    assert run(words) == 2
    assert "~no-such-user" in capsys.readouterr().err
