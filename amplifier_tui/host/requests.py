"""What a front end asks for: a session, a model, a limit, an answer to a question."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Mode, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """Which session to open.

    Attributes:
        cwd: The user's working directory.
        bundle: Name or URI; empty for the configured or default one.
        resume: Session id or an unambiguous prefix of one; `last` for the newest of `cwd`.
        demo: Take the offline demo bundle, whatever is configured.
        mode: What goes through unasked; empty for what the bundle says, else `ask`.
        models: The models the user chose earlier, by bundle.
        session_id: The id of a new session, a UUID as text; empty for a random one.
        appended: Text for the end of the system prompt.
        limit: What may be used before the user is asked; None for what the settings say.
    """

    cwd: Path
    bundle: str = ""
    resume: str = ""
    demo: bool = False
    mode: Mode | Literal[""] = ""
    models: "Mapping[str, ModelChoice]" = field(default_factory=dict)
    limit: "SpendLimit | None" = None
    session_id: str = ""
    appended: str = ""


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
    """

    allow: bool
    scope: Scope = "once"
    reason: str = ""
