"""The bundle of thirty sources in the program itself, from its question to its resumption."""

import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.acting import ask, decide, quit_program, ready
from tests.e2e.machine import Machine
from tests.e2e.test_trust import KEYS, QUESTION, answer
from tests.ecosystem.world import NUMBERED
from tests.foundation.helpers import write

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

READY = NUMBERED + 13
REPORT = re.compile(rf"{READY} ready · 2 without: amplifier-bundle-gone")
TURN = (
    "Tell me about shapes",
    re.compile(r"✓ word +text=now"),
    re.compile(r"✓ shape +text=round"),
    re.compile(r"✓ task +stem:scout Look closely"),
    re.compile(r"└ .*scout\s(?:(?!word: hello)[\s\S])*✓ lens +text=close"),
    "Seen through lens: close",
    "word: hello NOW | shape: round",
)
"""What the screen shows of the turn: two tools, the agent with its lane, tool and answer."""


def test_a_published_bundle_asks_once_reports_works_and_is_resumed_with_lanes_and_title(
    machine: Machine, installed: Path, installing: dict[str, str]
) -> None:
    home = machine.home / ".amplifier"
    shutil.copytree(installed / "bundles", home / "bundles")
    shutil.copytree(installed / "cache" / "installed", home / "cache" / "installed")
    machine.env |= installing
    write(machine.home / ".config/amplifier-tui/rules.yaml", "allow: [word, lens]\n")

    terminal = machine.start("--bundle", "grand", columns=100, rows=30)
    terminal.wait_for(QUESTION)
    terminal.wait_for(KEYS)
    answer(terminal, "u")
    terminal.wait_for(re.compile(rf"{QUESTION}|{READY} ready"), 60)
    assert not terminal.shows(QUESTION)
    ready(terminal, "grand")
    terminal.wait_for(REPORT)
    terminal.press("ctrl+x", "O")
    for sight in ("Missing, and why", "no repository is there", "grand · yours", r"grand\.md"):
        terminal.wait_for(re.compile(sight))
    terminal.press("escape")
    terminal.wait_gone("Missing, and why")

    ask(terminal, "Tell me about shapes")
    decide(terminal, "May it be shaped?", "a")
    for sight in (*TURN, "the words were counted"):
        terminal.wait_for(sight)
    terminal.wait_until(lambda: "Shapes and words" in terminal.title, "the hook's title")
    quit_program(terminal)

    terminal = machine.start("--resume", columns=100, rows=30)
    terminal.wait_for(re.compile(rf"{QUESTION}|Resumed · grand"), 60)
    for sight in (*TURN, "Resumed · grand", REPORT):
        terminal.wait_for(sight)
    terminal.wait_until(lambda: "Shapes and words" in terminal.title, "the hook's title")
    quit_program(terminal)
