"""A session opens, closes, fails, or has a word to say."""

from dataclasses import dataclass

from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(HostEvent):
    """A session is ready for a prompt."""

    bundle: str
    cwd: str
    directory: str
    """The folder of its transcript."""
    title: str = ""
    provider: str = ""
    model: str = ""
    context_window: int = 0
    resumed: bool = False
    earlier: int = 0
    """Stored rows that were not replayed; `SessionClient.history` fetches them."""
    examples: tuple[str, ...] = ()
    """Prompts the bundle suggests for an empty session."""
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed(HostEvent):
    """A session ended; `resume_command` opens it again, empty when nothing was said in it."""

    reason: str = ""
    resume_command: str = ""
    last_answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(HostEvent):
    """Something went wrong that the user should see in the conversation.

    Attributes:
        kind: Stable word to switch on: `no_provider`, `authentication`, `rate_limit`,
            `overloaded`, `not_found`, `context_length`, `network`, `stream`, `bundle`,
            `internal`, …
        message: What happened, one sentence.
        remedy: What the user can do, one sentence.
        retryable: True when the retry key makes sense.
        retry_after: Seconds the server asked to wait.
        prompt: The prompt that was not answered, so that it can be sent again.
        source: The context source that failed before the model was asked; the turn can go on
            without it (`SessionClient.retry`). Empty for every other failure.
        missing: Names of environment variables that would help.
        detail: The long form, for the inspector; never shown unasked.
    """

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False
    retry_after: float | None = None
    prompt: str = ""
    source: str = ""
    missing: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(HostEvent):
    """One line for the status bar and the notice history."""

    level: Level
    text: str
    source: str = ""
