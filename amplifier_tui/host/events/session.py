"""A session opens, closes, fails or has a word to say; its modules come and go."""

from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import (
    CommandCard,
    Level,
    LocalServer,
    Mode,
    NoticeEnd,
    RewindScope,
)

WORKTREE_PREFIX: Final = "amplifier/"
"""What the branch of every git worktree that is made for a session begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(HostEvent):
    """A session is ready for a prompt."""

    bundle: str
    cwd: str
    directory: str
    """The folder of its transcript."""
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    first_prompt: str = ""
    """Shortened; empty in a session in which nothing was said."""
    provider: str = ""
    model: str = ""
    context_window: int = 0
    resumed: bool = False
    earlier: int = 0
    """Stored rows that were not replayed; `SessionClient.history` fetches them."""
    examples: tuple[str, ...] = ()
    """Prompts the bundle suggests for an empty session."""
    branch: str = ""
    draft: str = ""
    """What was written and not sent when the session was left."""
    failed: str = ""
    """The last prompt, where its turn failed: `SessionClient.retry` goes on with it."""
    of_project: bool = False
    """The bundle is the project's, in place of another of that name."""
    gone: str = ""
    """The bundle it was held with, where that is not there any more: `bundle` takes its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeld(HostEvent):
    """The session that was opened is held by another window, or was: here it can only be read.

    What the other window adds follows as replayed events. Ends with the next `SessionOpened`.

    Attributes:
        owner: The process id of the other window; empty when it is not known.
        since: When it opened the session, in Unix seconds; 0 when that is not known.
        free: It has let the session go: `SessionClient.take_over` opens it here.
        prompt: What was sent and could not be: it goes back to its writer.
    """

    owner: str = ""
    since: float = 0.0
    free: bool = False
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(HostEvent):
    """The session went back before a turn, or that was undone.

    Unless only files changed, the conversation as it is now follows as replayed events.

    Attributes:
        scope: What went back.
        undone: It was brought back.
        turns: How many turns were taken back, or brought back; of files alone, whose changes were.
        prompt: What began the turn, where it was taken back.
        restored: Files that have their earlier content again; `removed` are those that are gone.
        kept: Files that stay as they are: somebody else changed them, or perhaps, or an editor has
            text of them that is not saved.
        failed: Files that could not be put back.
        earlier: As of `SessionOpened`.
    """

    turn: int
    scope: RewindScope
    undone: bool = False
    turns: int = 0
    prompt: str = ""
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    earlier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChanged(HostEvent):
    """What a session is called, given by the user, a hook or another program."""

    title: str
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchChanged(HostEvent):
    """Another git branch is checked out where the session works, whoever did that.

    Attributes:
        branch: As in `SessionOpened`; empty where there is no repository any more.
    """

    branch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningReported(HostEvent):
    """What the session goes without, or has otherwise than its bundle asks for.

    Sent once after `SessionOpened`, unless there is nothing to report.

    Attributes:
        ready: Modules that are mounted.
    """

    ready: int = 0
    items: tuple[ReportItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed(HostEvent):
    """A session ended.

    Attributes:
        resume_command: Opens it again; empty when nothing was said in it, or it can't be opened.
        unsaved: What of it the disk did not take, and why, one sentence; it is lost.
        ends: What of it does not hold when it is opened again, one sentence; empty for nothing.
        aside: What was moved aside in it and is still there, one sentence; empty for nothing.
    """

    reason: str = ""
    resume_command: str = ""
    last_answer: str = ""
    unsaved: str = ""
    ends: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingChanged(HostEvent):
    """The disk takes the session no more, or again; what waits for it is in memory until then.

    Attributes:
        problem: Why it does not; empty when it does.
    """

    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(HostEvent):
    """Something went wrong that the user should see in the conversation.

    Attributes:
        kind: Stable word to switch on: `no_provider`, `authentication`, `rate_limit`,
            `overloaded`, `not_found`, `context_length`, `network`, `stream`, `bundle`,
            `untrusted`, `internal`, …
        message: What happened, one sentence.
        remedy: What the user can do, one sentence.
        retryable: True when the retry key makes sense.
        retry_after: Seconds the server asked to wait.
        prompt: The prompt that was not answered, so that it can be sent again.
        source: The context source that failed before the model was asked; the turn can go on
            without it (`SessionClient.retry`). Empty for every other failure.
        missing: Names of environment variables that would help: they are not set, or hold a key
            that was not accepted (`authentication`).
        back: The model that answered until the user switched to the one that failed; see
            `SessionClient.switch_model_back`.
        module: The module whose code is wrong, or did not reach what it needs; else empty.
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
    back: str = ""
    module: str = ""
    detail: str = ""


_OF_CONVERSATION: Final = frozenset(
    ("prompt", "secrets", "mentions", "jobs", "sandbox", "hooks-checkpoint")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(HostEvent):
    """One line for the status bar and the notice history.

    Attributes:
        until: What makes it untrue before its time is over: the session is `opened`, an `answer`
            comes, it is `compacted`, there is another `limit`, or the user is `asked` something.
        module: The module whose code is wrong; empty where it says nothing of that.
        detail: What it opens as, where it stays in the conversation.
    """

    level: Level
    text: str
    source: str = ""
    until: NoticeEnd = ""
    module: str = ""
    detail: str = ""

    @property
    def ends_compaction(self) -> bool:
        """Whether it says that a compaction came to nothing; a done one is a `Compacted`."""
        return self.source == "context" and not self.until

    @property
    def is_of_conversation(self) -> bool:
        """Whether it stays: what became of something in the prompt above it, a job or a file, and
        what can't be taken back.
        """
        return self.source in _OF_CONVERSATION


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged(HostEvent):
    """What goes through unasked from here on; sent when a session opens, too.

    Once more where it turns out that no copies are kept of what commands change.

    Attributes:
        mode: The mode that is applied.
        by: Who set it: `user`, the name of a bundle, `session` where it is the one in which an
            opened session was left and not the settings' own, or empty for the default.
        sandbox: Why commands can't run in a sandbox; empty where they can.
        careful: Commands that only read are asked about as well.
        uncopied: Why no copies are kept of what commands change; empty where they are, or that is
            not known yet.
    """

    mode: Mode
    by: str = ""
    sandbox: str = ""
    careful: bool = False
    uncopied: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandsChanged(HostEvent):
    """What the session's modules bring to be typed; sent before a session opens, too.

    Attributes:
        commands: A prompt that begins with `/name` or `/group:name` gets what one stands for.
        mentions: `server:address` of what MCP servers give; behind an `@` it goes along.
    """

    commands: tuple[CommandCard, ...] = ()
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged(HostEvent):
    """Which model answers from here on; sent when a session opens, too.

    Attributes:
        provider: The name its provider is mounted under.
        context_window: Tokens; 0 when unknown.
        max_output_tokens: Most tokens of an answer; 0 when unknown.
        effort: How hard it is told to think; empty for its provider's way.
        efforts: The levels there are.
        chosen: What the user chose, if that is why it is sent: the model, or the effort alone.
        doubted: It was chosen though its provider does not list it; a notice says so.
    """

    provider: str
    model: str
    context_window: int = 0
    max_output_tokens: int = 0
    effort: str = ""
    efforts: tuple[str, ...] = ()
    chosen: Literal["", "model", "effort"] = ""
    doubted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChanged(HostEvent):
    """What the session may use before it asks; sent when one opens that has a limit, too.

    Attributes:
        cost: US dollars, as decimal text; empty for no limit.
        tokens: Tokens, read and written; 0 for no limit.
    """

    cost: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServersFound(HostEvent):
    """Model servers were looked for; sent where the session has no provider.

    Attributes:
        servers: Those that list a model.
        problem: Where none was found: which addresses were asked, and what to set.
    """

    servers: tuple[LocalServer, ...]
    problem: str = ""
