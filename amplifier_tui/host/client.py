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

from amplifier_tui.host.events import HostEvent, Scope

BundleState = Literal["ready", "needs_key", "not_fetched", "invalid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """Which session to open.

    Attributes:
        cwd: The user's working directory.
        bundle: Name or URI; empty for the configured or default one.
        resume: Session id or an unambiguous prefix of one; `last` for the newest of `cwd`.
        demo: Take the offline demo bundle, whatever is configured.
    """

    cwd: Path
    bundle: str = ""
    resume: str = ""
    demo: bool = False


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
    """With file and line, when `state` is `invalid`."""
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
    skipped: tuple[str, ...] = ()
    """Includes that could not be loaded, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCard:
    """One stored session."""

    session_id: str
    title: str = ""
    bundle: str = ""
    first_prompt: str = ""
    turns: int = 0
    updated: float = 0.0
    cwd: str = ""
    directory: str = ""


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

    def interrupt(self, immediate: bool = False) -> None:
        """Stop the running turn: after the current step, or at once."""

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request; a request that is gone is ignored."""

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

    def drain(self) -> list[HostEvent]:
        """Take the events that came since the last call. Called by the front end's thread only."""

    def set_waker(self, wake: Callable[[], None] | None) -> None:
        """Have `wake` called from the engine thread when `drain` has something new."""

    def close(self) -> "Future[None]":
        """End the session and the engine; every row is on disk when the future is done."""
