"""What is said of hook handlers that fail or take long, and of modules that fail."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.text import shortened
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.opener import SessionOpener
from amplifier_tui.host.events import (
    Failed,
    HandlerHolds,
    ModuleFailed,
    ModuleMounted,
    Notice,
    SessionOpened,
    ToolEnded,
    TurnEnded,
)
from amplifier_tui.host.turns.running import RunningTurn
from amplifier_tui.kernel.hooks import handler_run
from amplifier_tui.kernel.hooks.results import WANTED
from tests.host.driving import MODULES, Driver, Project, calling
from tests.host.session.test_agents import ask, coding, script

FAILS = {"action": "maybe"}
PLACE = r"\(/\S*hooks_answer/__init__\.py:\d+\)"


def said(driver: Driver) -> list[Notice]:
    return [event for event in driver.of(Notice) if event.source == "hook:hooks-answer"]


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request", "prompt:complete"])
def test_a_handler_that_fails_is_told_of_once_with_its_place_and_what_to_do(
    project: Project, driver: Driver, event: str
) -> None:
    driver.open(project.bundle(hooks=(("hooks-answer", {event: [FAILS]}),)))
    assert driver.turn("go").status == "success"
    assert driver.turn("go on").status == "success"
    (notice,) = said(driver)
    assert notice.level == "warning"
    assert notice.text.startswith(f"The handler of {event} failed: ValidationError: ")
    assert re.search(PLACE + r"\. Correct it there and reload the module, or", notice.text)


def test_each_event_at_which_a_handler_fails_is_told_of(project: Project, driver: Driver) -> None:
    answers = {"prompt:submit": [FAILS, FAILS], "provider:request": [FAILS]}
    driver.open(project.bundle(hooks=(("hooks-answer", answers),)))
    driver.turn("go")
    assert [notice.text.split(" failed")[0] for notice in said(driver)] == [
        "The handler of prompt:submit",
        "The handler of provider:request",
    ]
    assert not driver.of(ModuleFailed)


def test_an_answer_that_can_not_be_read_is_told_of_with_what_is_wanted(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=(("hooks-answer", {"prompt:complete": [{"raw": 42}]}),)))
    driver.turn("go")
    driver.turn("go on")
    (notice,) = said(driver)
    assert "int is not a HookResult" in notice.text and re.search(PLACE, notice.text)
    assert WANTED in notice.text


def test_a_background_task_that_fails_is_told_of_once_and_fails_no_opening_and_no_turn(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=(("hooks-rude", {"strays": "lost"}),)))
    assert driver.turn("go").status == "success"
    driver.client.reload("hooks-rude")
    driver.wait(ModuleMounted, lambda event: event.again)
    assert driver.turn("go on").status == "success"
    for notice in (told := [each for each in driver.of(Notice) if each.module == "hooks-rude"]):
        assert (notice.level, notice.source) == ("warning", "hooks-rude")
        assert notice.text.startswith("A background task failed: ValueError: lost. Its code is ")
        assert re.search(r"hooks_rude/__init__\.py:\d+\. Correct it there", notice.text)
    assert len(told) == 2, "one as it opened, and one as it was mounted anew"
    assert not driver.of(Failed)


@pytest.mark.parametrize(("stray", "said"), [("late", "TimeoutError"), ("gone", "SystemExit: 3")])
def test_a_background_task_of_a_library_alone_is_told_of_once_and_fails_no_opening(
    project: Project, driver: Driver, stray: str, said: str
) -> None:
    hooks = (("hooks-rude", {"library_strays": [stray, stray]}),)
    driver.client.open(OpenRequest(cwd=project.folder, bundle=project.bundle(hooks=hooks)))
    driver.wait(SessionOpened)
    assert driver.turn("go").status == "success"
    (notice,) = driver.of(Notice)
    assert (notice.level, notice.module) == ("warning", "")
    assert notice.text.startswith(f"A background task failed: {said}. A library that a module ")
    assert not driver.of(Failed)


def test_a_task_of_our_own_that_fails_is_no_module_s_and_fails_no_opening(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = SessionOpener._finish_opening
    no_text: Any = None

    async def opening(*args: Any) -> None:
        asyncio.get_running_loop().call_soon(shortened, no_text, 1)
        await asyncio.sleep(0)
        await finish(*args)

    monkeypatch.setattr(SessionOpener, "_finish_opening", opening)
    driver.open(project.bundle())
    (notice,) = driver.of(Notice)
    assert (notice.level, notice.module) == ("error", "")
    assert notice.text.startswith("A background task failed: TypeError: ")
    assert notice.text.endswith("If it happens again, report it with the program's log.")
    assert not driver.of(Failed)


def test_a_turn_whose_end_fails_is_over_and_says_why(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("lost")

    driver.open(project.bundle())
    monkeypatch.setattr(RunningTurn, "outcome", fail)
    assert driver.turn("go").status == "error"
    (failed,) = driver.of(Failed)
    assert failed.message == "Could not end the turn: ValueError: lost"


def test_a_session_that_can_not_be_taken_up_gives_back_what_was_sent(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("lost")

    monkeypatch.setattr(SessionOpener, "_replace", fail)
    driver.client.open(OpenRequest(cwd=project.folder, bundle=project.bundle()))
    driver.client.submit("go")
    assert driver.wait(Failed).prompt == "go"


@pytest.mark.parametrize("method", ["add_message", "get_messages"])
def test_a_context_whose_code_fails_while_the_session_opens_is_named_with_its_line(
    project: Project, driver: Driver, method: str
) -> None:
    config = {"fails": method}
    bundle = project.bundle(context="context-slots", context_config=config)
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    failed = driver.wait(Failed)
    assert failed.message == f"context-slots failed: ValueError: {method} is broken"
    assert re.fullmatch(
        r"Its code is wrong at /.*context_slots/__init__\.py:\d+\. "
        r"Correct it there and open the bundle anew\.",
        failed.remedy,
    )
    (row,) = driver.of(ModuleFailed)
    assert (row.module_id, row.fatal) == ("context-slots", True)
    assert (row.error, row.remedy) == (failed.message, failed.remedy)


def test_a_hook_that_holds_a_call_up_is_named_until_it_is_stopped(
    project: Project, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_run, "HELD_AFTER", 0)
    hook = ("hooks-test", {"hang_at": "tool:pre", "hang_at_prompt": str(tmp_path / "hangs")})
    driver.open(project.bundle(script=calling({"echo": {"text": "x"}}), hooks=(hook,)))
    driver.client.submit("go")
    held = driver.wait(HandlerHolds)
    assert (held.event, held.module, held.tool) == ("tool:pre", "hooks-test", "echo")
    assert held.call_id and not held.over
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)
    assert [each.over for each in driver.of(HandlerHolds)] == [False, True]


def test_without_a_provider_because_it_failed_that_one_is_to_be_corrected(
    project: Project, driver: Driver
) -> None:
    broken = {"module": "hooks-test", "config": {"raise_in_mount": "bad day"}}
    driver.open(project.bundle(providers=[broken]))
    (row,) = driver.of(ModuleFailed)
    failed = driver.wait(Failed)
    assert failed.message.endswith(": hooks-test failed")
    assert failed.remedy == (row.remedy or "Correct hooks-test, or open the demo bundle.")


BROKEN = "{module: hooks-test, config: {raise_in_mount: bad day}}"
WRITES = {
    "write": {"call": [{"write_file": {"file_path": "new.txt", "content": "written"}}]},
    "tell": {"say": "Written."},
}


def an_agent(project: Project, modules: str) -> str:
    """Make a bundle with an agent `clerk` that has modules of its own and writes a file."""
    agents = project.bundles / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "clerk.md").write_text(
        "---\nmeta: {name: clerk, description: Writes}\ninherit_tools: [tool-filesystem]\n"
        f"{modules}---\nYou write.\n"
    )
    project.allow(["write(**)"])
    return coding(
        project, script([ask("clerk"), ask("clerk")], WRITES), "agents: {include: [clerk]}\n"
    )


def test_an_agent_whose_own_hook_does_not_mount_does_not_start_and_that_is_said(
    project: Project, driver: Driver
) -> None:
    driver.open(an_agent(project, f"hooks: [{BROKEN}]\n"))
    driver.turn("go")
    assert not (project.folder / "new.txt").exists()
    ended = [each for each in driver.of(ToolEnded) if each.tool == "task"]
    assert [each.ok for each in ended] == [False, False]
    why = (
        r"hooks-test can't be mounted, .*RuntimeError: bad day \(/\S*hooks_test/__init__\.py:\d+\)"
    )
    assert re.search(why, ended[0].output)
    (notice,) = [each for each in driver.of(Notice) if each.source == "hooks-test"]
    assert notice.level == "error" and notice.agent != "main"
    assert re.fullmatch(
        r"hooks-test of the agent clerk failed: RuntimeError: bad day \(/\S*\.py:\d+\)", notice.text
    )


def test_an_agent_goes_on_without_a_hook_that_its_session_could_not_mount_either(
    project: Project, driver: Driver
) -> None:
    story = script([ask("explorer")], {"only": {"say": "Here."}})
    driver.open(coding(project, story, f"hooks: [{BROKEN}]\n"))
    driver.turn("go")
    (ended,) = [each for each in driver.of(ToolEnded) if each.tool == "task"]
    assert ended.ok
    assert not [each for each in driver.of(Notice) if each.source == "hooks-test"]


def test_an_agent_goes_on_without_a_tool_of_its_own_that_does_not_mount_and_that_is_said(
    project: Project, driver: Driver
) -> None:
    driver.open(an_agent(project, "tools: [tool-nowhere]\n"))
    driver.turn("go")
    assert (project.folder / "new.txt").read_text() == "written"
    (notice,) = [each for each in driver.of(Notice) if each.source == "tool-nowhere"]
    assert notice.text.startswith("tool-nowhere of the agent clerk failed: ")


CLEANS_UP = """\
__amplifier_module_type__ = "tool"


async def mount(coordinator, config=None):
    def close():
        raise OSError("disk gone")

    return close
"""


@pytest.mark.parametrize("way", ["close", "unmount", "reload"])
def test_a_module_that_fails_to_clean_up_is_told_of_with_its_line(
    project: Project, driver: Driver, tmp_path: Path, way: str
) -> None:
    file = tmp_path / "tool-untidy" / f"amplifier_module_tool_untidy_{way}" / "__init__.py"
    file.parent.mkdir(parents=True)
    file.write_text(CLEANS_UP)
    driver.open(project.bundle())
    driver.client.mount(str(file.parent))
    mounted = driver.wait(ModuleMounted, lambda event: "untidy" in event.module_id)
    if way == "close":
        driver.client.close()
    else:
        getattr(driver.client, way)(mounted.module_id)
    notice = driver.wait(Notice, lambda event: "clean up" in event.text)
    key = mounted.module_id
    said = f"{key} did not clean up: OSError: disk gone ({file}:6)"
    assert (notice.level, notice.text, notice.source) == ("warning", said, key)


def test_a_module_that_needs_what_no_module_offers_says_what_to_do(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "more/amplifier-module-hooks-needy/amplifier_module_hooks_needy"
    package.mkdir(parents=True)
    ask = 'coordinator.get_capability("context.pipeline").add(None)'
    (package / "__init__.py").write_text(f"async def mount(coordinator, config):\n    {ask}\n")
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}{os.pathsep}{tmp_path / 'more'}")
    driver.open(project.bundle(hooks=(("hooks-needy", {}),), context="context-simple"))
    (failed,) = driver.of(ModuleFailed)
    assert "NoneType" in failed.error and f"{package}/__init__.py:2" in failed.error
    assert 'get_capability("context.pipeline")' in failed.remedy
    assert "context-pipeline" in failed.remedy
