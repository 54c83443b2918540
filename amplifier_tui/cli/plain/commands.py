"""What begins with a slash in the line mode."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.base.text import one_line
from amplifier_tui.cli.plain.choices import Next, NumberedChoice, NumberedQuestion
from amplifier_tui.ui.keys.module_commands import (
    by_typed_name,
    is_command,
    is_mistyped,
    no_command,
)
from amplifier_tui.ui.state.formats import plural

if TYPE_CHECKING:
    from amplifier_tui.host.client import ModelCard, SessionClient, SessionList
    from amplifier_tui.host.events import CommandCard, Mode

_MODES: Final[dict["Mode", str]] = {
    "plan": "plan: only reads, and proposes",
    "ask": "ask: asks before it writes or runs commands",
    "edits": "edits: writes in the workspace unasked, asks about commands",
    "auto": "auto: writes and runs commands unasked, in a sandbox where there is one",
}
_MOST: Final = 30
"""Rows of a list that are read out."""


class CommandedSession(Protocol):
    """What the commands work on."""

    client: "SessionClient"
    cwd: str
    attached: list[str]
    module_commands: "tuple[CommandCard, ...]"
    mode: "Mode | Literal['']"

    @property
    def status(self) -> str:
        """What is in use, in words."""

    def say(self, text: str) -> None:
        """Write a line."""

    def ask(self, question: NumberedQuestion | str) -> None:
        """Ask the user something of the program's own, or only say it."""

    def when_done(self, answer: "Future[Any]", then: Callable[[Any], None]) -> None:
        """Call `then` with what the engine answers, or say why it does not."""

    def awaits(self) -> None:
        """Something was asked for that has not begun yet: what is written waits for it."""

    def stop(self) -> bool:
        """Stop what runs; returns whether something did."""

    def quit(self) -> None:
        """End."""


Command = Callable[[CommandedSession, str], None]


def run(session: CommandedSession, line: str) -> bool:
    """Do what a line asks for; returns False where it is for the session."""
    typed, _, argument = line.partition(" ")
    name = typed.removeprefix("/")
    known = (*COMMANDS, *by_typed_name(session.module_commands))
    if name in COMMANDS:
        COMMANDS[name][1](session, argument.strip())
    elif is_command(name, session.module_commands) or not is_mistyped(name, argument, known):
        return False
    else:
        session.say(no_command(name, known, "/help lists them."))
    return True


def _help(session: CommandedSession, _: str) -> None:
    session.say("Write a prompt and press enter. A line that ends in \\ goes on in the next one.")
    session.say("While a turn runs, what you write steers it. Control+c stops it.")
    session.say("@FILE in a prompt sends the file's text along. !COMMAND runs one as you, unasked;")
    session.say("the agent is told with your next prompt, and not at all with !!COMMAND.")
    for name, (about, _command) in COMMANDS.items():
        session.say(f"/{name}  {about}")
    for card in session.module_commands:
        name = card.name if card.name not in COMMANDS else f"{card.group}:{card.name}"
        session.say(f"/{name}  {one_line(card.description)}")


def _mode(session: CommandedSession, wanted: str) -> None:
    def choose(mode: "Mode") -> Next:
        session.client.set_mode(mode)
        return None

    # What the last one lets through is read before it is chosen.
    for mode in _MODES:
        if wanted == mode != "auto":
            choose(mode)
            return
    rows = [NumberedChoice(about, partial(choose, mode)) for mode, about in _MODES.items()]
    session.ask(_listed(f"The mode is {session.mode or 'not known yet'}.", rows))


def _model(session: CommandedSession, wanted: str) -> None:
    if wanted:
        session.client.switch_model(wanted)
        return

    def choose(card: "ModelCard") -> Next:
        session.client.switch_model(card.model, card.provider)
        return None

    def show(cards: "tuple[ModelCard, ...]") -> None:
        for card in cards:
            if card.problem:
                session.say(f"{card.provider}: {card.problem}")
        known = [card for card in cards if card.model][:_MOST]
        rows = [
            NumberedChoice(
                f"{one_line(card.title or card.model)}{', in use' if card.current else ''}",
                partial(choose, card),
            )
            for card in known
        ]
        session.ask(_listed("Models:" if rows else "There are no models.", rows))

    session.when_done(session.client.models(), show)


def _sessions(session: CommandedSession, typed: str) -> None:
    def show(page: "SessionList") -> None:
        if page.problem:
            session.say(page.problem)
        rows = [
            NumberedChoice(
                f"{one_line(card.title or card.first_prompt or 'untitled', 100)}, "
                f"{plural(card.turns, 'turn')}",
                partial(_open, session, card.session_id),
            )
            for card in page.cards[:_MOST]
        ]
        session.ask(_listed("Sessions here:" if rows else "There are no sessions here.", rows))

    session.when_done(session.client.sessions(typed), show)


def _open(session: CommandedSession, session_id: str) -> Next:
    session.awaits()
    session.client.resume(session_id)
    return None


def _resume(session: CommandedSession, session_id: str) -> None:
    if session_id:
        _open(session, session_id)
    else:
        _sessions(session, "")


def _bundle(session: CommandedSession, name: str) -> None:
    if not name:
        listing = as_typed("amplifier-tui bundle list")
        session.say(f"Say which: /bundle NAME. `{listing}` lists them.")
        return
    session.awaits()
    session.client.switch_bundle(name)


def _listed(head: str, rows: list[NumberedChoice]) -> NumberedQuestion | str:
    if not rows:
        return head
    rows = [*rows, NumberedChoice("None of these", lambda: None)]
    return NumberedQuestion([head], rows, request_id="", given_up=lambda: None)


def _status(session: CommandedSession, _: str) -> None:
    session.say(session.status)


def _attach(session: CommandedSession, path: str) -> None:
    # Whatever the path is made of, neither of these fails.
    if path and not os.path.isfile(os.path.join(session.cwd, os.path.expanduser(path))):
        session.say(f"Not attached: there is no file {one_line(path, 200)}.")
    elif path:
        session.attached.append(path)
    names = ", ".join(one_line(each, 200) for each in session.attached)
    session.say(f"With your next prompt goes: {names}" if names else "Nothing is attached.")


def _detach(session: CommandedSession, _: str) -> None:
    session.attached.clear()
    session.say("Nothing is attached.")


def _retry(session: CommandedSession, _: str) -> None:
    session.awaits()
    session.client.retry()


def _stop(session: CommandedSession, _: str) -> None:
    if not session.stop():
        session.say("Nothing runs.")


def _quit(session: CommandedSession, _: str) -> None:
    session.quit()


COMMANDS: Final[dict[str, tuple[str, Command]]] = {
    "help": ("Say what can be written here.", _help),
    "status": ("Say which bundle, model and mode are in use.", _status),
    "mode": ("Choose what goes without a question.", _mode),
    "model": ("Choose who answers.", _model),
    "bundle": ("Go on with another bundle, by its name.", _bundle),
    "sessions": ("List the sessions of this folder, and open one.", _sessions),
    "resume": ("Open a session by its id.", _resume),
    "attach": ("Send a file, an image or a PDF along with the next prompt.", _attach),
    "detach": ("Send no file along.", _detach),
    "retry": ("Try the prompt again whose turn failed.", _retry),
    "stop": ("Stop the turn after its step; again, at once.", _stop),
    "quit": ("Close the session and end.", _quit),
}
