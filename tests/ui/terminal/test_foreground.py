import signal
import subprocess

import pytest

from amplifier_tui.base.watcher import watcher
from amplifier_tui.ui.terminal.foreground import _passing_on, run_in_terminal


def test_an_interrupt_of_before_a_command_has_the_terminal_reaches_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = watcher().watch_group

    def pressed(group: int) -> None:
        watch(group)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(watcher(), "watch_group", pressed)
    assert run_in_terminal(["sleep", "60"]) == -signal.SIGINT


def test_a_signal_that_comes_when_the_program_has_just_ended_is_no_fault() -> None:
    process = subprocess.Popen(["true"], process_group=0)
    process.wait()
    with _passing_on(process.pid):
        signal.raise_signal(signal.SIGHUP)
