import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from textual import events
from textual.app import App

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockEnded,
    HookTraced,
    ModuleLoading,
    SessionClosed,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.app import pace, quitting
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.questions import OpenLink, host_of
from amplifier_tui.ui.dialogs.sheets import EventSheet
from amplifier_tui.ui.keys.actions import BY_ID
from amplifier_tui.ui.session import link
from amplifier_tui.ui.terminal import guard, leave
from amplifier_tui.ui.terminal.input import teach_keys
from amplifier_tui.ui.terminal.leave import Farewell
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient, opened
from tests.waiting import within

# --- the first frame -------------------------------------------------------------------------


def test_the_first_frame_needs_no_engine_no_sdk_and_no_yaml() -> None:
    heavy = ["yaml", "click", "pydantic", "anthropic", "openai", "httpx", "markdown_it", "pygments",
             "tree_sitter",
             "amplifier_tui.host.events", "amplifier_tui.host.client", "amplifier_tui.kernel",
             "amplifier_tui.ui.state.session", "amplifier_tui.ui.transcript.view"]  # fmt: skip
    code = f"""
        import sys
        import amplifier_tui.__main__
        from amplifier_tui.cli.launch import parse_launch
        from amplifier_tui.ui.terminal import guard as terminal
        from amplifier_tui.ui.app.app import AmplifierApp
        found = []
        class Probe(AmplifierApp):
            def _first_frame_drawn(self):
                found.extend(name for name in {heavy!r} if name in sys.modules)
                self.exit()
        import asyncio
        async def go():
            app = Probe(lambda: None)
            async with app.run_test() as pilot:
                await pilot.pause()
        asyncio.run(go())
        print(found)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_session_opens_without_the_reader_of_a_keymap_that_is_not_there(tmp_path: Path) -> None:
    code = """
        import asyncio, sys
        from pathlib import Path
        from amplifier_tui.host.client import OpenRequest
        from amplifier_tui.ui.app.app import AmplifierApp
        from tests.ui.fake_client import FakeClient
        async def go():
            app = AmplifierApp(lambda: (FakeClient(), OpenRequest(cwd=Path.cwd())))
            async with app.run_test():
                await app.ready.wait()
                print("amplifier_tui.ui.keys.keymap_file" in sys.modules)
        asyncio.run(go())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.stdout.strip() == "False", done.stderr


async def test_keys_typed_while_the_rest_is_loading_are_kept() -> None:
    import threading

    release = threading.Event()
    client = FakeClient()

    def connect():
        release.wait(10)
        return client, OpenRequest(cwd=Path.cwd())

    app = AmplifierApp(connect)
    async with app.run_test(size=(100, 30)) as pilot:
        for key in "early":
            app.post_message(events.Key(key, key))
        app.post_message(events.Key("enter", None))
        await pilot.pause()
        release.set()
        async with within(20):
            await app.ready.wait()
            while not client.named("submit"):
                await pilot.pause(0.01)
        assert client.named("submit") == [("early",)]


async def test_keys_typed_before_the_first_frame_are_the_prompts() -> None:
    class AheadOfTheFrame(AmplifierApp):
        def on_load(self) -> None:
            for key in "ahead":
                self.post_message(events.Key(key, key))

    app = AheadOfTheFrame(lambda: (FakeClient(), OpenRequest(cwd=Path.cwd())))
    async with app.run_test(size=(100, 30)) as pilot, within(20):
        await app.ready.wait()
        while app.main.prompt.input.text != "ahead":
            await pilot.pause(0.01)


async def test_while_a_session_opens_the_screen_is_drawn_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, shown = FakeClient(silent=True), list[str]()
    async with running(client, opened=False) as driver:
        main = driver.app.main
        show = main.show
        monkeypatch.setattr(main, "show", lambda changes: (shown.append("all"), show(changes)))
        monkeypatch.setattr(link, "OPENING_FRAME", 60.0)
        for name in ("a", "b"):
            await driver.push(ModuleLoading(session_id=SESSION, module_id=name, kind="tool"))
        assert shown == [], "each look takes the interpreter from the engine"
        driver.app.link._showing = False
        monkeypatch.setattr(link, "OPENING_FRAME", 0.01)
        await driver.push(ModuleLoading(session_id=SESSION, module_id="c", kind="tool"))
        await driver.until(lambda: shown, "what was put off")
        await driver.push(opened())
        assert len(shown) == 2, "an open session is shown at once"


async def test_an_engine_that_cannot_start_is_said_and_the_screen_stays() -> None:
    def connect():
        raise ImportError("no module named engine [b]")

    app = AmplifierApp(connect)
    async with app.run_test(size=(100, 30)) as pilot:
        async with within(20):
            await app.ready.wait()
        await pilot.pause()
        assert app.state is not None
        assert any("no module named engine" in n.notice.text for n in app.state.notices.history)
        assert app.is_running


async def test_the_collector_is_on_again_with_its_own_thresholds_once_everything_is_there() -> None:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.disable()
    try:
        async with running():
            assert gc.isenabled()
            assert gc.get_threshold() == pace.THRESHOLDS
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
        gc.enable()


def test_what_the_session_before_held_is_collected_though_it_was_left_out_of_passes() -> None:
    code = """
        import gc, weakref
        from amplifier_tui.ui.app import pace

        class Session:
            def __init__(self):
                self.itself = self

        session = Session()
        held = weakref.ref(session)
        pace.turn_ended()
        del session
        pace.turn_ended()
        assert held() is not None
        pace.session_changed()
        assert held() is None
        assert gc.get_freeze_count()
    """
    # In a process of its own: here, all that the tests before have imported would be looked at.
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


# --- the end ---------------------------------------------------------------------------------


async def test_quitting_closes_the_session_and_brings_the_last_words_home() -> None:
    client = FakeClient(
        closing=SessionClosed(
            session_id=SESSION,
            last_answer="All *done*.",
            resume_command="resume s1",
            ends="A rule ends",
        )
    )
    async with running(client) as drive:
        await drive.press("ctrl+x", "q")
        await drive.until(lambda: drive.app.return_value is not None)
        assert client.named("close") == [()]
        assert drive.app.return_value == Farewell("All *done*.", "resume s1", ends="A rule ends")


async def test_a_session_that_does_not_close_does_not_hold_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quitting, "CLOSE_TIMEOUT", 0.05)
    async with running(FakeClient(hang=True)) as drive:
        await drive.press("ctrl+x", "q")
        await drive.until(lambda: drive.app.return_value is not None)
        assert drive.app.return_value is not None
        assert "did not close within" in drive.app.return_value.problem


async def test_asking_to_quit_again_ends_at_once() -> None:
    async with running(FakeClient(hang=True)) as drive:
        drive.app.action_leave()
        drive.app.action_leave()
        await drive.until(lambda: drive.app.return_value is not None)


def test_a_fault_of_the_program_leaves_a_report_and_no_values(tmp_path: Path) -> None:
    def fail(secret: str) -> None:
        raise ValueError("boom")

    with pytest.raises(ValueError) as caught:
        fail("sk-" + "secret")
    report = leave.write_report(caught.value, tmp_path / "log")
    assert report is not None
    assert "ValueError: boom" in report.read_text() and "sk-secret" not in report.read_text()
    words = leave.crash_words(caught.value, report)
    assert str(report) in words and "--resume last" in words
    next_one = leave.write_report(RuntimeError("on the way out"), tmp_path / "log")
    assert next_one not in (None, report) and "ValueError: boom" in report.read_text()
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert leave.write_report(caught.value, blocked) is None


async def test_a_fault_in_a_widget_ends_with_words_instead_of_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Faulty(AmplifierApp):
        def on_mount(self) -> None:
            raise RuntimeError("widget fault")

    app = Faulty(lambda: (FakeClient(), OpenRequest(cwd=Path.cwd())))
    with pytest.raises(RuntimeError, match="widget fault"):
        async with app.run_test():
            pass
    text = capsys.readouterr().err
    assert "fault of its own (RuntimeError)" in text and "Report:" in text
    assert "Traceback" not in text and "locals" not in text
    assert app.return_code == 1


# --- the terminal ----------------------------------------------------------------------------


def test_alt_and_shift_enter_make_a_new_line_in_terminals_without_the_kitty_protocol() -> None:
    from textual._xterm_parser import XTermParser

    teach_keys()
    parser = XTermParser()
    newline = BY_ID["prompt.newline"].keys.split(",")
    for sequence in ("\x1b\r", "\x1b\n", "\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[27;3;13~"):
        keys = [event.key for event in parser.feed(sequence) if isinstance(event, events.Key)]
        assert len(keys) == 1
        # The prompt reads a carriage return as enter with a modifier.
        assert keys[0] == "\r" or keys[0].replace("\r", "enter") in newline, repr(sequence)
    assert [e.key for e in parser.feed("\r") if isinstance(e, events.Key)] == ["enter"]


PTY_PROGRAM = """
import os, signal, sys, threading
from amplifier_tui.ui.terminal.guard import TerminalGuard
guard = TerminalGuard()
guard.arm()
import tty
tty.setraw(0)
sys.stderr.write("\\x1b[?1049h\\x1b[?1000h"); sys.stderr.flush()
{end}
"""


@pytest.mark.parametrize("end", ["raise RuntimeError('boom')", "sys.exit(3)"])
def test_whatever_ends_the_program_the_terminal_is_given_back(end: str) -> None:
    import pty
    import termios

    parent, child = pty.openpty()
    before = termios.tcgetattr(child)
    with subprocess.Popen(
        [sys.executable, "-c", PTY_PROGRAM.format(end=end)], stdin=child, stdout=child, stderr=child
    ) as process:
        seen = b""
        while b"\x1b[?1049l" not in seen:
            seen += os.read(parent, 65536)
        process.wait(20)
    assert b"\x1b[?1000l" in seen and b"\x1b[?25h" in seen
    assert termios.tcgetattr(child)[3] == before[3]
    os.close(parent)
    os.close(child)


def test_without_a_terminal_the_guard_does_nothing() -> None:
    code = """
from amplifier_tui.ui.terminal.guard import TerminalGuard
guard = TerminalGuard()
guard.arm()
guard.restore()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


async def test_a_signal_begins_an_orderly_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()
    names: list[str] = []
    monkeypatch.setattr(guard, "PATIENCE", 3600.0)

    def leave(name: str) -> None:
        names.append(name)
        ended.set()

    remove = guard.handle_signals(App[None](), leave, guard.TerminalGuard())
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        async with within(20):
            await ended.wait()
    finally:
        remove()
    assert names == ["SIGTERM"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


async def test_the_bell_rings_only_for_someone_who_looks_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(AmplifierApp, "bell", lambda self: rung.append("ding"))
    async with running() as drive:
        start = TurnStarted(session_id=SESSION, turn=1, prompt="x")
        end = TurnEnded(session_id=SESSION, turn=1, status="success")
        await drive.push(start, end)
        assert rung == []
        drive.app.app_focus = False
        await drive.push(TurnStarted(session_id=SESSION, turn=2, prompt="x"))
        await drive.push(TurnEnded(session_id=SESSION, turn=2, status="success"))
        assert rung
        assert ApprovalRequested is not None


# --- what the parts of the screen ask for ----------------------------------------------------


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org/a", "example.org"),
        ("http://user@evil.test:80/", "evil.test"),
        ("HTTPS://X.org", "x.org"),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
        ("//no.scheme", ""),
        ("https://[broken", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_are_opened(url: str, host: str) -> None:
    assert host_of(url) == host


async def test_a_link_is_asked_about_before_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    from amplifier_tui.ui.widgets.messages import LinkClicked

    opened_urls: list[str] = []
    monkeypatch.setattr(AmplifierApp, "open_url", lambda self, url: opened_urls.append(url))
    async with running() as drive:
        transcript = drive.app.main.transcript
        assert transcript is not None
        transcript.post_message(LinkClicked("https://example.org/\u202egpj"))
        await drive.dialog(OpenLink)
        assert "example.org" in drive.text() and "‹U+202E›" in drive.text()
        await drive.press("escape")
        assert opened_urls == []
        transcript.post_message(LinkClicked("https://example.org/x"))
        await drive.dialog(OpenLink)
        await drive.press("o")
        await drive.until(lambda: opened_urls == ["https://example.org/x"])
        transcript.post_message(LinkClicked("file:///etc/passwd"))
        await drive.dialog(OpenLink)
        await drive.press("o")
        assert len(opened_urls) == 1
        await drive.press("y")
        await drive.closed()
        assert drive.app.clipboard == "file:///etc/passwd"


async def test_an_event_is_inspected_with_its_whole_payload_from_disk() -> None:
    client = FakeClient(payloads={7: '{"whole": "payload [b]"}'})
    async with running(client) as drive:
        await drive.push(
            HookTraced(session_id=SESSION, seq=7, event="tool:pre", data='{"cut": 1', size=5_000)
        )
        await drive.until(lambda: "tool:pre" in drive.text())
        await drive.press("f3", "k", "enter")
        await drive.dialog(EventSheet)
        await drive.until(lambda: "payload [b]" in drive.text())
        rows = drive.text().splitlines()
        y = next(y for y, row in enumerate(rows) if "Copy value" in row)
        assert "Before and after" not in rows[y]
        await drive.pilot.click(offset=(rows[y].index("Copy value"), y))
        await drive.settle()
        assert drive.app.clipboard == "payload [b]"
        await drive.press("escape")
        await drive.closed()


async def test_the_stored_part_of_a_session_comes_when_the_user_scrolls_to_its_top() -> None:
    client = FakeClient(on_open=[opened(resumed=True, earlier=300)])
    client.earlier = (
        TurnStarted(session_id=SESSION, turn=1, prompt="the very first", replayed=True),
    )
    async with running(client, size=(80, 24)) as drive:
        text = "\n\n".join(f"line {n}" for n in range(60))
        await drive.push(
            TurnStarted(session_id=SESSION, turn=9, prompt="x"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text=text),
        )
        await drive.until(lambda: "line 59" in drive.text())
        assert client.named("history") == []
        while not client.named("history"):
            await drive.press("pageup")
        # A page of rows that are not shown is not the end: nothing is left to scroll there.
        await drive.until(lambda: client.named("history") == [(300, 200), (100, 200)])
        await drive.press("pageup")
        await drive.until(lambda: "the very first" in drive.text())


async def test_the_last_answer_can_be_copied() -> None:
    async with running() as drive:
        await drive.press("ctrl+x", "y")
        assert "no answer" in drive.text()
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="x"),
            BlockEnded(session_id=SESSION, block_id="b", kind="text", text="**Yes**, it is."),
        )
        await drive.press("ctrl+x", "y")
        assert drive.app.clipboard == "**Yes**, it is."


async def test_a_batch_that_cannot_be_shown_is_said_and_the_next_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as drive:
        state = drive.app.state
        assert state is not None
        apply = state.apply

        def broken(batch: list[object]) -> list[object]:
            monkeypatch.setattr(state, "apply", apply)
            raise RuntimeError("no idea how to show this")

        monkeypatch.setattr(state, "apply", broken)
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="lost"))
        assert "could not be shown" in drive.text()
        await drive.push(TurnStarted(session_id=SESSION, turn=2, prompt="seen"))
        await drive.until(lambda: "seen" in drive.text())


async def test_what_a_session_says_after_the_app_has_ended_is_no_fault_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported: list[BaseException] = []
    monkeypatch.setattr(leave, "write_report", reported.append)
    async with running() as drive:
        followed = drive.app.link
    assert followed is not None
    followed.take([TurnStarted(session_id=SESSION, turn=1, prompt="late")])
    assert reported == []
