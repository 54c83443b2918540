"""The only door from a front end to the sessions behind it.

A front end calls methods (none blocks, none raises for what a session does wrong) and drains
events. Questions that have an answer return a `Future`. Everything runs on the engine thread;
see `architecture.md` sections 1 and 3.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from amplifier_tui.foundation.trust.items import Remember as Remember
from amplifier_tui.foundation.trust.items import TrustDecision as TrustDecision
from amplifier_tui.host.events import HostEvent, Mode, PlanStep, ReportItem, Scope

BundleState = Literal["ready", "incomplete", "needs_key", "not_fetched", "invalid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """Which session to open.

    Attributes:
        cwd: The user's working directory.
        bundle: Name or URI; empty for the configured or default one.
        resume: Session id or an unambiguous prefix of one; `last` for the newest of `cwd`.
        demo: Take the offline demo bundle, whatever is configured.
        mode: What goes through unasked; empty for what the bundle says, else `ask`.
    """

    cwd: Path
    bundle: str = ""
    resume: str = ""
    demo: bool = False
    mode: Mode | Literal[""] = ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleCard:
    """One line of the bundle picker."""

    name: str
    description: str = ""
    origin: str = ""
    """`shipped`, `user`, `project`, `added`, or the URI."""
    state: BundleState = "ready"
    error: str = ""
    """Why it is not ready; with file and line, when `state` is `invalid`."""
    active: bool = False
    missing: tuple[str, ...] = ()
    """Environment variables its providers need and do not find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedModule:
    """One module a bundle would mount."""

    module_id: str
    kind: str
    source: str = ""
    origin: str = ""
    """The bundle that contributes it."""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundlePreview:
    """What the picker shows beside the list; no bundle code has run to make it."""

    card: BundleCard
    version: str = ""
    modules: tuple[PlannedModule, ...] = ()
    agents: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    base_tokens: int = 0
    """Estimate of the instruction and context files; tool schemas are not known before mounting."""
    report: tuple[ReportItem, ...] = ()
    """What it would open without, as far as that is known without running it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCard:
    """One stored session."""

    session_id: str
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    bundle: str = ""
    first_prompt: str = ""
    turns: int = 0
    updated: float = 0.0
    cwd: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPreview:
    """What compacting the conversation now would do; nothing of it has been done.

    Attributes:
        possible: Whether it would save anything.
        before: Tokens of the next request as it is.
        after: Tokens of it after a compaction by rule.
        target: Where a compaction aims; 0 when unknown.
        floor: What no compaction can remove.
        steps: What would happen, the largest saving first.
        kept: What stays as it is, in words.
        reason: Why nothing would be saved, or why this context cannot be compacted by hand.
        model: The model that would write a summary; empty when none can.
    """

    possible: bool
    before: int = 0
    after: int = 0
    target: int = 0
    floor: int = 0
    steps: tuple[PlanStep, ...] = ()
    kept: tuple[str, ...] = ()
    reason: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """One stored memory.

    Attributes:
        memory_id: What `forget` takes.
        text: What was remembered.
        created: Unix time in seconds.
        session_id: The session it was made in; empty when unknown.
        everywhere: True when it counts in every project, False for this project only.
    """

    memory_id: int
    text: str
    created: float = 0.0
    session_id: str = ""
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSetting:
    """One setting of a module.

    Attributes:
        value: As JSON; secrets are replaced.
        owner: Whose word the value is: `program`, `user`, `project` or `stranger`.
        where: File and line it is from, or the bundle; empty for a default.
        about: What the value has to be, in words; empty when that is not known.
        given: It is in the module's configuration; else this is the default.
        editable: `configure` may change it.
    """

    name: str
    value: str
    owner: str = ""
    where: str = ""
    about: str = ""
    given: bool = True
    editable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCard:
    """One tool of a module; `schema` is JSON."""

    name: str
    description: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleDetails:
    """What a module of the session is made of; `key` is what the methods on modules take."""

    key: str
    settings: tuple[ModuleSetting, ...] = ()
    tools: tuple[ToolCard, ...] = ()
    folder: str = ""
    """Where its code is, as far as that is known."""


class SessionClient(Protocol):
    """Runs one session at a time for a front end."""

    def open(self, request: OpenRequest) -> None:
        """Start the engine if need be and open a session.

        Leads to `SessionOpened`, or to `Failed` with the session that ran before untouched.
        """

    def submit(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        """Send a prompt. While a turn runs it is queued."""

    def steer(self, text: str) -> None:
        """Give the running turn a message at its next step; without a turn, submit it."""

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn; without a turn, at once."""

    def unqueue(self, index: int) -> None:
        """Take a waiting prompt back; an index that is gone is ignored."""

    def retry(self, *, without: str = "") -> None:
        """Go on with the prompt whose turn failed, which is in the conversation already.

        Args:
            without: A context source to leave out for the rest of the session; see
                `Failed.source`.

        Leads to `TurnStarted`. A turn that cannot be gone on with (none failed, or one runs) is
        said in a `Notice`.
        """

    def interrupt(self, immediate: bool = False) -> None:
        """Stop the running turn: after the current step, or at once."""

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request; a request that is gone is ignored."""

    def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        """Answer a `TrustAsked`; one that is gone is ignored."""

    def set_mode(self, mode: Mode) -> None:
        """Change what goes through unasked; holds for the sessions opened after, too.

        Leads to `ModeChanged`, and to `ApprovalResolved` for what need not be asked any more.
        """

    def carry_out(self, mode: Mode) -> None:
        """Leave the plan mode for another one and have the agent do what it proposed.

        Leads to `ModeChanged` and `TurnStarted`, or to a `Notice` where there is no plan.
        """

    def ask_trust_again(self) -> None:
        """Forget what was refused when the session was opened, and open its bundle anew."""

    def hold(self, request_id: str) -> None:
        """Stop a request's clock: the user is reading it."""

    def switch_bundle(self, name: str, *, carry: bool = True) -> None:
        """Open another bundle in a new session; `carry` takes the conversation along.

        When the bundle cannot be opened the running session is untouched and `Failed` says why.
        """

    def resume(self, session_id: str) -> None:
        """Close the session and open a stored one."""

    def rename(self, title: str) -> None:
        """Give the session a title."""

    def bundles(self) -> "Future[tuple[BundleCard, ...]]":
        """List every bundle that can be found without the network, broken ones included."""

    def preview(self, name: str) -> "Future[BundlePreview]":
        """Describe what a bundle would mount."""

    def sessions(self) -> "Future[tuple[SessionCard, ...]]":
        """List the stored sessions of the working directory, newest first."""

    def history(self, before: int, limit: int = 200) -> "Future[tuple[HostEvent, ...]]":
        """Return replayed events of stored rows before row `before`."""

    def payload(self, seq: int) -> "Future[str]":
        """Return the full JSON payload of an event log row, from disk, secrets redacted."""

    def compaction(self) -> "Future[CompactionPreview]":
        """Describe what `compact` would do now."""

    def compact(self, instructions: str | None = None) -> None:
        """Make the view of the conversation smaller; the stored conversation stays as it is.

        Leads to `Compacted` and `BudgetChanged`, or to a `Notice` that says why not. While a turn
        runs it is refused with a `Notice`.

        Args:
            instructions: None to compact by rule, without a model. Otherwise the session's model
                writes a summary, and these are its instructions; may be empty.
        """

    def remember(self, text: str, *, everywhere: bool = False) -> None:
        """Store a memory, for this project or for all; a `Notice` says so, or why not."""

    def forget(self, memory_id: int) -> None:
        """Delete a memory; a `Notice` says so."""

    def memories(self) -> "Future[tuple[MemoryCard, ...]]":
        """List the memories of this project and those for all, newest first.

        The future raises `RuntimeError`, with one sentence, when the session has no memory.
        """

    def fork(self, before_turn: int | None = None) -> None:
        """Copy the stored conversation into a new session and open that.

        The session that was open is closed, untouched and resumable. Leads to `SessionOpened`,
        or to `Failed` with the session left open.

        Args:
            before_turn: Copy what came before this turn, numbered as in `TurnStarted`; None
                copies all.
        """

    def mount(self, wanted: str) -> None:
        """Mount a module: a key or an id, or the folder of one.

        Leads to `ModuleMounted`, or to `ModuleFailed`. Like every change of a module it is made at
        the next safe point of a turn that runs; a `Notice` says when, and what came of it.
        """

    def unmount(self, key: str) -> None:
        """Take a module out of the session; leads to `ModuleUnmounted`.

        Args:
            key: Its id, with `#` and the instance where there are several.
        """

    def reload(self, key: str) -> None:
        """Run a module's source anew, or try one again that is not mounted.

        Leads to `ModuleMounted`; or to `ModuleFailed` with `kept`, and what was there goes on.
        """

    def switch_module(self, key: str, *, on: bool) -> None:
        """Switch a module off for this session, also when it is resumed; or on again."""

    def configure(self, key: str, setting: str, value: str) -> None:
        """Give a module another value of a setting for this session; it is mounted anew with it.

        Args:
            value: As JSON; what is no JSON is a text. Empty for the module's own default.
        """

    def module_details(self, key: str) -> "Future[ModuleDetails]":
        """Describe a module of the session.

        The future raises `RuntimeError`, with one sentence, when there is no such module.
        """

    def drain(self, limit: int = 0) -> list[HostEvent]:
        """Take the events that came since the last call. Called by the front end's thread only.

        Args:
            limit: How many at most, the oldest first; 0 for all. Where that many come, more may
                wait, and nobody is woken for them.
        """

    def set_waker(self, wake: Callable[[], None] | None) -> None:
        """Have `wake` called from the engine thread when `drain` has something new."""

    def close(self) -> "Future[None]":
        """End the session and the engine; every row is on disk when the future is done."""
