# The modules of a session are changed while it runs.

import gc
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.trust.items import TrustDecision
from amplifier_tui.host.cards import ModuleSetting
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    ModuleChangeWaits,
    ModuleFailed,
    ModuleMounted,
    ModuleUnmounted,
    Notice,
    SessionClosed,
    ToolEnded,
    ToolStarted,
    TrustAnswered,
    TrustAsked,
    TurnEnded,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.modules.facts import Planned, put_into_plan, read_plan
from amplifier_tui.host.session.modules.settings import settings_refusal
from tests.host.dice import KEY, SOURCE, Dice
from tests.host.driving import TOOLS, Driver, Project, calling

ROLL: dict[str, object] = {"roll": {}}


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("amplifier_module_tool_dice", None)


@pytest.fixture
def dice(tmp_path: Path) -> Dice:
    return Dice(tmp_path)


def bundle(project: Project, *calls: dict[str, object]) -> str:
    name = project.bundle(
        script=calling(*(calls or (ROLL,))), hooks=(("hooks-status-context", {}),)
    )
    project.allow((*TOOLS, "roll"))
    return name


def rolled(driver: Driver) -> str:
    driver.client.submit("Roll")
    face = driver.wait(ToolEnded, lambda event: event.tool == "roll").output
    driver.wait(TurnEnded)
    return face


def said(driver: Driver) -> str:
    return driver.wait(Notice, lambda notice: notice.source == "modules").text


def test_an_edited_module_is_reloaded_and_the_next_call_runs_it(
    project: Project, driver: Driver, dice: Dice
) -> None:
    driver.open(bundle(project))
    driver.client.mount(str(dice.folder))
    mounted = driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    assert (mounted.kind, mounted.provides, mounted.owner) == ("tool", ("roll",), "user")
    assert rolled(driver) == "one"
    dice.write("two")
    driver.client.reload(KEY)
    assert driver.wait(ModuleMounted).again
    assert "the next call runs the new code" in said(driver)
    assert rolled(driver) == "two"

    dice.file.write_text("FACE = (\n")
    driver.client.reload(KEY)
    failed = driver.wait(ModuleFailed)
    assert failed.kept and f"{dice.file}:1" in failed.error
    told = said(driver)
    assert told.startswith(f"{KEY} can't be reloaded: SyntaxError")
    assert "what was there goes on" in told and told.endswith("The modules pane says more.")
    assert rolled(driver) == "two"

    dice.file.write_text(SOURCE.format(face="two") + "\nraise OSError('Address already in use')\n")
    driver.client.reload(KEY)
    driver.wait(ModuleFailed)
    assert "Where it holds a port or a lock, unmount it first" in said(driver)

    dice.file.write_text(SOURCE.format(face="three") + "\nraise RuntimeError('no luck')\n")
    driver.client.reload(KEY)
    failed = driver.wait(ModuleFailed)
    line = len(dice.file.read_text().splitlines())
    assert failed.kept and "no luck" in failed.error and f"{dice.file}:{line}" in failed.error

    described = driver.client.module_details(KEY).result(5)
    assert [(tool.name, "sides" in tool.schema) for tool in described.tools] == [("roll", True)]
    assert described.folder == str(dice.file.parent)

    driver.client.unmount(KEY)
    assert driver.wait(ModuleUnmounted).module_id == KEY
    driver.turn("Roll")
    assert "There is no tool named 'roll'" in driver.of(ToolEnded)[-1].output
    dice.write("four")
    driver.client.mount(KEY)
    driver.wait(ModuleMounted)
    assert rolled(driver) == "four"


def test_a_tool_that_took_anothers_name_is_told_of_after_a_reload_too_and_gives_it_back(
    project: Project, driver: Driver, dice: Dice
) -> None:
    dice.file.write_text(SOURCE.format(face="a clash").replace('"roll"', '"echo"'))
    driver.open(bundle(project, {"echo": {"text": "hi"}}))
    driver.client.mount(str(dice.folder))
    clash = "'echo' takes the place of the tool of tool-test with that name"
    for change in (driver.client.reload, driver.client.reload, driver.client.unmount):
        (problem,) = driver.wait(ModuleMounted, lambda event: event.module_id == KEY).problems
        assert problem.startswith(clash)
        change(KEY)
    driver.wait(ModuleUnmounted)
    driver.turn("Say it")
    assert driver.of(ToolEnded)[-1].output == "hi"
    driver.client.unmount("tool-test")
    driver.wait(ModuleUnmounted)
    driver.turn("Say it")
    assert "There is no tool named 'echo'" in driver.of(ToolEnded)[-1].output


def test_a_reload_during_a_turn_waits_for_its_next_step(
    project: Project, driver: Driver, dice: Dice
) -> None:
    script = calling(ROLL)
    wait = {"wait": {"started": str(dice.folder / "begun"), "until": str(project.folder / "go")}}
    script["steps"] = {
        "first": {"call": [wait]},
        "second": {"call": [ROLL]},
        "last": {"say": "Done."},
    }
    name = project.bundle(script=script)
    project.allow((*TOOLS, "roll"))
    driver.open(name)
    driver.client.mount(str(dice.folder))
    driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    said(driver)
    driver.client.submit("Roll")
    driver.wait(ToolStarted, lambda event: event.tool == "wait")
    dice.write("two")
    driver.client.reload(KEY)
    assert said(driver) == f"{KEY} is reloaded at the next step of this turn"
    (project.folder / "go").touch()
    assert driver.wait(ModuleMounted).again
    assert driver.wait(ToolEnded, lambda event: event.tool == "roll").output == "two"


def test_a_module_that_is_switched_off_stays_off_when_the_session_is_resumed(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    opened = first.open(bundle(project, {"echo": {"text": "hi"}}))
    first.client.switch_module("hooks-status-context", on=False)
    assert first.wait(ModuleUnmounted).disabled
    first.turn("Hello")
    first.client.close().result(5)
    again = drive()
    again.open(resume=opened.session_id)
    gone = [event for event in again.of(ModuleUnmounted) if event.disabled]
    assert [event.module_id for event in gone] == ["hooks-status-context"]
    assert "hooks-status-context" not in [event.module_id for event in again.of(ModuleMounted)]
    again.client.switch_module("hooks-status-context", on=True)
    assert again.wait(ModuleMounted).module_id == "hooks-status-context"
    assert again.client.module_details("hooks-status-context").result(5).settings


def test_settings_are_checked_before_they_hold_and_the_guards_own_are_not_changed(
    project: Project, driver: Driver
) -> None:
    name = project.bundle(tools=("tool-todo", "tool-bash"), hooks=(("hooks-todo-reminder", {}),))
    opened = driver.open(name)
    key = "hooks-todo-reminder"
    settings = {each.name: each for each in driver.client.module_details(key).result(5).settings}
    assert settings["priority"].owner == "program" and settings["priority"].editable
    wrong = driver.client.setting_problem(key, "priority", "soon").result(5)
    assert "`priority` of hooks-todo-reminder must be" in wrong
    assert driver.client.setting_problem(key, "priority", "5").result(5) == ""
    driver.client.configure(key, "priority", "soon")
    assert "`priority` of hooks-todo-reminder must be" in said(driver)
    driver.client.configure(key, "prioritie", "5")
    assert "did you mean `priority`" in said(driver)
    driver.client.configure(key, "priority", "5")
    assert driver.wait(ModuleMounted).again
    assert said(driver) == "priority of hooks-todo-reminder holds for this session"
    settings = {each.name: each for each in driver.client.module_details(key).result(5).settings}
    held = settings["priority"]
    assert (held.value, held.owner, held.where) == ("5", "user", "set in this session")
    driver.client.configure("tool-bash", "timeout", "9")
    assert "guards you" in said(driver)
    bash = driver.client.module_details("tool-bash").result(5).settings
    assert not any(setting.editable for setting in bash)
    assert opened.session_id


@pytest.mark.parametrize(
    ("held", "text"),
    [(["write_file"], '["write_file", "bash"'), (["write_file"], "bash"), ({}, "{"), ("a", "[")],
)
def test_of_a_module_whose_settings_nobody_knows_a_list_is_not_made_a_text(held: Any, text: str):
    planned = Planned("hooks-own", "hook", spec={"config": {"deny": held}})
    said = settings_refusal(planned, "deny", {"deny": text}, Redactor())
    assert said.startswith("deny is as it was: ") and text in said
    assert settings_refusal(planned, "deny", {"deny": ["bash"]}, Redactor()) == ""
    assert settings_refusal(planned, "name", {"deny": held, "name": "me"}, Redactor()) == ""


def test_a_value_that_was_shown_without_its_secret_is_not_taken_for_the_value(
    project: Project, driver: Driver
) -> None:
    key, secret = "hooks-status-context", "wonderful-secret-9"
    driver.open(project.bundle(hooks=((key, {"servers": {"a": {"token": secret}}}),)))

    def held() -> ModuleSetting:
        found = driver.client.module_details(key).result(5).settings
        return next(setting for setting in found if setting.name == "servers")

    shown = held()
    assert shown.redacted and secret not in shown.value
    driver.client.configure(key, "servers", shown.value.replace('"a"', '"b"'))
    assert "holds a secret, which is shown as [REDACTED]" in said(driver)
    assert held() == shown


def test_a_change_that_waits_is_told_made_once_and_taken_back_by_its_opposite(
    project: Project, driver: Driver
) -> None:
    begun, go = project.folder / "begun", project.folder / "go"
    name = project.bundle(
        script=calling({"wait": {"started": str(begun), "until": str(go)}}),
        tools=("tool-test", "tool-todo"),
        hooks=(("hooks-todo-reminder", {}),),
    )
    project.allow(TOOLS)
    driver.open(name)
    driver.client.submit("Hello")
    driver.wait(ToolStarted, lambda event: event.tool == "wait")
    for _ in range(2):
        driver.client.switch_module("hooks-todo-reminder", on=False)
        assert said(driver) == "hooks-todo-reminder is switched off at the next step of this turn"
        driver.client.unmount("tool-todo")
        assert said(driver) == "tool-todo is taken out at the next step of this turn"
    told = driver.of(ModuleChangeWaits)
    assert [(e.module_id, e.change, e.at_rest) for e in told] == [
        ("hooks-todo-reminder", "switched off", False),
        ("tool-todo", "taken out", False),
    ]
    driver.client.switch_module("hooks-todo-reminder", on=True)
    assert said(driver) == "hooks-todo-reminder stays switched on"
    go.touch()
    driver.wait(TurnEnded)
    assert [event.module_id for event in driver.of(ModuleUnmounted)] == ["tool-todo"]
    told = driver.of(ModuleChangeWaits)[2:]
    assert [(e.module_id, e.change) for e in told] == [
        ("hooks-todo-reminder", ""),
        ("tool-todo", ""),
    ]


def test_changes_that_wait_for_the_same_module_all_hold(project: Project, driver: Driver) -> None:
    begun, go = project.folder / "begun", project.folder / "go"
    name = project.bundle(
        script=calling({"wait": {"started": str(begun), "until": str(go)}}),
        tools=("tool-test", "tool-todo"),
        hooks=(("hooks-todo-reminder", {}),),
    )
    project.allow(TOOLS)
    driver.open(name)
    key = "hooks-todo-reminder"
    driver.client.submit("Hello")
    driver.wait(ToolStarted, lambda event: event.tool == "wait")
    driver.client.configure(key, "priority", "5")
    driver.client.configure(key, "max_items", "7")
    driver.client.reload(key)
    assert said(driver).endswith("at the next step of this turn")
    driver.client.switch_module("provider-mock", on=False)
    # What can be told now does not wait for the turn.
    driver.wait(Notice, lambda notice: "the only provider" in notice.text)
    go.touch()
    driver.wait(TurnEnded)
    told = [notice.text for notice in driver.of(Notice) if notice.source == "modules"]
    assert not [text for text in told if "can't be" in text]
    settings = {each.name: each for each in driver.client.module_details(key).result(5).settings}
    assert settings["priority"].value == "5"
    assert settings["max_items"].value == "7"


def test_what_a_session_cannot_be_without_stays(project: Project, driver: Driver) -> None:
    driver.open(bundle(project))
    driver.client.unmount("provider-mock")
    assert "the only provider" in said(driver)
    driver.client.switch_module("context-simple", on=False)
    assert "cannot be without its context" in said(driver)
    driver.client.reload("context-simple")
    assert "holds the conversation" in said(driver)
    driver.client.reload("loop-streaming")
    assert driver.wait(ModuleMounted).again
    assert "its code is the same" in said(driver)
    driver.client.mount("tool-nonsense")
    failed = driver.wait(ModuleFailed)
    assert "not found" in failed.error
    assert said(driver).startswith(
        "tool-nonsense can't be mounted: Module 'tool-nonsense' not found"
    )
    driver.client.unmount("tool-nonsense")
    assert said(driver) == (
        "tool-nonsense is taken out, and was not mounted; `/mount tool-nonsense` tries it anew"
    )
    driver.client.mount("no/where")
    assert "There is no folder no/where" in driver.wait(Notice, lambda n: "no/where" in n.text).text
    nobodys = "~nobody-of-that-name/x"
    driver.client.mount(nobodys)
    assert "There is no folder" in driver.wait(Notice, lambda n: nobodys in n.text).text
    assert driver.turn("Hello").status == "success"


def test_a_notice_says_why_a_module_is_not_mounted_and_where_more_is(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    driver.open(bundle(project))
    folder = tmp_path / "amplifier-module-hooks-onearg"
    package = folder / "amplifier_module_hooks_onearg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "async def one(event):\n    return None\n\n\n"
        "async def mount(coordinator, config):\n"
        "    coordinator.hooks.register('tool:pre', one)\n"
    )
    driver.client.mount(str(folder))
    assert said(driver) == (
        "hooks-onearg can't be mounted: Handler 'one' of 'tool:pre' should accept (event, data), "
        "found 1. The modules pane says more."
    )


def test_changed_code_of_the_project_is_asked_about_before_it_runs(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    driver.open("demo")
    dice = Dice(project.folder)
    driver.client.mount(str(dice.folder))
    assert [item.group for item in driver.answer_trust(use=True).items] == ["code"]
    driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    driver.client.reload(KEY)
    assert driver.wait(ModuleMounted).again
    assert len(driver.of(TrustAsked)) == 1

    mark = project.folder / "ran"
    dice.file.write_text(SOURCE.format(face="two") + f"\nopen({str(mark)!r}, 'w')\n")
    driver.client.reload(KEY)
    assert "used: " in driver.answer_trust(use=False).items[0].was
    failed = driver.wait(ModuleFailed)
    assert failed.kept and "refuse" in failed.error
    assert not mark.exists()
    driver.client.reload(KEY)
    driver.answer_trust(use=True)
    assert driver.wait(ModuleMounted).again
    assert mark.exists()


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_question_of_trust_that_was_left_is_not_called_a_refusal(
    project: Project, drive: Callable[..., Driver], cancelled: bool
) -> None:
    driver = drive(LocalClient())
    driver.open("demo")
    driver.client.mount(str(Dice(project.folder).folder))
    asked = driver.wait(TrustAsked)
    driver.client.answer_trust(asked.request_id, TrustDecision(cancelled=cancelled))
    why = driver.wait(ModuleFailed).error
    assert why.startswith("You left the question" if cancelled else "You refused its code")
    assert "as it is now." in why


def test_while_a_question_of_trust_waits_no_module_is_changed_then_or_later(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    driver.open("demo")
    driver.client.mount(str(Dice(project.folder).folder))
    asked = driver.wait(TrustAsked)
    for change in (driver.client.unmount, driver.client.reload):
        change("tool-filesystem")
        assert "a question waits for your answer first" in said(driver)
    driver.client.answer_trust(asked.request_id, TrustDecision())
    driver.wait(ModuleFailed)
    driver.client.switch_module("tool-filesystem", on=False)
    driver.wait(ModuleUnmounted)
    assert [event.disabled for event in driver.of(ModuleUnmounted)] == [True]
    assert not [event for event in driver.of(ModuleMounted) if event.again]


def test_a_new_session_runs_the_code_that_is_on_disk_now_and_the_old_one_goes_on(
    project: Project, driver: Driver, drive: Callable[..., Driver], dice: Dice
) -> None:
    name = project.bundle(tools=("tool-dice",), script=calling(ROLL))
    path = project.bundles / f"{name}.md"
    source = f"- module: tool-dice\n  source: {dice.folder}\n"
    path.write_text(path.read_text().replace("- module: tool-dice\n", source))
    project.allow((*TOOLS, "roll"))
    driver.open(name)
    assert rolled(driver) == "one"
    dice.write("two")
    other = drive(driver.client.beside())
    other.open(name)
    assert rolled(other) == "two"
    assert rolled(driver) == "one"
    dice.file.write_text("FACE = (\n")
    third = drive(driver.client.beside())
    third.open(name)
    failed = next(each for each in third.of(ModuleFailed) if each.module_id == KEY)
    assert f"{dice.file}:1" in failed.error
    assert rolled(other) == "two"


def test_a_question_about_a_module_ends_with_its_session(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    driver.open("demo")
    driver.client.mount(str(Dice(project.folder).folder))
    asked = driver.wait(TrustAsked)
    opened = driver.open("demo")
    gone = driver.wait(TrustAnswered)
    assert (gone.request_id, gone.by) == (asked.request_id, "stop")
    assert gone.session_id == asked.session_id != opened.session_id
    assert driver.wait(SessionClosed).session_id == asked.session_id


def test_reloading_again_and_again_leaves_nothing_of_the_old_code(
    project: Project, driver: Driver, dice: Dice
) -> None:
    driver.open(bundle(project, {"roll": {"count": True}}))
    driver.client.mount(str(dice.folder))
    driver.wait(ModuleMounted, lambda event: event.module_id == KEY)
    gone = []
    for number in range(5):
        gone.append(weakref.ref(sys.modules["amplifier_module_tool_dice"].Dice))
        dice.write(f"number {number}")
        began = time.process_time()
        driver.client.reload(KEY)
        assert driver.wait(ModuleMounted).again
        assert time.process_time() - began < 1.0
    tool = driver.client.module_details(KEY).result(5).tools[0]
    assert "number 4" in tool.description
    assert rolled(driver).count(KEY) == 1
    gc.collect()
    assert [reference() for reference in gone] == [None] * 5


def test_the_plan_that_agents_inherit_follows_what_is_changed() -> None:
    plan: dict[str, Any] = {
        "session": {"orchestrator": {"module": "loop"}, "context": "memory"},
        "tools": ["one", {"module": "two"}],
        "hooks": [{"module": "same", "instance_id": "a"}, {"module": "same", "instance_id": "b"}],
    }
    loop, _, one, two, same, _ = read_plan(plan)
    given = {"config": {"limit": 3}}
    put_into_plan(plan, replace(loop, spec={**loop.spec, **given}))
    put_into_plan(plan, replace(one, spec={**one.spec, **given}))
    put_into_plan(plan, two, out=True)
    put_into_plan(plan, same, out=True)
    put_into_plan(plan, Planned("new", "provider", spec={"module": "new"}))
    assert plan["session"] == {"orchestrator": {"module": "loop", **given}, "context": "memory"}
    assert plan["tools"] == [{"module": "one", **given}]
    assert plan["hooks"] == [{"module": "same", "instance_id": "b"}]
    assert plan["providers"] == [{"module": "new"}]
