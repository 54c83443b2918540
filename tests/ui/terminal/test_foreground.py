import signal
import subprocess

from amplifier_tui.ui.terminal.foreground import _passing_on


def test_a_signal_that_comes_when_the_program_has_just_ended_is_no_fault() -> None:
    process = subprocess.Popen(["true"], process_group=0)
    process.wait()
    with _passing_on(process.pid):
        signal.raise_signal(signal.SIGHUP)
