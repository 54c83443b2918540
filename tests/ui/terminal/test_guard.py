import asyncio
import signal
from types import SimpleNamespace
from typing import Any, cast

from textual.app import App

from amplifier_tui.ui.terminal.guard import TerminalGuard, handle_signals
from tests.waiting import within


async def test_a_stopped_screen_begins_anew_only_between_two_writes() -> None:
    writing = True
    begun: list[tuple[str, bool]] = []
    anew = asyncio.Event()

    def begin() -> None:
        begun.append(("resume", writing))
        anew.set()

    driver = SimpleNamespace(
        _must_signal_resume=False,
        _sigtstp_application=lambda: None,
        suspend_application_mode=lambda: begun.append(("suspend", writing)),
        resume_application_mode=begin,
    )
    app = cast("App[Any]", SimpleNamespace(_driver=driver))
    take_back = handle_signals(app, lambda _: None, TerminalGuard())
    try:
        signal.raise_signal(signal.SIGCONT)
        writing = False
        async with within(10, "the screen"):
            await anew.wait()
    finally:
        take_back()
    assert begun == [("suspend", False), ("resume", False)]
