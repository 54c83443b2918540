import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from amplifier_tui.cli.bundle.common import TRUSTED, Progress
from amplifier_tui.cli.group import run
from tests.cli.bundle_support import ROOT, Bundles, data, in_terminal, rows
from tests.foundation.helpers import GitRepo

Capture = pytest.CaptureFixture[str]
COMPLETE = (
    "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
)
FAR = "---\nbundle: {name: far, version: 1.0.0, description: From afar}\n" + COMPLETE + "---\nHi.\n"


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(tmp_path / "project")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "repo", {"bundle.md": FAR})


def settings(folder: Path, name: str = "settings.yaml") -> dict[str, object]:
    path = folder / ".amplifier" / name
    return yaml.safe_load(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize(
    ("scope", "file"),
    [("global", None), ("project", "settings.yaml"), ("local", "settings.local.yaml")],
)
def test_use_writes_the_choice_into_the_scope_and_new_sessions_take_it(
    bundles: Bundles, own_home: Path, capsys: Capture, scope: str, file: str | None
) -> None:
    assert bundles.run("use", "minimal", "--scope", scope) == 0
    assert "New sessions use minimal" in capsys.readouterr().out
    folder, name = (own_home, "settings.yaml") if file is None else (bundles.folder, file)
    assert settings(folder, name) == {"bundle": {"active": "minimal"}}
    assert bundles.run("list", "--json") == 0
    active = [row["name"] for row in rows(capsys.readouterr().out) if row["active"]]
    assert active == ["minimal"]
    assert bundles.run("use", "--reset", "--scope", scope, "--json") == 0
    assert data(capsys.readouterr().out)["active"] is None
    assert bundles.run("show", "--json") == 0
    assert data(capsys.readouterr().out)["name"] == "coding"


@pytest.mark.parametrize("scope", ["project", "local"])
def test_use_for_a_project_is_the_users_word_for_this_bundle_in_this_project_alone(
    bundles: Bundles,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    scope: str,
) -> None:
    own = own_home / ".amplifier" / "bundles"
    own.mkdir(parents=True)
    for name in ("mine", "other"):
        head = f"---\nbundle: {{name: {name}, version: 1.0.0}}\n{COMPLETE}---\nHi.\n"
        (own / f"{name}.md").write_text(head)
    clone = tmp_path / "clone"
    monkeypatch.setattr(sys, "stdin", None)
    assert bundles.run("use", "mine", "--scope", scope) == 0
    monkeypatch.chdir(bundles.folder)
    assert run(["run", "hi"]) == 0
    shutil.copytree(bundles.folder, clone)
    chosen = next((bundles.folder / ".amplifier").glob("settings*.yaml"))
    chosen.write_text(chosen.read_text().replace("mine", "other"))
    for folder in (bundles.folder, clone):
        monkeypatch.chdir(folder)
        capfd.readouterr()
        assert run(["run", "hi"]) == 1
        assert "Not used without --trust" in capfd.readouterr().err


def test_use_keeps_comments_and_says_which_settings_are_stronger(
    bundles: Bundles, own_home: Path, capsys: Capture
) -> None:
    path = own_home / ".amplifier" / "settings.yaml"
    path.parent.mkdir()
    path.write_text("# mine\nbundle:\n  active: demo  # for now\n")
    assert bundles.run("use", "local", "--scope", "local") == 0
    assert bundles.run("use", "minimal") == 0
    assert path.read_text() == "# mine\nbundle:\n  active: minimal  # for now\n"
    assert "The local settings say local" in capsys.readouterr().err


def test_use_refuses_what_is_not_there_or_not_valid_and_writes_nothing(
    bundles: Bundles, own_home: Path, capsys: Capture
) -> None:
    bundles.write("broken", "tools: oops\n")
    assert bundles.run("use", "nope") == 1
    assert "Known are: broken, coding" in capsys.readouterr().err
    assert bundles.run("use", "broken") == 1
    assert "broken.md:3" in capsys.readouterr().err
    assert settings(own_home) == {}
    assert bundles.run("use") == 2
    assert bundles.run("use", "coding", "--reset") == 2


def test_use_writes_a_path_so_that_it_holds_everywhere(
    bundles: Bundles, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bundles.write("mine", COMPLETE)
    monkeypatch.chdir(path.parent)
    bundles.folder = path.parent
    assert bundles.run("use", "./mine.md") == 0
    assert settings(own_home) == {"bundle": {"active": str(path)}}


def test_add_asks_for_trust_first_and_headless_needs_the_flag(
    bundles: Bundles, repo: GitRepo, own_home: Path, capsys: Capture
) -> None:
    assert bundles.run("add", repo.uri()) == 3
    captured = capsys.readouterr()
    assert "Not allowed to fetch" in captured.err and "--trust" in captured.err
    assert settings(own_home) == {} and not (own_home / ".amplifier" / "cache").exists()
    assert bundles.run("add", repo.uri(), "--trust", "--json") == 0
    captured = capsys.readouterr()
    assert data(captured.out)["name"] == "far"
    assert f"fetching git+file://{repo.path}" in captured.err
    assert settings(own_home) == {"bundle": {"added": {"far": repo.uri()}}}
    assert bundles.run("list", "--json") == 0
    found = {row["name"]: row for row in rows(capsys.readouterr().out)}
    assert (found["far"]["from"], found["far"]["state"]) == ("added", "ready")


def test_an_answer_given_at_the_terminal_is_remembered_for_headless_runs(
    bundles: Bundles, repo: GitRepo, capsys: Capture, own_home: Path
) -> None:
    status, shown = in_terminal(bundles.folder, "add", repo.uri(), keys="none\n")
    assert status == 3 and "Would be fetched" in shown and str(repo.path) in shown
    assert "(all, choose, none)" in shown
    assert bundles.run("add", repo.uri()) == 3
    status, shown = in_terminal(bundles.folder, "add", repo.uri(), keys="all\n")
    assert status == 0 and "Added far: From afar" in shown
    assert bundles.run("remove", "far") == 0
    subprocess.run(["rm", "-rf", str(own_home / ".amplifier" / "cache")], check=True)
    assert bundles.run("add", repo.uri()) == 0


def test_a_bundle_that_was_allowed_when_it_was_added_is_not_asked_about_when_it_is_opened(
    bundles: Bundles, repo: GitRepo
) -> None:
    def opens() -> bool:
        command = [sys.executable, "-m", "amplifier_tui", "run", "--bundle", "far", "hi"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        given = {"cwd": bundles.folder, "env": environ, "stdin": subprocess.DEVNULL}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **given)
        assert ("Not used without --trust: bundle repo" in done.stderr) is (done.returncode == 1)
        return done.returncode == 0

    assert in_terminal(bundles.folder, "add", repo.uri(), keys="all\n")[0] == 0
    assert opens()
    repo.commit({"bundle.md": (repo.path / "bundle.md").read_text() + "Other words."})
    assert bundles.run("update", "far", "--trust") == 0
    assert not opens(), "other content is another question"


def test_what_is_asked_is_shown_as_it_is(bundles: Bundles, capsys: Capture) -> None:
    evil = "git+https://h.invalid/\u202etxt.\x1b[2Jx"
    status, shown = in_terminal(bundles.folder, "add", evil, keys="none\n")
    assert status == 3
    assert "‹U+202E›" in shown and "‹U+001B›" in shown
    assert "\u202e" not in shown and "\x1b[2J" not in shown


def test_add_takes_a_path_and_a_name_of_ones_own(
    bundles: Bundles, tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    path = tmp_path / "their" / "bundle.md"
    path.parent.mkdir()
    path.write_text(FAR)
    assert bundles.run("add", str(path.parent), "--name", "a.b", "--scope", "project") == 0
    assert settings(bundles.folder) == {"bundle": {"added": {"a.b": str(path.parent)}}}
    assert bundles.run("use", "a.b") == 0
    assert bundles.run("add", str(path), "--name", "../x") == 1
    assert bundles.run("add", str(path), "--name", "a b") == 1
    assert bundles.run("add", str(tmp_path / "nowhere")) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["coding", "lab", "own"])
def test_add_refuses_the_name_of_another_bundle_and_names_the_way_out(
    bundles: Bundles, tmp_path: Path, own_home: Path, capsys: Capture, name: str
) -> None:
    bundles.write("lab", COMPLETE)
    own = own_home / ".amplifier" / "bundles" / "own.md"
    own.parent.mkdir(parents=True)
    own.write_text(FAR)
    fork = GitRepo.create(
        tmp_path / "fork", {"bundle.md": FAR.replace("name: far", f"name: {name}")}
    )
    far = tmp_path / "far.md"
    far.write_text(FAR)
    for given in ((fork.uri(), "--trust"), (str(far), "--name", name)):
        assert bundles.run("add", *given) == 1
        said = capsys.readouterr().err
        assert f"There is a bundle '{name}' already: " in said and "--name" in said
    assert settings(own_home) == {}
    assert bundles.run("list", "--json") == 0
    assert all(row["in_place_of"] == "" for row in rows(capsys.readouterr().out))
    assert bundles.run("add", fork.uri(), "--trust", "--name", "other") == 0
    assert settings(own_home) == {"bundle": {"added": {"other": fork.uri()}}}


def test_what_is_added_is_added_again_also_under_a_name_that_is_taken_by_now(
    bundles: Bundles, tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    first, second = (tmp_path / name for name in ("first.md", "second.md"))
    for path in (first, second):
        path.write_text(FAR)
    for path in (first, first, second):
        assert bundles.run("add", str(path), "--name", "lab") == 0
    bundles.write("lab", COMPLETE)
    assert bundles.run("add", str(second), "--name", "lab") == 0
    assert bundles.run("add", str(first), "--name", "lab") == 1
    assert settings(own_home) == {"bundle": {"added": {"lab": str(second)}}}
    capsys.readouterr()
    assert bundles.run("list", "--json") == 0
    found = {row["name"]: row for row in rows(capsys.readouterr().out)}
    assert (found["lab"]["from"], found["lab"]["in_place_of"]) == ("project", "added")
    assert bundles.run("show", "lab") == 0
    assert "It takes the place of lab (added)." in capsys.readouterr().out


@pytest.mark.parametrize("spelled", ["{}", "file://{}"])
def test_a_file_of_the_project_can_be_added_under_its_name_for_other_projects(
    bundles: Bundles, own_home: Path, capsys: Capture, spelled: str
) -> None:
    uri = spelled.format(bundles.write("lab", COMPLETE))
    assert bundles.run("add", uri) == 0
    assert settings(own_home) == {"bundle": {"added": {"lab": uri}}}
    capsys.readouterr()
    assert bundles.run("show", "lab", "--json") == 0
    assert data(capsys.readouterr().out)["in_place_of"] == "", "it is the same one"


def test_a_folder_of_the_project_is_the_same_one_as_the_file_in_it(bundles: Bundles) -> None:
    file = bundles.write("lab", COMPLETE)
    moved = file.with_suffix("") / "bundle.md"
    moved.parent.mkdir()
    file.rename(moved)
    assert bundles.run("add", str(moved.parent)) == bundles.run("add", str(moved)) == 0


def test_what_was_added_in_the_place_of_a_shipped_bundle_goes_on_and_is_told(
    bundles: Bundles, tmp_path: Path, own_home: Path, capsys: Capture
) -> None:
    path = tmp_path / "fork.md"
    path.write_text(FAR)
    file = own_home / ".amplifier" / "settings.yaml"
    file.parent.mkdir()
    file.write_text(f"bundle: {{added: {{coding: {path}}}}}\n")
    assert bundles.run("list") == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("*"))
    assert " ".join(row.split()) == "* coding ready added In place of coding (shipped). From afar"
    assert bundles.run("show", "coding") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "It takes the place of coding (shipped), also in the includes" in shown
    assert "`amplifier-tui bundle remove coding` brings that back." in shown
    assert bundles.run("add", str(path), "--name", "coding") == 0
    assert bundles.run("remove", "coding") == 0
    capsys.readouterr()
    assert bundles.run("show", "coding", "--json") == 0
    shipped = data(capsys.readouterr().out)
    assert (shipped["from"], shipped["in_place_of"]) == ("shipped", "")


def test_a_bundle_that_cannot_be_loaded_is_not_added(
    bundles: Bundles, tmp_path: Path, own_home: Path
) -> None:
    (tmp_path / "bad.md").write_text("---\ntools: x\n---\n")
    assert bundles.run("add", str(tmp_path / "bad.md")) == 1
    (tmp_path / "nameless.md").write_text(f"---\n{COMPLETE}---\n")
    assert bundles.run("add", str(tmp_path / "nameless.md")) == 1
    assert settings(own_home) == {}


def test_remove_takes_it_out_of_settings_and_registry(
    bundles: Bundles, repo: GitRepo, own_home: Path, capsys: Capture
) -> None:
    assert bundles.run("add", repo.uri(), "--trust") == 0
    assert bundles.run("use", "far") == 0
    capsys.readouterr()
    assert bundles.run("remove", "far", "--json") == 0
    captured = capsys.readouterr()
    assert data(captured.out)["removed_from"] == ["global settings", "registry"]
    assert "far is still chosen" in captured.err
    assert settings(own_home) == {"bundle": {"active": "far"}}
    registry = json.loads((own_home / ".amplifier" / "registry.json").read_text())
    assert "far" not in registry["bundles"]
    assert bundles.run("remove", "far") == 1
    assert bundles.run("remove", "coding") == 1
    assert "It is shipped" in capsys.readouterr().err


def test_lock_and_update_go_together(
    bundles: Bundles, repo: GitRepo, tmp_path: Path, capsys: Capture
) -> None:
    part = GitRepo.create(tmp_path / "part", {"bundle.md": "---\nbundle: {name: part}\n---\n"})
    old = part.git("rev-parse", "HEAD")
    bundles.write("mine", f"includes: ['{repo.uri()}', '{part.uri()}']\n{COMPLETE}")
    assert bundles.run("lock", "mine") == 3
    assert not (bundles.folder / ".amplifier" / "bundle.lock").exists()
    capsys.readouterr()
    assert bundles.run("lock", "mine", "--trust", "--json") == 0
    assert data(capsys.readouterr().out)["sources"][part.uri()] == old
    new = part.commit({"extra.txt": "new"})
    assert bundles.run("update", "mine", "--check", "--trust", "--json") == 0
    states = {row["uri"]: row for row in data(capsys.readouterr().out)["sources"]}
    assert states[part.uri()]["state"] == "available"
    assert (states[part.uri()]["before"], states[part.uri()]["after"]) == (old, new)
    assert states[repo.uri()]["state"] == "current"
    lock = bundles.folder / ".amplifier" / "bundle.lock"
    assert old in lock.read_text()
    assert bundles.run("update", "mine", "--trust") == 0
    text = capsys.readouterr().out
    assert f"updated  {part.uri()} · {old[:8]} → {new[:8]}" in text
    assert new in lock.read_text() and old not in lock.read_text()
    assert bundles.run("update", "mine", "--trust", "--json") == 0
    found = data(capsys.readouterr().out)["sources"]
    assert {row["state"] for row in found} == {"current"}


def test_update_is_headless_only_with_consent(
    bundles: Bundles, repo: GitRepo, capsys: Capture
) -> None:
    bundles.write("mine", f"includes: ['{repo.uri()}']\n{COMPLETE}")
    assert bundles.run("update", "mine", "--json") == 3
    (row,) = data(capsys.readouterr().out)["sources"]
    assert row["state"] == "refused" and "Not allowed to fetch" in row["detail"]


def test_update_asks_before_it_looks_for_what_is_newer_of_a_bundle_that_was_never_asked_about(
    bundles: Bundles, repo: GitRepo, capsys: Capture
) -> None:
    assert bundles.run("add", repo.uri(), "--trust") == 0
    new = repo.commit({"more.md": "x"})
    capsys.readouterr()
    assert bundles.run("update", "far") == 3
    captured = capsys.readouterr()
    assert "refused" in captured.out and "trust forget" in captured.err
    status, shown = in_terminal(bundles.folder, "update", "far", keys="none\n")
    assert status == 3 and shown.count("Would be fetched") == 1 and "Not allowed to fetch" in shown
    status, shown = in_terminal(bundles.folder, "update", "far", keys="all\n")
    assert status == 0 and shown.count("Would be fetched") == 1
    assert "updated" in shown and new[:8] in shown
    assert bundles.run("update", "far", "--check") == 0, "the answer is kept"
    assert "current" in capsys.readouterr().out


def test_what_an_update_was_allowed_to_fetch_is_not_asked_about_when_it_is_opened(
    bundles: Bundles, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    assert bundles.run("add", repo.uri(), "--trust") == 0
    repo.commit({"more.md": "x"})
    assert in_terminal(bundles.folder, "update", "far", keys="all\n")[0] == 0
    monkeypatch.chdir(bundles.folder)
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["run", "--bundle", "far", "hi"]) == 0
    assert "Not used without --trust" not in capfd.readouterr().err


def test_lock_asks_about_the_modules_of_a_bundle_too(
    bundles: Bundles, tmp_path: Path, capsys: Capture
) -> None:
    module = GitRepo.create(
        tmp_path / "tool", {"amplifier_module_tool_x/__init__.py": "one = 1\n", "setup.cfg": ""}
    )
    bundles.write("mine", f"tools: [{{module: tool-x, source: '{module.uri()}'}}]\n{COMPLETE}")
    assert bundles.run("lock", "mine") == 3
    status, shown = in_terminal(bundles.folder, "lock", "mine", keys="all\n")
    assert status == 0 and "Would be fetched" in shown and "Locked 1 source" in shown


def test_a_bundle_without_sources_has_nothing_to_update(bundles: Bundles, capsys: Capture) -> None:
    assert bundles.run("update", "coding") == 0
    assert "no sources" in capsys.readouterr().out
    assert bundles.run("lock", "coding") == 0
    assert "Locked 0 sources" in capsys.readouterr().out


def test_a_disk_that_does_not_take_it_is_an_error_and_no_traceback(
    bundles: Bundles, capsys: Capture
) -> None:
    (bundles.folder / ".amplifier").write_text("a file")
    assert bundles.run("use", "minimal", "--scope", "project") == 1
    assert "Error:" in capsys.readouterr().err


def test_starting_a_command_imports_no_screen(bundles: Bundles) -> None:
    code = (
        "import sys; from amplifier_tui.cli.group import run;"
        f"status = run(['bundle', '--cwd', {str(bundles.folder)!r}, 'show', 'demo']);"
        "bad = {'textual', 'anthropic', 'openai'} & set(sys.modules);"
        "sys.exit(str(bad) if bad else status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_was_locked_is_there_without_the_network(
    bundles: Bundles, repo: GitRepo, tmp_path: Path, capsys: Capture
) -> None:
    assert bundles.run("add", repo.uri(), "--trust") == 0
    assert bundles.run("lock", "far", "--trust") == 0
    commit = repo.git("rev-parse", "HEAD")
    lines = capsys.readouterr().out.splitlines()
    assert f"{commit[:12]}  {repo.uri()}" in lines
    repo.path.rename(tmp_path / "gone")
    assert bundles.run("show", "far", "--json") == 0
    found = data(capsys.readouterr().out)
    assert (found["state"], found["to_fetch"]) == ("ready", [])
    assert bundles.run("validate", "far") == 0
    assert capsys.readouterr().out == "far is valid.\n"
    assert bundles.run("lock", "far", "--json") == 0
    assert data(capsys.readouterr().out)["sources"] == {repo.uri(): commit}


def test_in_a_pipe_a_fetch_is_one_line_and_in_a_terminal_its_percentage_is_counted_up(
    bundles: Bundles, repo: GitRepo, capsys: Capture
) -> None:
    assert bundles.run("add", repo.uri(), "--trust") == 0
    said = capsys.readouterr().err.splitlines()
    assert said == [TRUSTED, f"fetching {repo.uri()}"]
    repo.commit({"more.md": "x"})
    status, shown = in_terminal(bundles.folder, "update", "far", "--trust", columns=40)
    assert status == 0 and "updated" in shown
    counted = [line for line in shown.split("\n") if line.startswith("\x1b[1A\x1b[2K")]
    assert all(len(line) - len("\x1b[1A\x1b[2K") < 40 for line in counted)


def test_a_percentage_replaces_the_line_of_the_same_source_only(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = Progress()
    for detail in ("a", "a 10%", "b", "a 20%", "a 30%", "b 50%\x1b[2J"):
        progress("fetching", detail)
    progress("loading", "c")
    up = "\x1b[1A\x1b[2K"
    assert capsys.readouterr().err.splitlines() == [
        "fetching a",
        f"{up}fetching a 10%",
        "fetching b",
        "fetching a 20%",
        f"{up}fetching a 30%",
        "fetching b 50%",
    ]
