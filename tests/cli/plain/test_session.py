"""The line mode: what happens is said once, in order, without anything that moves the cursor."""

import errno
import io
import os
import signal
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_tui.base.capabilities.questions import Question
from amplifier_tui.cli.plain import telling
from amplifier_tui.cli.plain.lines import LineReader, StreamedAnswer, TypedLine
from amplifier_tui.cli.plain.start import _signalled
from amplifier_tui.host.client import ModelCard, OpenRequest, SessionCard
from amplifier_tui.host.events import (
    CommandCard,
    CommandsChanged,
    Failed,
    HostEvent,
    ImageCard,
    ImagesAdded,
    LaneOpened,
    ModeChanged,
    ModelChanged,
    Notice,
    QuestionsAsked,
    QueueChanged,
    SessionClosed,
    SessionHeld,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    TerminalWanted,
)
from tests.cli.plain.scripted import ScriptedClient, make_session, said
from tests.ui.requests import ask, resolved
from tests.ui.state.make import (
    delta,
    ended,
    make,
    opened,
    started,
    tool,
    tool_ended,
    turn,
    turn_ended,
)

EVIL = "red \x1b[31mand\x1b[0m \x1b]52;c;eA==\x07 \u202eback"
SHOT = ImageCard(
    key="k", media_type="image/png", name="a\x1b[2J b.png", width=8, height=6, size=43_000
)


def test_an_answer_that_the_model_declined_is_said_to_be_with_what_can_be_done() -> None:
    client = ScriptedClient(batches=[[turn(), ended("b", "I"), turn_ended(declined=True)]])
    told = "The model declined to answer. Use other words, or another model (/model).\n"
    assert told in said(client, "go\n")


def test_a_request_that_a_hook_refused_is_said_to_be_with_the_reason() -> None:
    over = turn_ended(status="incomplete", denied="out of money")
    client = ScriptedClient(batches=[[turn(), over]])
    assert "A hook refused the request to the model: out of money.\n" in said(client, "go\n")


def test_the_model_that_was_asked_for_is_said_once_it_is_known() -> None:
    changes = [make(ModelChanged, provider="p", model=name) for name in ("m-1", "m-1", "m-2")]
    client = ScriptedClient(batches=[[*changes, turn(), ended("b", "I"), turn_ended()]])
    told = said(client, "go\n")
    assert told.count("Model m-1.") == 1 and told.count("Model m-2.") == 1


def test_a_turn_is_said_in_lines_as_it_happens() -> None:
    events = [
        turn(),
        started("a"),
        delta("a", "First, I "),
        delta("a", "look.\nThen"),
        ended("a", "First, I look.\nThen I say."),
        ended("a", "First, I look.\nThen I say."),
        tool("c", arguments={"command": "ls  -la"}),
        tool_ended("c", summary="3 lines"),
        make(ImagesAdded, call_id="c", images=(SHOT,)),
        tool("d", arguments={"command": "rm x"}),
        tool_ended("d", ok=False, denied=True, error="not today"),
        make(Notice, level="warning", text="slow", source="hook:watch"),
        turn_ended(),
    ]
    closing = make(SessionClosed, resume_command="amplifier-tui --resume s1")
    client = ScriptedClient(batches=[events], closing=closing)
    lines = said(client, "go\n").splitlines()
    assert client.named("submit") == [("go",)]
    assert lines[1:] == [
        "Opened in /home/u/src/app.",
        "Bundle coding, model claude-sonnet-4-5.",
        "First, I look.",
        "Then I say.",
        "Tool bash ls -la: 3 lines",
        "image: a b.png · 8x6 PNG · 43 kB",
        "Tool bash rm x: refused: not today",
        "Warning: slow (watch)",
        "Resume with: amplifier-tui --resume s1 --plain",
    ]


def test_the_mode_is_said_as_it_is_when_a_session_opens_and_when_it_changes() -> None:
    modes = [make(ModeChanged, mode=mode) for mode in ("edits", "edits", "ask")]
    lines = said(ScriptedClient(on_open=[opened(), *modes]), "/status\n").splitlines()
    about = [line.removeprefix("> ") for line in lines if "ode" in line]
    bundle = "Bundle coding, model none"
    assert about == [f"{bundle}.", "Mode edits.", "Mode ask.", f"{bundle}, mode ask."]


def test_that_commands_can_not_be_undone_here_is_said_with_mode_auto() -> None:
    modes = [make(ModeChanged, mode=mode, uncopied="too many files") for mode in ("ask", "auto")]
    lines = said(ScriptedClient(on_open=[opened(), *modes]), "").splitlines()
    assert lines[-2:] == ["Mode auto.", "Commands can't be undone here: too many files."]


def test_an_answer_that_begins_again_or_reads_otherwise_is_said_anew() -> None:
    words: list[str] = []
    answer = StreamedAnswer(words.append)
    answer.more("one\ntw")
    answer.end("other")
    assert words == ["one", "The answer reads otherwise now:", "other"]
    events = [
        turn(),
        started("a"),
        delta("a", "half\n"),
        ended("a", "", discarded=True),
        started("b"),
        ended("b", "whole"),
        turn_ended(),
    ]
    text = said(ScriptedClient(batches=[events]), "go\n")
    assert "half\nThe answer was cut off and begins again.\nwhole\n" in text


def test_nothing_that_is_said_moves_the_cursor() -> None:
    events = [
        turn(),
        started("a"),
        delta("a", EVIL),
        ended("a", EVIL),
        make(LaneOpened, lane="l", name=EVIL, instruction=EVIL),
        tool("c", EVIL, agent="l", arguments={"command": EVIL}),
        tool_ended("c", EVIL, ok=False, error=EVIL),
        make(Notice, level="error", text=EVIL, source=EVIL),
        turn_ended(),
    ]
    text = said(ScriptedClient(batches=[events], on_open=[opened(title=EVIL)]), "go\n")
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\r"}
    assert "red and" in text


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "caf? ?"), ("latin-1", "café ?")])
def test_what_the_locale_cannot_write_is_replaced(encoding: str, shown: str) -> None:
    events = [turn(), ended("a", "café ✓"), turn_ended()]
    assert shown in said(ScriptedClient(batches=[events]), "go\n", encoding=encoding)


def test_at_a_terminal_what_is_written_while_a_turn_runs_steers_it() -> None:
    client = ScriptedClient(batches=[[turn()], [turn_ended()]])
    said(client, "one\\\nmore\ntwo\n", person=True)
    assert client.named("submit") == [("one\nmore",)]
    assert client.named("steer") == [("two",)]


def test_a_word_that_a_turn_that_failed_did_not_get_is_named_as_waiting() -> None:
    waits = make(QueueChanged, items=("two",), ids=("p",), held=True)
    client = ScriptedClient(batches=[[turn()], [turn_ended(status="error"), waits]])
    shown = said(client, "one\ntwo\n", person=True)
    assert "Not sent; it goes after your next prompt: two" in shown


def test_without_a_person_the_next_prompt_waits_for_the_end_of_the_turn() -> None:
    client = ScriptedClient(batches=[[turn(1), turn_ended(1)], [turn(2), turn_ended(2)]])
    said(client, "one\ntwo\n")
    assert client.named("submit") == [("one",), ("two",)] and not client.named("steer")


def test_ctrl_c_stops_the_turn_and_again_at_once_and_at_rest_ends() -> None:
    client = ScriptedClient(batches=[[turn()]])
    session, raw = make_session(client, "go\n", person=True)
    client.on_submit = lambda: (session.interrupt(), session.interrupt())[-1]
    presses = iter([[turn_ended(status="cancelled")]])

    def interrupt(immediate: bool = False) -> None:
        client.calls.append(("interrupt", immediate))
        if immediate:
            client.push(*next(presses))

    vars(client)["interrupt"] = interrupt
    assert session.run(OpenRequest(cwd=Path("/src"))) == 0
    assert client.named("interrupt") == [(False,), (True,)]
    text = raw.getvalue().decode()
    assert (
        "The same again stops at once.\nStopping at once.\n" in text and "ended: cancelled" in text
    )


def test_ctrl_c_pressed_the_moment_the_first_is_answered_ends() -> None:
    session, _ = make_session(ScriptedClient(), "", person=True)
    say, leave, left = session.say, session.quit, []

    def press_again(text: str) -> None:
        say(text)
        if "The same again ends" in text:
            session.interrupt()

    vars(session).update(say=press_again, quit=lambda: (left.append(True), leave())[-1])
    session.interrupt()
    assert session.run(OpenRequest(cwd=Path("/src"))) == 0
    assert left == [True]


def test_stop_stops_the_turn_and_again_at_once_and_says_where_nothing_runs() -> None:
    client = ScriptedClient(batches=[[turn()]])

    def interrupt(immediate: bool = False) -> None:
        client.calls.append(("interrupt", immediate))
        if immediate:
            client.push(turn_ended(status="cancelled"))

    vars(client)["interrupt"] = interrupt
    text = said(client, "/stop\ngo\n/stop\n/stop\n", person=True)
    assert client.named("interrupt") == [(False,), (True,)]
    assert text.count("Nothing runs.\n") == 1 and "Stopping after this step." in text


def test_a_session_that_cannot_be_opened_is_said_with_what_to_do() -> None:
    failed = make(Failed, kind="bundle", message="There is no x", remedy="Name another.")
    text = said(ScriptedClient(on_open=[failed]), "go\n", status=1)
    assert "Error: There is no x. Name another.\n" in text


@pytest.mark.parametrize(
    ("notice", "rest"),
    [("No such key. Check A_KEY.", ""), ("No such key", "Check A_KEY.\n")],
)
def test_an_error_of_the_provider_is_said_once_and_again_in_the_next_turn(
    notice: str, rest: str
) -> None:
    told = make(Notice, level="error", text=notice, source="x")
    failed = make(Failed, kind="auth", message="No such key", remedy="Check A_KEY.")
    turns = [[turn(), told, failed, turn_ended(status="error")], [turn(2), failed, turn_ended()]]
    text = said(ScriptedClient(batches=list(turns)), "go\ngo\n")
    assert f"Error: {notice} (x)\n{rest}The turn has ended: error.\n" in text
    assert text.count("Error: No such key. Check A_KEY.") == (1 if rest else 2)


def test_of_a_session_that_does_not_open_after_all_nothing_is_retold() -> None:
    retold = [turn(1, "first", replayed=True), ended("a", "one", replayed=True)]
    failed = make(Failed, kind="bundle", message="There is no x.", remedy="Name another.")
    client = ScriptedClient(on_open=[*retold, failed])
    assert "You wrote" not in said(client, "", person=True, status=1)


def test_of_a_stored_session_the_last_prompt_and_answer_are_said() -> None:
    retold = [turn(1, "first", replayed=True), ended("a", "one", replayed=True)]
    retold += [turn(2, "second", replayed=True), ended("b", "two", replayed=True)]
    client = ScriptedClient(on_open=[opened(resumed=True), *retold])
    text = said(client, "")
    assert "Resumed in /src.\n" in text
    assert text.count("You wrote") == 1 and "You wrote: second\nThe answer was: two\n" in text


def test_commands_do_what_they_say() -> None:
    cards = (ModelCard(provider="a", model="big", current=True), ModelCard(provider="b", model="x"))
    stored = (SessionCard(session_id="abc", title="Earlier", turns=3),)
    client = ScriptedClient(offered=cards, stored=stored)
    typed = "/help\n/mode plan\n/mode\n4\n/mode auto\n5\n/model\n2\n/model c\n/sessions\n1\n"
    text = said(client, typed)
    assert "/status  Say which" in text and "auto: writes and runs commands unasked" in text
    assert client.named("set_mode") == [("plan",), ("auto",)]
    assert client.named("switch_model") == [("x", "b"), ("c", "")]
    assert "  1  Earlier, 3 turns\n" in text
    assert client.named("resume") == [("abc",)]


@pytest.mark.parametrize("typed", ["/resume s1", "/bundle other"])
def test_where_no_other_session_opens_the_next_line_is_heard(typed: str) -> None:
    client = ScriptedClient(batches=[[turn(), turn_ended()]])
    refused = make(Notice, level="info", text="This session is open already", source="host")
    vars(client)["resume"] = vars(client)["switch_bundle"] = lambda _: client.push(refused)
    assert "open already" in said(client, f"{typed}\ngo\n")
    assert client.named("submit") == [("go",)]


def test_a_session_of_another_window_is_said_with_what_to_do() -> None:
    held = make(SessionHeld, owner="42")
    text = said(ScriptedClient(on_open=[held]), "go\n", status=1)
    assert (
        f"has the session open (process 42). Close it there, then /resume {held.session_id}" in text
    )


def test_a_session_that_another_window_lets_go_is_opened_where_that_is_said() -> None:
    held, free = make(SessionHeld), make(SessionHeld, free=True)
    client = ScriptedClient(on_open=[held, free], batches=[[turn(), turn_ended()]])
    text = said(client, f"too early\n/resume {held.session_id}\ngo\n", person=True)
    assert "Another window has let the session go. /resume" in text
    assert client.named("resume") == [(held.session_id,)] and client.named("submit") == [("go",)]


def test_commands_of_modules_go_to_the_session_and_what_is_none_is_said() -> None:
    card = CommandCard(group="team", name="review", description="Look at it")
    brought = make(CommandsChanged, commands=(card,))
    client = ScriptedClient(on_open=[opened(), brought], batches=[[turn(), turn_ended()]] * 3)
    text = said(client, "/help\n/reviw all\n/v2\n/review all\n/team:review\n/usr/bin is full\n")
    assert "/review  Look at it\n" in text
    assert "There is no command /reviw; did you mean /review?\n" in text
    assert "There is no command /v2; /help lists them.\n" in text
    sent = [prompt for (prompt,) in client.named("submit")]
    assert sent == ["/review all", "/team:review", "/usr/bin is full"]


def test_a_call_that_waited_for_its_answer_runs_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, lines = [0.0], list[str]()
    monkeypatch.setattr(telling, "monotonic", lambda: clock[0])
    teller = telling.EventTeller(lines.append)
    teller.tell(tool("c", arguments={"command": "ls"}))
    teller.tell(ask())
    clock[0] = 60.0
    # The answer was given, and has not arrived.
    teller.say_what_takes_long()
    teller.tell(resolved())
    teller.say_what_takes_long()
    assert not lines
    clock[0] = 64.0
    teller.say_what_takes_long()
    assert lines == ["Tool bash ls: still runs"]


def test_a_call_that_asks_is_told_with_its_questions() -> None:
    lines = list[str]()
    teller = telling.EventTeller(lines.append)
    asked = [{"question": "Which\n[b]one?", "options": ["a", "b"]}, {"question": "Why?"}]
    teller.tell(tool("c", "ask_user", arguments={"questions": asked}))
    teller.tell(tool_ended("c", summary="4 lines"))
    assert lines == ["Tool ask_user Which [b]one? · Why?: 4 lines"]


def typed_at_once(text: str) -> Iterator[TypedLine]:
    """Yield what is read of a text that a terminal gets at once."""
    outer, inner = os.openpty()
    modes = termios.tcgetattr(inner)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(inner, termios.TCSANOW, modes)
    os.write(outer, text.encode() + b"\x04")
    reader = LineReader(io.BufferedReader(io.FileIO(inner)), "utf-8", terminal=True)
    over = threading.Event()
    reader.start(lambda: over.set() if reader._at_end else None)
    assert over.wait(20)
    os.close(outer)
    while (line := reader.take()) is not None:
        yield line


def test_lines_that_come_at_once_are_one_and_a_cut_one_is_known() -> None:
    (line,) = typed_at_once("one\n2\nthree\n")
    assert (line.text, line.pasted, line.cut) == ("one\n2\nthree", True, False)
    (line,) = typed_at_once("x" * 5_000 + "\n")
    assert line.cut and not line.pasted


def test_what_is_pasted_runs_no_command() -> None:
    client = ScriptedClient()
    session, raw = make_session(client, "", person=True)
    session._reader._read.append(TypedLine("!touch made\nls", 0.0))
    session.run(OpenRequest(cwd=Path("/src")))
    assert "come at once run no command" in raw.getvalue().decode()
    assert not client.named("shell") and not client.named("submit")


def test_a_line_that_the_terminal_has_cut_is_not_sent() -> None:
    client = ScriptedClient()
    session, raw = make_session(client, "", person=True)
    session._reader._read.append(TypedLine("x" * 4_095, 0.0, cut=True))
    session.run(OpenRequest(cwd=Path("/src")))
    assert "cuts a line at 4,095 bytes" in raw.getvalue().decode()
    assert not client.named("submit")


def test_between_the_lines_of_an_answer_nothing_is_prompted() -> None:
    class Streaming(ScriptedClient):
        """Streams a line whenever it is asked, once it was prompted."""

        coming = 3

        def drain(self, limit: int = 0) -> list[HostEvent]:
            events = super().drain(limit)
            if len(self.batches) == 1 and self.coming:
                self.coming -= 1
                self.push(delta("a", f"line {self.coming}\n"))
            return events

    asked = make(QuestionsAsked, request_id="q", questions=(Question("Which?"),))
    client = Streaming(batches=[[turn(), started("a"), asked], [turn_ended()]])
    session, raw = make_session(client, "go\n", person=True)
    session.run(OpenRequest(cwd=Path("/src")))
    text = raw.getvalue().decode()
    assert "line 2\nline 1\nline 0\n" in text, text


def test_an_answer_of_the_engine_that_fails_is_said() -> None:
    assert "Error: broken\n" in said(ScriptedClient(offered=RuntimeError("broken")), "/model\n")


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(errno.EIO, "terminal is gone")])
def test_an_output_that_nobody_reads_any_more_ends_the_program(error: OSError) -> None:
    client = ScriptedClient(batches=[[turn()]])
    session, _ = make_session(client, "go\n")

    class Gone(io.TextIOWrapper):
        def write(self, text: str) -> int:
            raise error

    vars(session._writer)["_stream"] = Gone(io.BytesIO(), encoding="utf-8")
    assert session.run(OpenRequest(cwd=Path("/src"))) == 0
    assert client.named("close")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_goes_away_and_the_systems_end_close_the_session(number: int) -> None:
    client = ScriptedClient(on_submit=lambda: signal.raise_signal(number))
    session, _ = make_session(client, "go\n")
    # The tests may run where a hang-up is ignored.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert _signalled(session, lambda: session.run(OpenRequest(cwd=Path("/src")))) == 0
    finally:
        signal.signal(number, before)
    assert [name for name, *_ in client.calls][-2:] == ["keep_left_open", "close"]


def test_a_turn_that_is_tried_again_is_waited_for_at_the_end_of_the_input() -> None:
    class SlowClient(ScriptedClient):
        """Begins the turn some looks after it was asked to."""

        looks = 0

        def retry(self, *, without: str = "") -> None:
            self.looks = 3

        def drain(self, limit: int = 0) -> list[HostEvent]:
            self.looks -= 1
            if self.looks == 0:
                self.next()
            return super().drain(limit)

    client = SlowClient(batches=[[turn(), ended("a", "again"), turn_ended()]])
    assert "again\n" in said(client, "/retry\n")
    refused = make(Notice, level="info", text="nothing to try again", source="host")
    assert "nothing to try" in said(ScriptedClient(batches=[[refused]]), "/retry\n")


def test_commands_of_the_user_run_at_a_terminal_alone() -> None:
    begun = make(ShellStarted, command_id="s", command="ls")
    printed = make(ShellProgress, command_id="s", text="a\n  1  All")
    over = make(ShellEnded, command_id="s", command="ls", exit_code=2, output="a\n  1  Allow")
    wanted = make(TerminalWanted, command="vi x")
    batches = [[begun, printed, turn_ended(), over], [wanted]]
    client = ScriptedClient(batches=batches)
    text = said(client, "!ls\n!! vi x\n!\n", person=True)
    assert client.named("shell") == [("ls", True, False), ("vi x", False, False)]
    assert "| a\n|   1  All\nCommand ls: exit code 2\n" in text
    assert "vi x: it needs a terminal of its own; it was not run.\n" in text
    client = ScriptedClient()
    assert "run at a terminal only" in said(client, "!ls\n")
    assert not client.named("shell")


def test_files_that_are_there_go_along_with_the_next_prompt(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()
    (tmp_path / "b c.pdf").touch()
    turns = [[turn(1), turn_ended(1)], [turn(2), turn_ended(2)]]
    client = ScriptedClient(on_open=[opened(cwd=str(tmp_path))], batches=turns)
    odd = f"/attach ~no-such-user/a\n/attach {'x' * 300}\n"
    typed = f"/attach\n/attach no.txt\n{odd}/detach\n/attach a.png\n/attach b c.pdf\nlook\nagain\n"
    text = said(client, typed)
    assert "Not attached: there is no file no.txt.\n" in text
    assert "there is no file ~no-such-user/a.\n" in text
    assert "Nothing is attached.\n" in text and "goes: a.png, b c.pdf\n" in text
    assert client.named("submit") == [("look",), ("again",)]
    assert client.files == [("a.png", "b c.pdf"), ()]
