"""The line mode: what happens is said in lines, and lines are prompts, answers and commands."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, Literal, TypeVar

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.text import one_line, unsaid, with_remedy
from amplifier_tui.cli.plain import commands, questions
from amplifier_tui.cli.plain.choices import Next, NumberedQuestion
from amplifier_tui.cli.plain.lines import CUT, LineReader, LineWriter, TypedLine
from amplifier_tui.cli.plain.telling import STOPPING, EventTeller, held_words
from amplifier_tui.cli.plain.waiting_questions import WaitingQuestions
from amplifier_tui.cli.wakeup import Wakeup
from amplifier_tui.host.client import OpenRequest, SessionClient
from amplifier_tui.host.events import (
    MAIN_LANE,
    ApprovalRequested,
    ApprovalResolved,
    CommandCard,
    CommandsChanged,
    Failed,
    HostEvent,
    LimitAsked,
    LimitResolved,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    PlanProposed,
    QuestionsAsked,
    QuestionsResolved,
    QueueChanged,
    SessionClosed,
    SessionHeld,
    SessionOpened,
    ShellEnded,
    ShellStarted,
    TerminalWanted,
    TrustAnswered,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.ui.prompt.shell import shell_draft

T = TypeVar("T")

_LOOK: Final = 0.2
"""Seconds between two looks whether a tool takes long."""
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
        self._news = Wakeup()
        self._asked = WaitingQuestions(writer.say, client.hold, person=person)
        self._waiting: list[Callable[[], bool]] = []
        self._resolved: set[str] = set()
        self._continued = ""
        self._session_id = self._bundle = self._model = self._resume = ""
        self._opened = self._running = self._over = self._planned = False
        self._awaited = True
        """What was asked for has not begun."""
        self._errors = ""
        """Errors that were said in this turn."""
        self.cwd = ""
        """The folder of the session that is open."""
        self.attached: list[str] = []
        """Files that go along with the next prompt."""
        self.module_commands: tuple[CommandCard, ...] = ()
        """What the session's modules bring to be typed behind a slash."""
        self._shells: set[str] = set()
        self._interrupts = self._interrupts_seen = 0
        self._pressed = self._left_open = False
        self._status = 0

    def run(self, request: OpenRequest) -> int:
        """Open the session and go on until the user leaves; returns the exit status."""
        self.client.set_waker(self._news.set)
        self._reader.start(self._news.set)
        self.say("amplifier-tui, in lines. /help says what can be written, /quit ends.")
        self.client.open(request)
        while not (self._over or self._writer.gone):
            self._news.wait(_LOOK)
            events = self.client.drain()
            for event in events:
                self._take(event)
            self._waiting = [look for look in self._waiting if not look()]
            self._hear()
            self._see_interrupts()
            if not (self._asked or self._waiting):
                self._teller.say_what_takes_long()
            self._show_question()
            if not events:
                if not self._awaited:
                    self._teller.retell()
                # Between the lines of an answer it would be read out with each of them.
                self._prompt()
                self._end_with_input()
        self._close()
        return self._status

    def say(self, text: str) -> None:
        """Write a line."""
        self._writer.say(text)

    def interrupt(self) -> None:
        """Ctrl+c was pressed; safe in a signal handler."""
        self._interrupts += 1
        self._news.set()

    def stop(self) -> bool:
        """Stop what runs, a turn after its step and then at once; returns whether something did."""
        if self._running:
            self.say("Stopping at once." if self._pressed else STOPPING)
            self.client.interrupt(immediate=self._pressed)
            self._pressed = True
        elif self._shells:
            self.client.stop_shell()
        return self._running or bool(self._shells)

    def quit(self, *, by_system: bool = False) -> None:
        """End; where the system asks for it, the session is offered again at the next start."""
        self._over, self._left_open = True, by_system

    def awaits(self) -> None:
        """Something was asked for that has not begun yet: what is written waits for it."""
        self._awaited = True

    def ask(self, question: NumberedQuestion | str) -> None:
        """Ask the user something of the program's own, or only say it."""
        if isinstance(question, str):
            self.say(question)
        else:
            self._asked.add(question)

    def ask_after(self, answer: "Future[T]", then: Callable[[T], Next]) -> None:
        """Ask what `then` makes of the engine's answer, before anything else."""
        self.when_done(answer, lambda value: self._asked.add_first(then(value)))

    def await_judging(self, request_id: str) -> None:
        """Ask nothing else until what became of a request that was changed is known."""
        self._waiting.append(lambda: request_id in self._resolved or not self._running)

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
        mode = f", mode {self.mode}" if self.mode else ""
        return f"Bundle {self._bundle}, model {self._model or 'none'}{mode}."

    # --- what is written ---------------------------------------------------------------------

    def _hear(self) -> None:
        """Take the lines that can be taken now."""
        while not self._over and self._may_hear() and (line := self._reader.take()) is not None:
            self._writer.line_came()
            self._line(line)
            self._show_question()

    def _show_question(self) -> None:
        if not self._waiting:
            self._asked.show()

    def _end_with_input(self) -> None:
        """Where nobody writes any more, let what runs end without an answer."""
        if not self._reader.ended or self._waiting:
            return
        asked = self._asked.give_up()
        self._over = self._over or not (asked or self._running or self._awaited or self._shells)

    def _may_hear(self) -> bool:
        if self._waiting:
            return False
        if self._asked:
            return self._asked.is_shown
        return not self._awaited and (self._person or not self._running)

    def _line(self, line: TypedLine) -> None:
        self._pressed = self._pressed and line.text.strip() == "/stop"
        if line.cut:
            self.say(CUT)
        if line.cut or self._asked.too_early(line):
            return
        question = self._asked.first
        if line.text.endswith("\\") and (question is None or question.takes_words):
            self._continued += f"{line.text[:-1]}\n"
            return
        text, self._continued = f"{self._continued}{line.text}", ""
        if question is not None:
            self._asked.answer(text)
        elif line.pasted and shell_draft(text.strip()) is not None:
            self.say("Several lines that come at once run no command.")
        else:
            self._write(text)

    def _write(self, text: str) -> Next:
        """Do what the user writes unasked: a command, a prompt, or a word to the running turn."""
        text = text.strip()
        shell = shell_draft(text)
        if not text or (text.startswith("/") and commands.run(self, text)):
            return None
        if not self._opened:
            self.say("No session is open. /bundle NAME opens one, /quit ends.")
        elif shell is not None and not self._person:
            # A line of a file that is piped in is no word of the user's.
            self.say("Commands of your own run at a terminal only; this one was not run.")
        elif shell is not None and shell.command:
            self._awaited = True
            self.client.shell(shell.command, tell=shell.tell)
        elif shell is not None:
            self.say("Write a command behind the !.")
        elif self._running:
            self.client.steer(text)
            self.say("The turn gets that with its next step.")
        else:
            files, self.attached = tuple(self.attached), []
            self._running = True
            self.client.submit(text, files)
        return None

    def _carry_out(self, mode: Mode) -> None:
        self._awaited = True
        self.client.carry_out(mode)

    def _prompt(self) -> None:
        busy = self._running or self._awaited or self._waiting or self._shells
        if self._asked or not busy:
            self._writer.prompt(self._asked.hint)

    def _see_interrupts(self) -> None:
        # One that comes while the last is answered counts too.
        while self._interrupts_seen < self._interrupts:
            self._interrupts_seen += 1
            if self.stop():
                continue
            if self._pressed:
                self.quit()
            else:
                self._pressed, self._continued = True, ""
                self.say("The same again ends the program.")

    # --- what happens ------------------------------------------------------------------------

    def _take(self, event: HostEvent) -> None:
        if event.replayed:
            self._teller.keep(event)
            return
        match event:
            case SessionOpened():
                self._opened, self._awaited, self._running = True, False, False
                self._session_id = event.session_id
                self._bundle, self._model, self.cwd = event.bundle, event.model, event.cwd
                if event.of_project:
                    self.say(f"The bundle is {event.bundle}, of this project.")
                self.say(f"{'Resumed' if event.resumed else 'Opened'} in {event.cwd}.")
                if event.title:
                    self.say(event.title)
                # It is told next: a session that is resumed may have another one than others do.
                self.mode = ""
                self.say(self.status)
            case SessionClosed():
                self._resume = event.resume_command
            case CommandsChanged() if event.agent == MAIN_LANE:
                self.module_commands = event.commands
            case Failed():
                self._failed(event)
            case SessionHeld():
                self._held(event)
            case Notice(source="host", session_id=self._session_id) if self._opened:
                # It may say why no other session opens, or no turn begins.
                self._awaited = False
            case Notice(level="error"):
                # The teller says it; the failure of the turn is mostly the same.
                self._errors += event.text
            case ShellStarted():
                self._shells.add(event.command_id)
                self._awaited = False
            case ShellEnded():
                self._shells.discard(event.command_id)
            case TerminalWanted():
                self._awaited = False
            case TurnStarted():
                self._running, self._awaited, self._errors = True, False, ""
            case PlanProposed():
                self._planned = True
            case TurnEnded():
                self._running = self._pressed = False
                if event.status != "success" and not event.denied:
                    self.say(f"The turn has ended: {event.status}.")
                elif event.remark:
                    otherwise = "Use other words, or another model (/model)." * event.declined
                    self.say(with_remedy(f"{event.remark}.", otherwise))
                planned, self._planned = self._planned, False
                if planned:
                    self._asked.add(questions.plan(self._carry_out, self._write))
            case QueueChanged(held=True) if event.items:
                first = one_line(event.items[0], 80)
                self.say(f"Not sent; it goes after your next prompt: {first}")
            case ModeChanged():
                if event.mode != self.mode:
                    self.say(f"Mode {event.mode}.")
                    if event.mode == "auto" and event.uncopied:
                        self.say(f"Commands can't be undone here: {event.uncopied}.")
                self.mode = event.mode
            case ModelChanged():
                before, self._model = self._model, event.model
                if event.chosen or before != event.model:
                    self.say(f"Model {event.model}.")
            case _:
                self._question_event(event)
        self._teller.tell(event)

    def _question_event(self, event: HostEvent) -> None:
        match event:
            case ApprovalRequested():
                self._asked.add(questions.approval(self, event))
            case QuestionsAsked():
                self._asked.add(questions.from_agent(self.client, event))
            case LimitAsked():
                self._asked.add(questions.limit(self.client, event))
            case TrustAsked() if not self._person:
                # What is piped in was not written for this question.
                questions.leave_out(self, event)
                self._teller.refused = True
            case TrustAsked():
                self._asked.add(questions.trust(self.client, event))
            case ApprovalResolved() | QuestionsResolved() | LimitResolved() | TrustAnswered():
                self._resolved.add(event.request_id)
                self._asked.withdraw(event.request_id, getattr(event, "outcome", ""))

    def _held(self, event: SessionHeld) -> None:
        self._opened = self._awaited = self._running = False
        self.say(held_words(event))
        if not self._person:
            self._status, self._over = 1, True

    def _failed(self, event: Failed) -> None:
        if self._awaited:
            self._teller.forget()
        self._awaited = False
        rest = unsaid(event.message, event.remedy, self._errors)
        if rest:
            head = "" if event.message in self._errors else "Error: "
            self.say(f"{head}{one_line(rest, 2_000)}")
        if not self._opened:
            self._status = 1
            self._over = not self._person

    def _close(self) -> None:
        if self._left_open:
            self.client.keep_left_open()
        try:
            self.client.close().result(_CLOSING)
        except TimeoutError:
            self.say("The session did not close in order.")
        for event in self.client.drain():
            if isinstance(event, SessionClosed):
                self._resume = event.resume_command
                for said in filter(None, (event.unsaved, event.ends)):
                    self.say(f"{said}.")
        if self._resume:
            self.say(f"Resume with: {as_typed(self._resume)} --plain")
