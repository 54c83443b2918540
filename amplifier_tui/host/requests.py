"""What a front end asks for: a session, a model, a limit, an answer to a question."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

from amplifier_tui.base.capabilities.client_files import ClientFiles
from amplifier_tui.base.capabilities.client_terminals import ClientTerminals
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Mode, Scope


class SessionPlayback(Protocol):
    """Stands in for the providers and tools of a session that is played again.

    Attributes:
        folder: Where it is stored, in place of its project's sessions; the name is its id.
    """

    folder: Path

    def begin(self, folder: Path, project: Path) -> Path:
        """Return where the session works, which would be in `folder`; in a thread.

        Raises:
            OSError: A copy can't be made.
        """

    async def stand_in(self, session: Any, lane: str) -> None:
        """Mount its providers, from before the first module of the kernel's session of a lane."""

    def opened(self, session: Any) -> None:
        """The modules of the kernel's session of the main lane are mounted."""

    async def execute(
        self,
        name: str,
        tool: Any,
        arguments: Mapping[str, Any],
        run: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Return the result of a call that the gate let through; `run` runs the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """Which session to open.

    Attributes:
        cwd: The user's working directory.
        bundle: Name or URI; empty for the configured or default one.
        resume: Session id or an unambiguous prefix of one; `last` for the newest of `cwd`.
        demo: Take the offline demo bundle, whatever is configured.
        mode: What goes through unasked; empty for what the bundle says, else `ask`.
        model: Who is to answer in this session, its id or `PROVIDER/ID`; empty for what was
            chosen before.
        models: The models the user chose earlier, by bundle.
        session_id: The id of a new session, a UUID as text; empty for a random one.
        appended: Text for the end of the system prompt.
        mcp_servers: Further MCP servers by name, each as `tool-mcp` takes it: the user's own.
        limit: What may be used before the user is asked; None for what the settings say.
        max_requests: How many requests of the conversation, and of sub-agents, are sent at most.
        waits_for_servers: The first prompt waits for MCP servers of which nothing is known yet for
            as long as they may take to start; else for a few seconds.
        shows_busy: A session that another window has open is shown and followed, read-only:
            `SessionHeld`; else it fails to open. `last` passes over it while there is another.
        restores_queue: Prompts that waited when the session was left wait again, until the user's
            next one, and so do those behind a turn that fails; else they stay stored, as does the
            draft, and a turn that fails holds none up.
        unattended: Nobody looks on, as in a script: where others are stored, the `last` of whoever
            `shows_busy` is none that was opened so alone.
        playback: What answers in place of its providers and tools; None for themselves.
        client_files: The text files as the front end has them; None where it has none of its own.
        client_terminals: Where commands may run that need no sandbox; None for in this program.
    """

    cwd: Path
    bundle: str = ""
    resume: str = ""
    demo: bool = False
    mode: Mode | Literal[""] = ""
    model: str = ""
    models: "Mapping[str, ModelChoice]" = field(default_factory=dict)
    limit: "SpendLimit | None" = None
    max_requests: int | None = None
    session_id: str = ""
    appended: str = ""
    mcp_servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    waits_for_servers: bool = False
    shows_busy: bool = False
    restores_queue: bool = True
    unattended: bool = False
    playback: SessionPlayback | None = None
    client_files: ClientFiles | None = None
    client_terminals: ClientTerminals | None = None


def request_problem(request: OpenRequest, *, stored: bool) -> tuple[str, str]:
    """Return why no session can be opened as requested and what to do; both empty where one can.

    Args:
        stored: It goes on from another session, which may have been in a folder that is gone.
    """
    # Other programs write requests, and not all of them have their types checked.
    cwd: object = request.cwd
    modes = get_args(Mode)
    if not isinstance(cwd, Path):
        return f"cwd is a {type(cwd).__name__}: {cwd!r}", "Give a pathlib.Path."
    if not stored and not cwd.is_dir():
        return f"There is no folder {cwd}", "Create it, or open the session in another folder."
    if request.mode and request.mode not in modes:
        return f"There is no mode {request.mode!r}", f"Modes are {', '.join(modes)}."
    return "", ""


ExportForm = Literal["markdown", "html", "json", "jsonl", "csv"]
"""The conversation as one of the first three; the event log as one of the last two."""


EXPORT_SUFFIXES: Final[Mapping[ExportForm, str]] = {
    "markdown": ".md",
    "html": ".html",
    "json": ".json",
    "jsonl": ".jsonl",
    "csv": ".csv",
}


def form_of(path: str) -> ExportForm:
    """Return the form that a file's name ends like; Markdown for any other."""
    lowered = path.lower()
    fitting = (form for form, suffix in EXPORT_SUFFIXES.items() if lowered.endswith(suffix))
    return next(fitting, "markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What of a session is written to a file.

    Attributes:
        path: The file, as the user wrote it: relative to the working directory, or with `~`.
        from_turn: The turn a conversation begins with, numbered as in `TurnStarted`.
        tools: Whether what tools gave back is in it; their calls always are.
        thinking: Whether the model's reasoning is.
        events: Filter of the event log, such as `tool:* >100ms`; empty for all.
        replace: Replace a file that is there.
    """

    path: str
    form: ExportForm = "markdown"
    from_turn: int = 1
    tools: bool = True
    thinking: bool = False
    events: str = ""
    replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimit:
    """What a session and its sub-agents may use before the user is asked.

    Attributes:
        cost: US dollars, as decimal text; empty for any amount.
        tokens: Tokens, read and written; 0 for any number.
    """

    cost: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model, and how hard it thinks; what is empty is left to the bundle.

    Attributes:
        provider: The name it is mounted under.
        effort: One of the levels the provider names.
        context_window: Tokens of its window; 0 when unknown.
        max_output_tokens: Most tokens of an answer; 0 when unknown.
    """

    provider: str = ""
    model: str = ""
    effort: str = ""
    context_window: int = 0
    max_output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The user's answer to an `ApprovalRequested`.

    Attributes:
        allow: Grant or deny.
        scope: How long the answer holds; only those the request offers.
        reason: One line for the model: it is told `User denied: <reason>`.
        expired: Nobody answers in time; what the request does then counts, and nothing else here.
        unasked: Nobody is there to be asked; it is denied for the reason.
    """

    allow: bool
    scope: Scope = "once"
    reason: str = ""
    expired: bool = False
    unasked: bool = False
