"""A key in the user's words is hidden on the screen: whether the model gets it is said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    Notice,
    QueueChanged,
    SteerApplied,
    TurnEnded,
    TurnStarted,
)
from tests.host.asking import chat
from tests.host.driving import Driver, Project, calling
from tests.host.session.test_agents import ask, coding, script
from tests.host.session.test_telling_agents import ASKS
from tests.servers import Failure, LoopbackServer

# Put together here, so that no scanner takes this file for a leak.
KEY = "sk-" + "ant-api03-0123456789abcdefABCDEF"
SENT = "goes to the model as it is; only here and on disk it is hidden"
KEPT = "A secret in your prompt is kept from the model"
STRICT = (("hooks-redaction", {"prompts": True}),)
HAS = [
    {"name": "has", "when": {"prompt": KEY}, "steps": {"only": {"say": "I have it."}}},
    {"name": "none", "steps": {"only": {"say": "I have none."}}},
]


def told(driver: Driver) -> list[Notice]:
    return [each for each in driver.of(Notice) if each.is_of_conversation]


@pytest.mark.parametrize("hooks", [(), (("hooks-redaction", {}),)])
def test_a_key_that_is_sent_as_typed_is_said_to_be(
    hooks: Any, project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=hooks, script=HAS))
    driver.turn(f"use {KEY} please")
    assert driver.of(TurnStarted)[0].prompt == "use [REDACTED] please"
    (notice,) = told(driver)
    assert notice.level == "warning" and notice.text.startswith(f"A key in your prompt {SENT}")
    assert "`prompts: true` of `hooks-redaction`" in notice.text
    driver.turn("and one without")
    assert driver.answers() == ["I have it.", "I have none."] and told(driver) == [notice]


def test_a_key_in_a_prompt_that_failed_is_not_on_disk(
    project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add(Failure("overloaded"))
    opened = driver.open(project.bundle(providers=[chat(server)]))
    assert driver.turn(f"use {KEY} please").status == "error"
    assert driver.of(Failed)[-1].prompt == f"use {KEY} please", "it goes back to its writer"
    driver.close()
    files = [path for path in project.folder_of(opened.session_id).rglob("*") if path.is_file()]
    assert any("use [REDACTED] please" in path.read_text() for path in files)
    assert not [path.name for path in files if KEY in path.read_text()]


def test_a_key_that_is_kept_from_the_model_is_said_to_be(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(hooks=STRICT, script=HAS))
    driver.turn(f"use {KEY} please")
    (notice,) = told(driver)
    assert notice.level == "info" and notice.text.startswith(KEPT)
    assert driver.answers() == ["I have none."]


@pytest.mark.parametrize(("hooks", "sent"), [((), True), (STRICT, False)])
@pytest.mark.parametrize("way", ["mentioned", "attached"])
def test_a_key_in_a_file_is_told_like_one_that_is_typed(
    way: str, hooks: Any, sent: bool, project: Project, driver: Driver
) -> None:
    (project.folder / "notes.txt").write_text(f"the key is {KEY}\n")
    opened = driver.open(project.bundle(hooks=hooks))
    if way == "mentioned":
        driver.turn("read @notes.txt")
    else:
        driver.turn("read it", attachments=("notes.txt",))
    (notice,) = told(driver)
    start = f"A key in what goes along with your prompt {SENT}" if sent else KEPT
    assert notice.text.startswith(start)
    content = project.rows(opened.session_id)[0]["content"]
    assert ("[REDACTED:api-key]" in content) is not sent


def test_a_queued_prompt_with_a_key_is_told_when_it_is_sent(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    driver.open(project.bundle(script=calling(call)))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.queue(f"then use {KEY}")
    driver.wait(QueueChanged)
    assert told(driver) == []
    until.touch()
    assert driver.wait(Notice, lambda e: e.is_of_conversation).text.startswith(
        "A key in your prompt"
    )


@pytest.mark.parametrize(("hooks", "sent"), [((), True), (STRICT, False)])
def test_a_key_in_a_steering_message_is_told_like_one_in_a_prompt(
    hooks: Any, sent: bool, project: Project, driver: Driver, tmp_path: Path
) -> None:
    started, until = tmp_path / "started", tmp_path / "until"
    call = {"wait": {"started": str(started), "until": str(until)}}
    opened = driver.open(project.bundle(script=calling(call), hooks=hooks))
    driver.client.submit("go")
    driver.wait_for_file(started)
    driver.client.steer(f"rather use {KEY}")
    until.touch()
    assert driver.wait(SteerApplied).text == "rather use [REDACTED]"
    driver.wait(TurnEnded)
    (notice,) = told(driver)
    assert notice.text.startswith(f"A key in your prompt {SENT}" if sent else KEPT)
    (row,) = [row for row in project.rows(opened.session_id) if "rather" in row["content"]]
    assert ("[REDACTED:api-key]" in row["content"]) is not sent


@pytest.mark.parametrize("prompts", ["false", "true"])
def test_a_key_that_a_sub_agent_is_told_is_told_of_in_its_lane(
    prompts: str, project: Project, driver: Driver
) -> None:
    redaction = f"hooks:\n  - module: hooks-redaction\n    config: {{prompts: {prompts}}}\n"
    driver.open(coding(project, script([ask("tester")], ASKS), redaction))
    driver.client.submit("go")
    request = driver.wait(ApprovalRequested)
    driver.client.tell_agent(request.agent, f"Use {KEY}.")
    driver.wait(QueueChanged)
    driver.client.decide(request.request_id, Decision(allow=False))
    heard = driver.wait(SteerApplied).text
    driver.wait(TurnEnded)
    (notice,) = told(driver)
    assert notice.agent == request.agent
    kept = prompts == "true"
    assert notice.text.startswith(KEPT if kept else f"A key in your prompt {SENT}")
    assert heard == ("Use [REDACTED:api-key]." if kept else "Use [REDACTED].")


@pytest.mark.parametrize("hooks", [(), STRICT])
def test_a_resumed_session_says_it_below_the_prompt(
    hooks: Any, project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    first.open(project.bundle(hooks=hooks))
    first.turn(f"use {KEY} please")
    first.close()
    second = drive()
    second.open(resume="last")
    (notice,) = told(second)
    assert notice.text == told(first)[0].text and notice.replayed
    replayed = [each for each in second.events if each.replayed]
    (prompt,) = [each for each in replayed if isinstance(each, TurnStarted)]
    assert replayed.index(notice) == replayed.index(prompt) + 1
