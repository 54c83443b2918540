# What is said without a screen of modules that hold an opening or the engine up.

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.cli import waiting_modules
from amplifier_tui.cli.plain.telling import EventTeller
from amplifier_tui.cli.run.headless import Headless, Limits
from amplifier_tui.cli.waiting_modules import WaitingModules
from amplifier_tui.host import events
from amplifier_tui.host.client import OpenRequest
from tests.cli.test_run import OPENED, STARTED, Client, S, Speaker, ended, follow

LOADING = events.ModuleLoading(session_id=S, module_id="tool-slow", kind="tool")
MOUNTED = events.ModuleMounted(session_id=S, module_id="tool-slow", kind="tool")
BLOCKED = events.EngineBlocked(session_id=S, module="tool-slow")
FAILED = events.Failed(session_id=S, kind="cancelled", message="stopped")
WAITS = "Opening waits for the module tool-slow"
ALONE = f"{WAITS}, which lets nothing else run"
BLOCKS = "tool-slow blocks the engine and can't be stopped"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(waiting_modules, "monotonic", lambda: now[0])
    return now


def test_a_module_that_takes_long_to_mount_is_named_once(clock: list[float]) -> None:
    waiting = WaitingModules()
    assert waiting.see(LOADING) == "" and waiting.seconds == 5
    clock[0] += 4
    assert waiting.late() == [] and waiting.seconds == 1
    clock[0] += 1
    assert waiting.late() == [WAITS]
    clock[0] += 60
    assert waiting.late() == [] and waiting.seconds == float("inf")


@pytest.mark.parametrize("over", [MOUNTED, OPENED, FAILED])
def test_what_is_mounted_in_time_or_opens_no_more_is_not_told_of(
    clock: list[float], over: events.HostEvent
) -> None:
    waiting = WaitingModules()
    waiting.see(LOADING)
    waiting.see(over)
    clock[0] += 60
    assert waiting.late() == [] and waiting.seconds == float("inf")


def test_a_module_of_the_open_session_is_none_that_an_opening_waits_for(
    clock: list[float],
) -> None:
    waiting = WaitingModules()
    waiting.see(OPENED)
    waiting.see(LOADING)
    waiting.see(replace(LOADING, session_id="another", module_id="tool-b"))
    clock[0] += 60
    assert waiting.late() == ["Opening waits for the module tool-b"]


def test_a_module_that_blocks_the_engine_is_named_and_not_again(clock: list[float]) -> None:
    waiting = WaitingModules()
    waiting.see(LOADING)
    assert waiting.see(replace(BLOCKED, module="")) == ALONE
    assert waiting.see(replace(BLOCKED, over=True)) == ""
    clock[0] += 60
    assert waiting.late() == []


def test_a_run_whose_opening_hangs_says_which_module_it_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_modules, "_SLOW", 0.0)
    client, speaker = Client(ended(), opened=LOADING), Speaker()
    run = Headless(client, OpenRequest(cwd=Path("/x")), "go", Limits(), speaker)
    said = speaker.say

    def say(text: str) -> None:
        said(text)
        # It is the first that is said, and the opening never ends.
        run.interrupt()

    monkeypatch.setattr(speaker, "say", say)
    assert run.run().exit_status == 130
    assert speaker.said == [WAITS, "Interrupted"]


def test_a_run_says_that_a_module_blocks_the_engine() -> None:
    speaker = Speaker()
    follow(Client(STARTED, BLOCKED, replace(BLOCKED, over=True), ended()), speaker)
    assert speaker.said == [BLOCKS]


def test_the_line_mode_says_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_modules, "_SLOW", 0.0)
    lines: list[str] = []
    teller = EventTeller(lines.append)
    teller.tell(LOADING)
    teller.say_what_takes_long()
    teller.tell(BLOCKED)
    assert lines == [f"{WAITS}.", f"{ALONE}."]
