"""Waking a thread that waits, also from a signal handler of that thread."""

import signal
import threading

import pytest

from amplifier_tui.cli.wakeup import Wakeup


def test_a_call_before_the_wait_is_not_lost_and_several_count_as_one() -> None:
    wakeup = Wakeup()
    wakeup.set()
    wakeup.set()
    wakeup.wait(60.0)
    late = threading.Timer(0.0, wakeup.set)
    late.start()
    wakeup.wait(60.0)
    late.join()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer's signal")
def test_a_signal_handler_wakes_the_thread_it_interrupts_at_any_moment() -> None:
    wakeup, rings = Wakeup(), []

    def ring(*_: object) -> None:
        rings.append(1)
        wakeup.set()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        while len(rings) < 500:
            wakeup.wait(60.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
