import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import Compacted, Notice, SessionOpened, TurnEnded
from tests.host.asking import CONTEXT, chat, seen, with_source
from tests.host.driving import Driver, Project, calling
from tests.servers import LoopbackServer

Make = Callable[..., Driver]


def state_of(project: Project, session: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.folder_of(session) / "state.json").read_text())
    return found


def plain(project: Project, **more: Any) -> str:
    config = {"providers": [], "target": 0.1}
    return project.bundle(context=CONTEXT, context_config=config, **more)


def test_what_sources_remember_is_on_disk_when_the_turn_ends_and_comes_back(
    project: Project, drive: Make, server: LoopbackServer
) -> None:
    server.script.add("One.", "Two.")
    first = drive()
    opened = first.open(with_source(project, server, {}))
    first.turn("hello")
    state = state_of(project, opened.session_id)["state"]
    assert state["weather"] == {"asked": 1, "heard": ["One."]}
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    again.turn("more")
    state = state_of(project, opened.session_id)["state"]
    assert state["weather"] == {"asked": 2, "heard": ["Two."]}


def test_a_failed_turn_saves_the_state_too(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    opened = driver.open(with_source(project, server, {"raises": "the station is down"}))
    driver.turn("hello")
    assert state_of(project, opened.session_id)["state"]["weather"] == {"asked": 1}


def test_secrets_are_not_in_the_state(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("The key is sk-test-0000000000000001, I believe.")
    opened = driver.open(with_source(project, server, {}))
    driver.turn("hello")
    text = (project.folder_of(opened.session_id) / "state.json").read_text()
    assert "I believe" in text and "sk-test-0000000000000001" not in text
    driver.client.fork()
    forked = driver.wait(SessionOpened)
    text = (project.folder_of(forked.session_id) / "state.json").read_text()
    assert "I believe" in text and "sk-test-0000000000000001" not in text


@pytest.mark.parametrize("broken", ["{", "[]", '{"state": {"x": {"type": "message"}}}'])
def test_a_broken_state_is_moved_aside_and_said_and_the_session_goes_on(
    project: Project, drive: Make, broken: str
) -> None:
    first = drive()
    opened = first.open(plain(project))
    first.turn("hello")
    first.close()
    path = project.folder_of(opened.session_id) / "state.json"
    path.write_text(broken)
    again = drive()
    again.open(resume=opened.session_id)
    (aside,) = path.parent.glob("state.json.corrupt-*")
    assert aside.read_text() == broken
    assert any(aside.name in event.text for event in again.of(Notice))
    assert again.turn("more").status == "success"
    assert path.exists()


def test_a_part_that_can_t_be_saved_is_said_once_with_its_place_and_the_rest_is_saved(
    project: Project, driver: Driver, server: LoopbackServer, recwarn: pytest.WarningsRecorder
) -> None:
    server.script.add("One.", "Two.")
    opened = driver.open(with_source(project, server, {"keeps": True}, {"id": "other"}))
    driver.turn("hello")
    driver.turn("more")
    state = state_of(project, opened.session_id)["state"]
    assert state["other"]["asked"] == 2 and "weather" not in state
    told = [event.text for event in driver.of(Notice) if "'weather'" in event.text]
    assert len(told) == 1 and "hooks_source/__init__.py:" in told[0]
    assert not recwarn.list, "its author reads the notice"


def test_a_state_without_a_plain_form_costs_a_notice_and_nothing_else(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("One.")
    driver.open(with_source(project, server, {"circle": True}))
    assert driver.turn("hello").status == "success"
    assert any("can't be saved" in event.text for event in driver.of(Notice))
    driver.client.fork()
    assert driver.wait(SessionOpened)


def test_a_state_that_can_t_be_written_is_said_and_the_turn_ends_well(
    project: Project, driver: Driver
) -> None:
    opened = driver.open(plain(project))
    driver.turn("hello")
    path = project.folder_of(opened.session_id) / "state.json"
    path.unlink()
    path.mkdir()
    assert driver.turn("more").status == "success"
    assert any("can't be saved" in event.text for event in driver.of(Notice))


def test_a_session_of_the_amplifier_cli_resumes_without_a_state(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Yes.")
    session = "11111111-2222-3333-4444-555555555555"
    folder = project.folder_of(session)
    folder.mkdir(parents=True)
    rows = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
    (folder / "transcript.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    driver.open(plain(project, providers=[chat(server)]), resume=session)
    assert driver.turn("still there?").status == "success"
    assert seen(server, 0) == ["user: hi", "assistant: Hello.", "user: still there?"]
    assert not [event for event in driver.of(Notice) if event.level != "info"]


def test_orphan_results_are_repaired_for_the_model_and_stay_as_they_are_on_disk(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Yes.")
    session = "11111111-2222-3333-4444-555555555555"
    folder = project.folder_of(session)
    folder.mkdir(parents=True)
    rows = [
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "lost", "name": "echo", "content": "an old result"},
        {"role": "assistant", "content": "Hello."},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "transcript.jsonl").write_text(text)
    driver.open(plain(project, providers=[chat(server)]), resume=session)
    # The server refuses a result without a call.
    assert driver.turn("still there?").status == "success"
    assert "an old result" in seen(server, 0)[0]
    assert (folder / "transcript.jsonl").read_text().startswith(text)


def test_what_was_compacted_stays_compacted_after_a_resume(project: Project, drive: Make) -> None:
    script = calling({"echo": {"text": "x" * 20_000}})
    name = plain(project, script=script)
    first = drive()
    opened = first.open(name)
    for number in range(4):
        first.turn(f"prompt {number}")
    first.client.compact()
    first.wait(Compacted)
    after = first.client.compaction().result(5).before
    first.close()
    again = drive()
    again.open(resume=opened.session_id)
    assert [event.strategy for event in again.of(Compacted)] == ["rule"]
    assert all(event.replayed for event in again.of(Compacted))
    assert again.client.compaction().result(5).before == after
    again.client.submit("go on")
    again.wait(TurnEnded, lambda event: not event.replayed)
    assert len(again.of(Compacted)) == 1


def test_a_conversation_that_moves_to_another_bundle_stays_compacted(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    script = calling({"echo": {"text": "x" * 20_000}})
    driver.open(plain(project, script=script))
    for number in range(4):
        driver.turn(f"prompt {number}")
    full = driver.client.compaction().result(5).before
    driver.client.compact()
    driver.wait(Compacted)
    other = project.bundle("other", context=CONTEXT, context_config={"providers": []})
    driver.client.switch_bundle(other)
    driver.wait_until(
        lambda: driver.client.compaction().result(5).before < full // 2, "it came back whole"
    )
