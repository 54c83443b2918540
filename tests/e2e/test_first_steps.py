"""`init`, `doctor` and completion in a real terminal of 80x24, from a fresh home on."""

import re
import stat
import sys
from pathlib import Path

import yaml

from tests.e2e.machine import Machine
from tests.e2e.terminal import Terminal
from tests.servers import LoopbackServer

KEY = "sk-proj-0123456789abcdefghij"


def answer(terminal: Terminal, question: str, line: str) -> None:
    """Wait until a step has its list on the screen and waits for a number, and answer it."""
    terminal.wait_for(re.compile(rf"^{question}\n(?: .*\n)+Number \[.*\]:\s*\Z", re.MULTILINE))
    terminal.type(f"{line}\n")


def too_long(terminal: Terminal) -> list[str]:
    """Return the lines that the terminal had to wrap, but for those with paths."""
    plain = re.sub(
        r"\x1b(?:[P\]][^\x07]*\x07(?:\x1b\\)?|\[[\d;?]*[a-zA-Z])", "", terminal.raw.decode()
    )
    return [line for line in plain.split("\r\n") if len(line) > 80 and "/" not in line]


def program_on_path(machine: Machine) -> dict[str, str]:
    """Return an environment in which a shell finds the program."""
    script = machine.home / "bin" / "amplifier-tui"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m amplifier_tui "$@"\n')
    script.chmod(0o755)
    return {**machine.env, "PATH": f"{script.parent}:{machine.env['PATH']}"}


def test_without_a_key_the_first_steps_end_in_the_demo(machine: Machine) -> None:
    terminal = machine.start("init")
    answer(terminal, "Who answers", "none")
    answer(terminal, "What new sessions open with", "")
    answer(terminal, "What goes without a question", "plan")
    answer(terminal, "Colours", "")
    assert terminal.wait_end() == 0
    assert terminal.shows("Theme auto")
    assert terminal.shows("-m amplifier_tui --demo")
    assert not too_long(terminal)
    terminal.assert_restored()
    settings = yaml.safe_load((machine.home / ".amplifier/settings.yaml").read_text())
    assert settings["mode"] == "plan"
    assert not (machine.home / ".amplifier/keys.env").exists()


def test_a_key_is_tried_kept_and_found_by_the_doctor_inside_tmux(machine: Machine) -> None:
    with LoopbackServer(["ready", "ready"], strict=False) as server:
        env = {"OPENAI_BASE_URL": server.openai_url}
        terminal = machine.start("init", env=env)
        answer(terminal, "Who answers", "openai")
        terminal.wait_for("OPENAI_API_KEY (not shown")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("It answers.")
        answer(terminal, "What new sessions open with", "minimal")
        answer(terminal, "What goes without a question", "")
        answer(terminal, "Colours", "paper")
        assert terminal.wait_end() == 0
        assert len(server.requests) == 1
        assert KEY.encode() not in terminal.raw and not too_long(terminal)
        kept = machine.home / ".amplifier/keys.env"
        assert KEY in kept.read_text() and stat.S_IMODE(kept.stat().st_mode) == 0o600

        tmux = machine.home / "tmux" / "tmux"
        tmux.parent.mkdir()
        tmux.write_text(
            '#!/bin/sh\ncase "$*" in\n-V) echo tmux 3.4;;\n*extended-keys) echo off;;\nesac\n'
        )
        tmux.chmod(0o755)
        inside = {"TMUX": "/nowhere/at/all,1,0", "PATH": f"{tmux.parent}:{machine.env['PATH']}"}
        terminal = machine.start("doctor", env=env | inside)
        # What tmux of old does not answer itself comes through it.
        terminal.answers[b"\x1b]11;?\x07"] = b"\x1b]11;rgb:ffff/ffff/ffff\x07"
        terminal.wait_for(re.compile(r"\d+ to mend, \d+ to know|\d+ to know|Nothing to mend"))
        assert terminal.wait_end() == 0
    shown = terminal.raw.decode()
    assert "OPENAI_API_KEY" in shown and "set in keys.env" in shown
    assert "light: the theme is chosen by it" in shown
    assert "tmux 3.4" in shown and "set -s extended-keys on" in shown
    assert KEY not in shown and not too_long(terminal)
    terminal.assert_restored()


def test_a_shell_completes_at_the_tab_key(machine: Machine) -> None:
    env = program_on_path(machine) | {"PS1": "ready> "}
    shell = Path("/bin/bash")
    with Terminal(
        [str(shell), "--norc", "--noprofile", "-i"], env=env, cwd=machine.project
    ) as terminal:
        terminal.wait_for("ready>")
        terminal.type('eval "$(amplifier-tui completion bash)"; echo loaded-$?\n')
        terminal.wait_for(re.compile(r"^loaded-0\nready>", re.MULTILINE))
        terminal.type("amplifier-tui doc\t")
        terminal.wait_for(re.compile(r"^ready> amplifier-tui doctor$", re.MULTILINE))
        terminal.type("--js\t")
        terminal.wait_for("amplifier-tui doctor --json")
