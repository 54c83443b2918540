"""What a server may want of this side while nobody calls it."""

from collections.abc import Awaitable, Callable

from amplifier_tui.base.capabilities.questions import Question, QuestionsReply
from amplifier_tui.base.lazy.dataclass import dataclass

AskUser = Callable[[tuple[Question, ...]], Awaitable[QuestionsReply]]


@dataclass(frozen=True, slots=True)
class ServerCallbacks:
    """Who hears what a server says unasked.

    Attributes:
        wrote: Told of text on the server's stderr, and of what is no message on its stdout.
        logged: Told of its log messages: their level and text.
        changed: Told that what it offers has changed.
        closed: Told that it can't be reached any more, and why.
        ask: Asks the user, for the server; None where nobody can be asked.
        patient: Gives it so many seconds more to start: a person is at work.
    """

    wrote: Callable[[str], None]
    logged: Callable[[str, str], Awaitable[None]]
    changed: Callable[[], None]
    closed: Callable[[str], None]
    ask: Callable[[], AskUser | None]
    patient: Callable[[float], None]
