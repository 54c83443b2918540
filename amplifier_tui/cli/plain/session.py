"""The line mode: what happens is said in lines, and lines are prompts, answers and commands."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from time import monotonic
from typing import Final, Literal, TypeVar

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.plain import commands, questions
from amplifier_tui.cli.plain.choices import NumberedQuestion
from amplifier_tui.cli.plain.lines import LineReader, LineWriter, TypedLine
from amplifier_tui.cli.plain.telling import EventTeller
from amplifier_tui.host.client import OpenRequest, SessionClient
from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    Failed,
    HostEvent,
    LimitAsked,
    LimitResolved,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    QuestionsAsked,
    QuestionsResolved,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    TrustAnswered,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)

T = TypeVar("T")

_LOOK: Final = 0.2
"""Seconds between two looks whether ctrl+c was pressed or a tool takes long."""
_EARLY: Final = 0.4
"""Seconds in which a person can't have read a question."""
_CLOSING: Final = 10.0


class PlainSession:
    """Runs a session in lines until the user leaves.

    Args:
        client: A new one; it is closed at the end.
        person: Somebody writes the lines at a terminal: what comes while a turn runs steers it,
            and an answer that comes with its question does not count. Else lines wait until they
            are asked for.
    """

    def __init__(
        self, client: SessionClient, reader: LineReader, writer: LineWriter, *, person: bool
    ) -> None:
        self.client = client
        self.mode: Mode | Literal[""] = ""
        self._reader = reader
        self._writer = writer
        self._teller = EventTeller(writer.say)
        self._person = person
        self._news = Event()
        self._asked: deque[NumberedQuestion] = deque()
        self._shown_at = 0.0
        self._shown: NumberedQuestion | None = None
        self._waiting: list[Callable[[], bool]] = []
        self._continued = ""
        self._session_id = self._bundle = self._model = self._resume = ""
        self._opened = self._running = self._over = False
        self._opening = True
        self._interrupts = self._interrupts_seen = 0
        self._pressed = False
        self._status = 0

    def run(self, request: OpenRequest) -> int:
        """Open the session and go on until the user leaves; returns the exit status."""
        self.client.set_waker(self._news.set)
        self._reader.start(self._news.set)
        self.say("amplifier-tui, in lines. /help says what can be written, /quit ends.")
        self.client.open(request)
        while not (self._over or self._writer.gone):
            self._news.wait(_LOOK)
            self._news.clear()
            events = self.client.drain()
            for event in events:
                self._take(event)
            self._waiting = [look for look in self._waiting if not look()]
            self._hear()
            if not events:
                self._teller.retell()
                self._end_with_input()
            self._see_interrupts()
            if not self._asked:
                self._teller.say_what_takes_long()
            self._show_question()
        self._close()
        return self._status

    def say(self, text: str) -> None:
        """Write a line."""
        self._writer.say(text)

    def interrupt(self) -> None:
        """Ctrl+c was pressed; safe in a signal handler."""
        self._interrupts += 1

    def stop(self) -> None:
        """Stop the turn: after its step, and at once when it is said again."""
        self.client.interrupt(immediate=self._pressed)
        self._pressed = True

    def quit(self) -> None:
        """End."""
        self._over = True

    def opening(self) -> None:
        """Another session was asked for: what is written waits for it."""
        self._opening = True

    def ask(self, question: NumberedQuestion | str) -> None:
        """Ask the user something of the program's own, or only say it."""
        if isinstance(question, str):
            self.say(question)
        else:
            self._asked.append(question)

    def when_done(self, answer: "Future[T]", then: Callable[[T], None]) -> None:
        """Call `then` with what the engine answers, or say why it does not."""

        def look() -> bool:
            if not answer.done():
                return False
            error = answer.exception()
            if error is not None:
                self.say(f"Error: {one_line(str(error))}")
            else:
                then(answer.result())
            return True

        self._waiting.append(look)

    @property
    def status(self) -> str:
        """What is in use, in words."""
        return f"Bundle {self._bundle}, model {self._model or 'none'}, mode {self.mode or 'ask'}."

    # --- what is written ---------------------------------------------------------------------

    def _hear(self) -> None:
        """Take the lines that can be taken now."""
        while not self._over and self._may_hear() and (line := self._reader.take()) is not None:
            self._writer.line_came()
            self._line(line)
            self._show_question()

    def _end_with_input(self) -> None:
        """Where nobody writes any more, let what runs end without an answer."""
        if not self._reader.ended or self._waiting:
            return
        asked, self._asked = self._asked, deque()
        for question in asked:
            question.given_up()
        self._over = self._over or not (asked or self._running or self._opening)

    def _may_hear(self) -> bool:
        if self._waiting:
            return False
        if self._asked:
            return self._shown is self._asked[0]
        return not self._opening and (self._person or not self._running)

    def _line(self, line: TypedLine) -> None:
        self._pressed = False
        if self._asked:
            self._answer(line)
            return
        if line.text.endswith("\\"):
            self._continued += f"{line.text[:-1]}\n"
            return
        text, self._continued = f"{self._continued}{line.text}".strip(), ""
        if not text or (text.startswith("/") and commands.run(self, text)):
            return
        if not self._opened:
            self.say("No session is open. /bundle NAME opens one, /quit ends.")
        elif self._running:
            self.client.steer(text)
            self.say("The turn gets that with its next step.")
        else:
            self._running = True
            self.client.submit(text)

    def _answer(self, line: TypedLine) -> None:
        question = self._asked[0]
        if self._person and line.at - self._shown_at < _EARLY:
            self.say("That came before the question could be read. Please answer it again.")
            return
        answered, follow_up = question.answer(line.text)
        if not answered:
            self.say("That is none of the answers.")
            return
        self._asked.popleft()
        self._shown = None
        if follow_up is not None:
            self._asked.appendleft(follow_up)

    def _show_question(self) -> None:
        if self._asked and self._shown is not self._asked[0]:
            self._shown = self._asked[0]
            for line in self._shown.text:
                self.say(line)
            self._shown_at = monotonic()
        if self._asked or not (self._running or self._opening or self._waiting):
            self._writer.prompt()

    def _see_interrupts(self) -> None:
        for _ in range(self._interrupts - self._interrupts_seen):
            if self._running:
                self.say("Stopping at once." if self._pressed else "Stopping.")
                self.stop()
            elif self._pressed:
                self.quit()
            else:
                self._pressed, self._continued = True, ""
                self.say("The same again ends the program.")
        self._interrupts_seen = self._interrupts

    # --- what happens ------------------------------------------------------------------------

    def _take(self, event: HostEvent) -> None:
        if event.replayed:
            self._teller.keep(event)
            return
        match event:
            case SessionOpened():
                self._opened, self._opening, self._running = True, False, False
                self._session_id = event.session_id
                self._bundle, self._model = event.bundle, event.model
                self.say(f"{'Resumed' if event.resumed else 'Opened'} in {event.cwd}.")
                if event.title:
                    self.say(event.title)
                self.say(self.status)
            case SessionClosed():
                self._resume = event.resume_command
            case Failed():
                self._failed(event)
            case SessionHeld():
                self._held(event)
            case Notice(source="host", session_id=self._session_id) if self._opened:
                # It may say why no other session opens.
                self._opening = False
            case TurnStarted():
                self._running = True
            case TurnEnded():
                self._running = self._pressed = False
                if event.status != "success":
                    self.say(f"The turn has ended: {event.status}.")
            case ModeChanged():
                if self.mode and event.mode != self.mode:
                    self.say(f"Mode {event.mode}.")
                self.mode = event.mode
            case ModelChanged():
                self._model = event.model
                if event.chosen:
                    self.say(f"Model {event.model}.")
            case _:
                self._question_event(event)
        self._teller.tell(event)

    def _question_event(self, event: HostEvent) -> None:
        match event:
            case ApprovalRequested():
                self._asked.append(questions.approval(self.client, event))
            case QuestionsAsked():
                self._asked.append(questions.from_agent(self.client, event))
            case LimitAsked():
                self._asked.append(questions.limit(self.client, event))
            case TrustAsked():
                self._asked.append(questions.trust(self.client, event))
            case ApprovalResolved() | QuestionsResolved() | LimitResolved() | TrustAnswered():
                kept = [each for each in self._asked if each.request_id != event.request_id]
                if len(kept) < len(self._asked):
                    self._asked = deque(kept)
                    outcome = getattr(event, "outcome", "")
                    self.say(f"The question is no longer open{f': {outcome}' if outcome else ''}.")

    def _held(self, event: SessionHeld) -> None:
        self._opened = self._opening = self._running = False
        owner = f" (process {event.owner})" if event.owner else ""
        where = "has let the session go." if event.free else f"has the session open{owner}."
        close = "" if event.free else "Close it there, then "
        self.say(f"Another window {where} {close}/resume {event.session_id} opens it here.")
        if not self._person:
            self._status, self._over = 1, True

    def _failed(self, event: Failed) -> None:
        self._opening = False
        self.say(
            f"Error: {one_line(event.message, 1_000)} {one_line(event.remedy, 1_000)}".rstrip()
        )
        if not self._opened:
            self._status = 1
            self._over = not self._person

    def _close(self) -> None:
        try:
            self.client.close().result(_CLOSING)
        except TimeoutError:
            self.say("The session did not close in order.")
        for event in self.client.drain():
            if isinstance(event, SessionClosed):
                self._resume = event.resume_command
        if self._resume:
            self.say(f"Resume with: {self._resume} --plain")
