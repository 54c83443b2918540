"""Modules that go past Python: to the terminal's descriptors, and out of the program."""

from amplifier_tui.ui.terminal.guard import RESET
from tests.e2e.acting import ask, ready
from tests.e2e.machine import Machine
from tests.e2e.pty_process import MODES_AT_REST

MODULE = """
import os

from amplifier_core.models import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    async def misbehave(event, data):
        if "shout" in data["prompt"]:
            os.write(1, b"SHOUTED on 1\\n")
            os.system("echo SHOUTED on 2 >&2")
        if "listen" in data["prompt"]:
            heard = os.popen("head -c 1").read()
            try:
                heard += input("your name? ")
            except EOFError:
                heard += "the end"
            os.write(1, f"HEARD {heard}\\n".encode())
        if "leave" in data["prompt"]:
            os._exit(3)
        return HookResult(action="continue")

    return coordinator.hooks.register("prompt:submit", misbehave, name="rude")
"""
BUNDLE = """---
bundle:
  name: rude
  version: 1.0.0
  description: Its hook misbehaves.
session:
  orchestrator: {module: loop-streaming}
  context: {module: context-simple}
providers:
  - module: provider-mock
hooks:
  - module: hooks-rude
    source: ../modules/rude
---

You are there.
"""
PROJECT = """[project]
name = "amplifier-module-hooks-rude"
version = "1.0.0"
[project.entry-points."amplifier.modules"]
hooks-rude = "amplifier_module_hooks_rude:mount"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""


def rude(machine: Machine) -> None:
    machine.bundle("rude", BUNDLE)
    machine.file(".amplifier/modules/rude/pyproject.toml", PROJECT)
    machine.file(".amplifier/modules/rude/amplifier_module_hooks_rude/__init__.py", MODULE)


def test_what_a_module_writes_to_the_terminal_is_a_notice(machine: Machine) -> None:
    rude(machine)
    terminal = machine.start("--bundle", "rude")
    ready(terminal, "rude")
    ask(terminal, "shout")
    terminal.wait_for("SHOUTED on")
    raw = bytes(terminal.raw)
    # As a notice it is drawn in its place; written to the terminal it would end its line.
    assert b"SHOUTED on 1\r\n" not in raw
    assert b"SHOUTED on 2\r\n" not in raw


def test_a_module_that_reads_the_terminal_finds_its_end(machine: Machine) -> None:
    rude(machine)
    terminal = machine.start("--bundle", "rude")
    ready(terminal, "rude")
    ask(terminal, "listen")
    terminal.wait_for("HEARD the end")


def test_every_mode_of_the_terminal_is_put_back_where_a_frame_is_cut_off() -> None:
    for number, (wanted, what) in MODES_AT_REST.items():
        assert f"\x1b[?{number}{'h' if wanted else 'l'}" in RESET or number == 1002, what


def test_a_module_that_ends_the_program_leaves_a_terminal_one_can_use(machine: Machine) -> None:
    rude(machine)
    terminal = machine.start("--bundle", "rude")
    ready(terminal, "rude")
    ask(terminal, "leave")
    assert terminal.wait_end() == 3
    assert terminal.left_behind() == []
