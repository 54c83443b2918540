import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from amplifier_tui.cli.cassettes.common import SUFFIX
from amplifier_tui.cli.group import run
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, TurnEnded
from tests.host.driving import MODULES, Driver, Project, calling, saying


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in which a session was held."""
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    monkeypatch.setenv("TEST_API_KEY", "s3cret-value-of-a-key")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project").mkdir()
    made = Project(tmp_path / "project")
    made.bundle(script=calling({"leak": {}}, then="Done: {{output}}"))
    driver = Driver(made.folder)
    driver.open("test")
    driver.turn("what is the key?")
    driver.close()
    return made


def cassette(project: Project, name: str = "a") -> Path:
    """Record the session."""
    path = project.folder.parent / "tapes" / f"{name}{SUFFIX}"
    path.parent.mkdir(exist_ok=True)
    assert run(["record", "--cwd", str(project.folder), "--output", str(path), "--trust"]) == 0
    return path


def play(project: Project, command: str, path: Path, *more: str) -> int:
    return run([command, str(path), "--cwd", str(project.folder), "--trust", *more])


def stored(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "sessions" in path.parts}


def test_a_session_is_recorded_without_secrets_and_names_of_folders(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    said = capsys.readouterr()
    assert "no difference: 1 turn, 2 answers" in said.out
    text = path.read_text()
    assert "s3cret" not in text and "[REDACTED]" in text
    assert str(project.folder) not in text
    assert path.stat().st_mode & 0o777 == 0o600
    assert run(["record", "--cwd", str(project.folder), "--output", str(path)]) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_session_that_kept_a_secret_from_the_model_replays_without_a_difference(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.bundle(
        script=calling({"leak": {}}, then="Done: {{output}}"), hooks=(("hooks-redaction", {}),)
    )
    driver = Driver(project.folder)
    driver.open("test")
    driver.turn("what is the key?")
    driver.close()
    path = cassette(project)
    assert "no difference" in capsys.readouterr().out
    assert play(project, "replay", path) == 0


def test_a_replay_leaves_no_session_and_tells_its_outcome_by_its_exit_status(
    project: Project, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    before = stored(own_home)
    assert play(project, "replay", path) == 0
    assert stored(own_home) == before
    project.bundle(script=calling({"leak": {}}), instruction="You are another.")
    capsys.readouterr()
    assert play(project, "replay", path) == 1
    said = capsys.readouterr().out
    assert "turn 1, request 1: system prompt: “You are a test.” → “You are another.”" in said
    assert play(project, "replay", path, "--json") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["differences"][0]["what"]) == (1, "system prompt")
    assert play(project, "replay", path, "--update") == 1
    assert play(project, "replay", path) == 0


def test_a_tool_that_is_not_run_where_tools_are_real_is_named(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    capsys.readouterr()
    assert play(project, "test", path, "--tools", "real") == 0
    assert "not run: 1 call of leak, with what was recorded" in capsys.readouterr().out
    assert play(project, "replay", path, "--tools", "real", "--json") == 0
    assert json.loads(capsys.readouterr().out)["not_run"] == {"leak": ["1.1.1"]}
    assert play(project, "replay", path) == 0
    assert "not run" not in capsys.readouterr().out


def test_a_turn_that_asks_for_more_than_was_answered_is_not_updated(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    rows = [row for row in path.read_text().splitlines() if '"answer", "id": "1.2"' not in row]
    path.write_text("\n".join(rows))
    assert play(project, "replay", path, "--update") == 1
    words = "Turn 1 stays as it was: it asks for more answers than it got"
    assert words in capsys.readouterr().err
    assert "holds no answer" not in path.read_text()
    assert play(project, "replay", path) == 1


def test_a_bundle_may_be_a_path_where_a_session_is_recorded_or_played(project: Project) -> None:
    place = str(project.bundles / "test.md")
    assert play(project, "replay", cassette(project), "--bundle", place) == 0
    driver = Driver(project.folder)
    driver.open(place)
    driver.turn("what is the key?")
    driver.close()
    path = cassette(project, "b")
    assert json.loads(path.read_text().splitlines()[0])["bundle"] == "test"
    assert play(project, "replay", path) == 0


def test_what_can_not_be_played_says_why(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    assert play(project, "replay", path, "--bundle", "nowhere") == 3
    assert "nowhere" in capsys.readouterr().out
    path.write_text(path.read_text().replace('"cassette": 1', '"cassette": 2'))
    assert play(project, "replay", path) == 2
    assert "line 1: it is of version 2" in capsys.readouterr().out
    assert run(["replay", "nowhere.jsonl"]) == 2
    assert capsys.readouterr().out == "nowhere.jsonl: No such file or directory\n"
    assert run(["record", "--cwd", str(project.folder), "no-such-session"]) == 1


def test_a_cassette_that_can_not_be_updated_is_named(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with cassette(project).open() as file:
        capsys.readouterr()
        path = Path(f"/dev/fd/{file.fileno()}")
        assert play(project, "replay", path, "--update") == 1
    assert f"Error: {path}: " in capsys.readouterr().err


def test_a_workspace_that_leads_elsewhere_is_not_copied(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    (tmp_path / "home").mkdir()
    beside = path.with_name("a.workspace")
    beside.symlink_to(tmp_path / "home")
    capsys.readouterr()
    assert play(project, "replay", path) == 3
    assert "a.workspace leads to" in capsys.readouterr().out
    assert play(project, "replay", path, "--workspace", str(beside)) == 0


def test_what_a_cassette_that_was_never_played_does_not_know_is_said_until_it_is_updated(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project.folder / f"a{SUFFIX}"
    order = ["record", "--cwd", str(project.folder), "--output", str(path), "--as-it-was"]
    assert run(order) == 0
    for command in ("test", "replay"):
        assert play(project, command, path) == 0
        said = capsys.readouterr()
        assert "no difference" in said.out
        assert "not compared: modules and what requests hold" in said.err
    assert play(project, "replay", path, "--update") == 0
    assert play(project, "test", path) == 0
    assert "not compared" not in capsys.readouterr().err


def test_a_module_that_no_longer_mounts_is_named_with_its_cause(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    script = calling({"leak": {}}, then="Done: {{output}}")
    project.bundle(script=script, hooks=(("hooks-redaction", {"priority": "soon"}),))
    assert play(project, "replay", path) == 1
    assert "  did not mount: hooks-redaction: " in capsys.readouterr().out
    assert play(project, "replay", path, "--json") == 1
    failed = json.loads(capsys.readouterr().out)["failed"]
    assert "priority" in failed["hooks-redaction"]


def test_a_cassette_whose_requests_are_cut_out_differs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(each for each in lines if json.loads(each).get("kind") != "request"))
    capsys.readouterr()
    assert play(project, "replay", path) == 1
    assert "requests: what they hold: nothing → that of 2" in capsys.readouterr().out


def test_a_folder_of_cassettes_is_reported_for_ci(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cassette(project).parent
    changed = cassette(project, "b")
    changed.write_text(changed.read_text().replace("what is the key", "which is the\uffff key", 1))
    (folder / f"c{SUFFIX}").write_text("[]\n")
    report = tmp_path / "report.xml"
    assert play(project, "test", folder, "--junit", str(report)) == 2
    assert "1 without a difference, 1 with, 1 not played" in capsys.readouterr().out
    suite = ElementTree.parse(report).getroot()
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    cases = {case.get("name"): [each.tag for each in case] for case in suite}
    assert cases == {f"a{SUFFIX}": [], f"b{SUFFIX}": ["failure"], f"c{SUFFIX}": ["error"]}
    assert "which is" in (suite.findtext("testcase/failure") or "")
    (tmp_path / "empty").mkdir()
    assert run(["test", str(tmp_path / "empty")]) == 2


def test_what_nobody_trusts_is_left_out_and_said(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(project)
    capsys.readouterr()
    run(["replay", str(path), "--cwd", str(project.folder)])
    assert "not used without --trust" in capsys.readouterr().err


def test_a_session_of_the_loop_that_module_new_writes_is_recorded_with_its_answers(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    at = project.folder.parent
    assert run(["module", "new", "orchestrator", "own", "--in", str(at)]) == 0
    loop = {"module": "loop-own", "source": str(at / "amplifier-module-loop-own")}
    script = calling({"leak": {}}, then="Done: {{output}}")
    project.bundle(script=script, session={"orchestrator": loop})
    driver = Driver(project.folder)
    driver.open("test")
    driver.turn("what is the key?")
    driver.close()
    text = cassette(project).read_text()
    assert "no difference: 1 turn, 2 answers" in capsys.readouterr().out
    assert "loop-own" in text and "Done: " in text


def test_a_session_in_which_hooks_asked_is_played_as_it_was_decided(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = {"action": "ask_user", "approval_prompt": "May it?", "name": "policy"}
    events = {"prompt:submit": [asks], "provider:request": [asks]}
    project.bundle(script=saying("Hello."), hooks=(("hooks-answer", events),))
    driver = Driver(project.folder)
    driver.open("test")
    for answers in ((True, True), (False,), (True, False)):
        driver.client.submit("go")
        for allow in answers:
            asked = driver.wait(ApprovalRequested)
            driver.client.decide(asked.request_id, Decision(allow=allow))
        driver.wait(TurnEnded)
    driver.close()
    path = cassette(project)
    assert play(project, "test", path.parent) == 0
    del events["provider:request"]
    project.bundle(script=saying("Hello."), hooks=(("hooks-answer", events),))
    capsys.readouterr()
    assert play(project, "test", path.parent) == 1
    said = capsys.readouterr().out
    assert "turn 1, request 1, provider:request: hooks: policy ask_user → policy nothing" in said
    assert "turn 3, request 1: request: nothing → a request" in said
