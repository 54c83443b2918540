"""What happens in a session beside prompts and answers is played again as well."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.cassettes.cassette import Cassette, TapedAnswer, TapedCall, TapedPrompt
from amplifier_tui.host.cassettes.comparing import differences
from amplifier_tui.host.cassettes.conversing import ReplayOrder, play
from amplifier_tui.host.cassettes.recording import SessionRecorder
from amplifier_tui.host.client import Decision
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import ApprovalRequested, BlockDelta, Compacted, TurnEnded
from amplifier_tui.host.gate.rules.file import user_rules_path
from amplifier_tui.host.redaction import Redactor
from tests.host.asking import CONTEXT, chat, claude
from tests.host.driving import Driver, Project, calling, saying
from tests.sandbox import needs_sandbox
from tests.servers import LoopbackServer, Thinking, ToolUse, reply


def recorded(project: Project, session: str) -> Cassette:
    return SessionRecorder(project.folder_of(session), Redactor()).record()


def played(project: Project, cassette: Cassette, missing: Sequence[str] = ()) -> list[str]:
    replayed = play(cassette, ReplayOrder(project.folder), LocalClient(trust_everything))
    assert replayed.missed == list(missing)
    return [str(each) for each in differences(cassette, replayed.cassette)]


def test_words_to_a_running_turn_are_said_again_before_the_same_request(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    waits = {"wait": {"started": str(tmp_path / "started"), "until": str(tmp_path / "go")}}
    session = driver.open(project.bundle(script=calling(waits))).session_id
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.steer("look left first")
    driver.drain()
    (tmp_path / "go").touch()
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [(row.id, row.text) for row in cassette.rows if row.kind == "steer"] == [
        ("1.2", "look left first")
    ]
    assert not played(project, cassette)


def test_a_turn_that_was_stopped_in_an_answer_is_stopped_there(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=saying("word " * 2_000), speed=20)
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.wait(BlockDelta)
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [each.interrupted for each in cassette.of(TapedAnswer)] == [True]
    assert not played(project, cassette)


def test_a_turn_that_was_stopped_in_a_tool_is_stopped_there(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    waits = {"wait": {"started": str(tmp_path / "started"), "until": str(tmp_path / "never")}}
    session = driver.open(project.bundle(script=calling(waits))).session_id
    driver.client.submit("go")
    driver.wait_for_file(tmp_path / "started")
    driver.client.interrupt(True)
    driver.wait(TurnEnded)
    driver.close()
    cassette = recorded(project, session)
    assert [each.error.type for each in cassette.of(TapedCall) if each.error] == ["interrupted"]
    assert not played(project, cassette)


@pytest.mark.parametrize(
    "script",
    [
        saying("", error={"type": "RateLimitError", "message": "slow down", "status_code": 429}),
        calling({"echo": "{broken"}),
        calling({"fail": {"text": "it broke"}}, {"nowhere": {}}),
    ],
    ids=["the provider fails", "arguments nobody can read", "tools fail"],
)
def test_what_went_wrong_goes_wrong_again(
    project: Project, driver: Driver, script: dict[str, Any]
) -> None:
    session = driver.open(project.bundle(script=script)).session_id
    driver.turn("go")
    driver.close()
    assert not played(project, recorded(project, session))


@pytest.mark.parametrize("provider", [claude, chat], ids=["Anthropic", "OpenAI"])
def test_what_a_vendor_answered_is_played_without_its_server(
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    provider: Callable[[LoopbackServer], dict[str, Any]],
) -> None:
    name = project.bundle(providers=[provider(server)])
    server.script.add(
        reply(Thinking("Let me see."), "I look.", ToolUse("echo", {"text": "here"})),
        reply("It is here."),
    )
    session = driver.open(name).session_id
    driver.client.submit("where?")
    # The vendor's SDK is imported first.
    assert driver.wait(TurnEnded, timeout=45).status == "success"
    driver.close()
    cassette = recorded(project, session)
    server.stop()
    asked = len(server.requests)
    assert not played(project, cassette)
    assert len(server.requests) == asked
    texts = [str(each.content) for each in cassette.of(TapedAnswer)]
    assert "I look." in texts[0] and "It is here." in texts[1]


@pytest.mark.parametrize("instructions", [None, "Keep names."], ids=["by rule", "a summary"])
def test_a_compaction_by_hand_comes_after_the_same_turn(
    project: Project, driver: Driver, instructions: str | None
) -> None:
    name = project.bundle(
        script=[
            {**calling({"echo": {"text": "x" * 20_000}}), "when": {"tools": ["echo"]}},
            saying("Something was said."),
        ],
        context=CONTEXT,
        context_config={"providers": [], "target": 0.1},
    )
    session = driver.open(name).session_id
    for number in range(3):
        driver.turn(f"prompt {number}")
    driver.client.compact(instructions)
    driver.wait(Compacted)
    driver.turn("and then")
    driver.close()
    cassette = recorded(project, session)
    assert [row.id for row in cassette.rows if row.kind == "compaction"] == ["3.c1"]
    assert not played(project, cassette)


def test_the_mode_changes_before_the_same_turn_and_no_rule_is_kept(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(script=calling({"write": {"file_path": "a.txt", "content": "a"}}))
    project.allow(["echo"])
    session = driver.open(name).session_id
    driver.client.submit("one")
    asked = driver.wait(ApprovalRequested)
    driver.client.decide(asked.request_id, Decision(allow=True, scope="once"))
    driver.wait(TurnEnded)
    driver.client.set_mode("plan")
    driver.turn("two")
    driver.close()
    cassette = recorded(project, session)
    assert [each.mode for each in cassette.of(TapedPrompt)] == ["ask", "plan"]
    (project.folder / "a.txt").unlink()
    rules = user_rules_path().read_text()
    assert not played(project, cassette)
    assert user_rules_path().read_text() == rules
    assert not (project.folder / "a.txt").exists(), "no tool ran"


def test_what_a_prompt_mentions_outside_of_the_project_is_not_read(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside.txt").write_text("private words")
    (project.folder / "inside.txt").write_text("public words")
    session = driver.open(project.bundle(script=saying("Hello."))).session_id
    driver.turn("see @../outside.txt and @inside.txt")
    driver.close()
    cassette = recorded(project, session)
    (prompt,) = cassette.of(TapedPrompt)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["../outside.txt", "~/outside.txt", "inside.txt", "a\0b"]
    attached = prompt.model_copy(update={"attachments": names})
    rows = tuple(attached if row is prompt else row for row in cassette.rows)
    asked = cassette.model_copy(update={"rows": rows})
    replayed = play(asked, ReplayOrder(project.folder), LocalClient(trust_everything))
    told = str([row.told for row in replayed.cassette.rows if row.kind == "request"])
    assert "public words" in told and "private words" not in told
    assert replayed.missed == ["attachment ../outside.txt", "attachment ~/outside.txt"]


def test_a_workspace_of_its_own_makes_a_cassette_independent_of_the_project(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    (project.folder / "notes.txt").write_text("old words")
    session = driver.open(project.bundle(script=saying("Hello."))).session_id
    driver.turn("see @notes.txt")
    driver.close()
    cassette = recorded(project, session)
    (project.folder / "notes.txt").unlink()
    folder = tmp_path / "a.workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("kept words")
    order = ReplayOrder(project.folder, workspace=folder)
    replayed = play(cassette, order, LocalClient(trust_everything)).cassette
    told = str([row.told for row in replayed.rows if row.kind == "request"])
    assert "kept words" in told and str(tmp_path) not in told


def real(project: Project, cassette: Cassette, call: str, **changes: Any) -> list[str]:
    """Play a cassette with real tools, one of its calls changed; returns what differs."""
    rows = tuple(
        row.model_copy(update={"content": [{**block, **changes} for block in row.content]})
        if isinstance(row, TapedAnswer) and row.id == call.rpartition(".")[0]
        else row
        for row in cassette.rows
    )
    changed = cassette.model_copy(update={"rows": rows})
    order = ReplayOrder(project.folder, tools="real")
    replayed = play(changed, order, LocalClient(trust_everything))
    return [str(each) for each in differences(changed, replayed.cassette, "real")]


def held(project: Project, driver: Driver, call: dict[str, Any], *tools: str) -> Cassette:
    """Return a session with a call that the user allowed."""
    name = project.bundle(script=calling(call), tools=tools)
    project.allow([])
    session = driver.open(name).session_id
    driver.client.submit("go")
    driver.allow_next()
    driver.wait(TurnEnded)
    driver.close()
    return recorded(project, session)


def test_real_tools_write_in_the_copy_alone(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    write = {"write": {"file_path": "a.txt", "content": "mine"}}
    cassette = held(project, driver, write, "tool-test")
    (project.folder / "a.txt").unlink()
    assert not real(project, cassette, "1.1.1")
    assert not (project.folder / "a.txt").exists()
    outside = tmp_path / "outside.txt"
    for path in (str(outside), "../outside.txt", "{{project}}/b.txt"):
        given = {"file_path": path, "content": "theirs"}
        real(project, cassette, "1.1.1", input=given)
    assert not outside.exists() and not (project.folder / "b.txt").exists()


@needs_sandbox
def test_real_commands_run_in_a_sandbox_although_the_cassette_allows_them(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    cassette = held(project, driver, {"bash": {"command": "touch here"}}, "tool-bash")
    (project.folder / "here").unlink()
    assert not real(project, cassette, "1.1.1")
    outside = tmp_path / "outside"
    found = real(project, cassette, "1.1.1", input={"command": f"touch {outside}"})
    assert not outside.exists() and found
    unconfined = {"command": f"touch {outside}", "outside_sandbox": True}
    real(project, cassette, "1.1.1", input=unconfined)
    assert not outside.exists() and not (project.folder / "here").exists()
