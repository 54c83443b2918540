"""A module that calls `sys.exit()` ends neither the session nor the program, and nobody waits."""

import os
from pathlib import Path

import pytest

from amplifier_tui.host.client import Decision, OpenRequest
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    ModuleFailed,
    Notice,
    ToolEnded,
    TurnEnded,
)
from tests.host.driving import MODULES, Driver, Project, calling

CONTEXT = """\
import sys


class Exits:
    def __init__(self, at):
        self.rows, self.at, self.over = [], at, False

    def reach(self, method):
        self.over = self.over or method == self.at
        if self.over:
            sys.exit(3)

    async def add_message(self, message):
        self.reach("add_message")
        self.rows.append(message)

    async def get_messages(self):
        self.reach("get_messages")
        return list(self.rows)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        self.reach("get_messages_for_request")
        return list(self.rows)

    async def set_messages(self, messages):
        self.rows = list(messages)

    async def clear(self):
        self.rows = []


async def mount(coordinator, config):
    await coordinator.mount("context", Exits(config["at"]))
"""
PROVIDER = """\
import sys

from amplifier_tui.kernel.message_models import ChatResponse, TextBlock
from amplifier_tui.kernel.models import ProviderInfo


class Exits:
    name = "exits"

    def get_info(self):
        return ProviderInfo(id="exits", display_name="Exits")

    async def list_models(self):
        sys.exit(3)

    async def complete(self, request, **kwargs):
        return ChatResponse(content=[TextBlock(text="Hello.")])

    def parse_tool_calls(self, response):
        return []


async def mount(coordinator, config):
    await coordinator.mount("providers", Exits())
"""
TOOL = """\
import sys

__amplifier_module_type__ = "tool"


async def mount(coordinator, config):
    return lambda: sys.exit(3)
"""
HOOK = """\
import sys

from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config):
    async def handle(event, data):
        sys.exit(3)

    coordinator.hooks.register(config["at"], handle, name="exits")
"""
SAID = "the module tried to end the program (exit 3)"


@pytest.fixture(autouse=True)
def _modules(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = {"context": CONTEXT, "provider": PROVIDER, "tool": TOOL, "hooks": HOOK}
    for name, code in codes.items():
        package = tmp_path / f"amplifier-module-{name}-exits" / f"amplifier_module_{name}_exits"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(code)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}{os.pathsep}{tmp_path}")


@pytest.mark.parametrize("method", ["add_message", "get_messages"])
def test_an_opening_in_which_a_module_exits_fails_and_gives_back_what_was_sent(
    project: Project, driver: Driver, method: str
) -> None:
    bundle = project.bundle(context="context-exits", context_config={"at": method})
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    driver.client.submit("go")
    failed = driver.wait(Failed)
    assert (failed.message, failed.prompt) == (f"context-exits failed: RuntimeError: {SAID}", "go")
    assert "context_exits/__init__.py:11" in failed.remedy
    assert not driver.of(Notice)


def test_a_turn_in_which_a_module_exits_fails_and_so_does_the_next_one(
    project: Project, driver: Driver
) -> None:
    config = {"at": "get_messages_for_request"}
    driver.open(project.bundle(context="context-exits", context_config=config))
    for _ in range(2):
        assert driver.turn("go").status == "error"
    assert {each.message for each in driver.of(Failed)} == {
        f"context-exits failed: RuntimeError: {SAID}"
    }
    assert not driver.of(Notice)


def test_the_models_of_a_provider_that_exits_are_told_as_of_one_that_can_not_list_them(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(providers=[{"module": "provider-exits"}]))
    (card,) = driver.client.models().result(10)
    assert (card.provider, card.problem) == ("exits", SAID)
    assert driver.turn("go").status == "success"


def test_the_change_of_a_module_that_exits_is_told_as_one_that_failed(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(tools=("tool-exits",)))
    driver.client.unmount("tool-exits")
    notice = driver.wait(Notice, lambda event: "tool-exits" in event.text)
    assert notice.level == "error" and "tried to end the program" in notice.text
    assert driver.turn("go").status == "success"


def test_a_session_with_a_module_that_exits_as_it_cleans_up_is_closed(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(tools=("tool-exits",)))
    driver.close()
    assert [each.module for each in driver.of(Notice)] == ["tool-exits"]


@pytest.mark.parametrize("event", ["tool:pre", "tool:post", "prompt:submit"])
def test_a_handler_that_exits_is_one_that_failed_and_stops_no_call(
    project: Project, driver: Driver, event: str
) -> None:
    hooks = (("hooks-exits", {"at": event}),)
    bundle = project.bundle(hooks=hooks, script=calling({"echo": {"text": "done"}}))
    driver.open(bundle)
    driver.client.submit("go")
    if event == "tool:pre":
        failed = driver.wait(ModuleFailed, lambda event: event.module_id == "hooks-exits")
        said = failed.error
        driver.client.decide(driver.wait(ApprovalRequested).request_id, Decision(allow=True))
    else:
        notice = driver.wait(Notice, lambda event: "hooks-exits" in event.source)
        said = notice.text
        assert notice.level == "warning"
    assert SAID in said and "hooks_exits/__init__.py:10" in said
    assert driver.wait(TurnEnded).status == "success"
    (ended,) = driver.of(ToolEnded)
    assert (ended.interrupted, ended.ok) == (False, True), ended.error
    assert not any("background task" in each.text for each in driver.of(Notice))
