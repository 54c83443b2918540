"""The only door from a front end to the sessions behind it.

A front end calls methods (none blocks, none raises for what a session does wrong) and drains
events. Questions that have an answer return a `Future`. Everything runs on the engine thread.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Literal, Protocol

from amplifier_tui.base.capabilities.context_items import ItemCard as ItemCard
from amplifier_tui.base.capabilities.mcp import ServerStatus as ServerStatus
from amplifier_tui.base.capabilities.questions import QuestionAnswer as QuestionAnswer
from amplifier_tui.base.capabilities.questions import QuestionsReply as QuestionsReply
from amplifier_tui.foundation.trust.items import Remember as Remember
from amplifier_tui.foundation.trust.items import TrustDecision as TrustDecision
from amplifier_tui.host.cards import AuditCard as AuditCard
from amplifier_tui.host.cards import BundleCard as BundleCard
from amplifier_tui.host.cards import BundlePreview as BundlePreview
from amplifier_tui.host.cards import BundleState as BundleState
from amplifier_tui.host.cards import CallExplanation as CallExplanation
from amplifier_tui.host.cards import CompactionPreview as CompactionPreview
from amplifier_tui.host.cards import ExportedFile as ExportedFile
from amplifier_tui.host.cards import MemoryCard as MemoryCard
from amplifier_tui.host.cards import ModelCard as ModelCard
from amplifier_tui.host.cards import ModuleDetails as ModuleDetails
from amplifier_tui.host.cards import ModuleSetting as ModuleSetting
from amplifier_tui.host.cards import PastCall as PastCall
from amplifier_tui.host.cards import PlannedModule as PlannedModule
from amplifier_tui.host.cards import RuleCard as RuleCard
from amplifier_tui.host.cards import SetAsideCard as SetAsideCard
from amplifier_tui.host.cards import ToolCard as ToolCard
from amplifier_tui.host.cards import WorktreeCard as WorktreeCard
from amplifier_tui.host.cards import WorktreeMerge as WorktreeMerge
from amplifier_tui.host.events import HostEvent, Mode, RewindScope
from amplifier_tui.host.imported_cards import ImportedCard as ImportedCard
from amplifier_tui.host.imported_cards import ImportedText as ImportedText
from amplifier_tui.host.protocol.context import ContextClient
from amplifier_tui.host.protocol.modules import ModuleClient
from amplifier_tui.host.protocol.permissions import PermissionClient
from amplifier_tui.host.protocol.stored import StoredClient
from amplifier_tui.host.protocol.turns import TurnClient
from amplifier_tui.host.protocol.worktrees import WorktreeClient
from amplifier_tui.host.requests import EXPORT_SUFFIXES as EXPORT_SUFFIXES
from amplifier_tui.host.requests import Decision as Decision
from amplifier_tui.host.requests import ExportForm as ExportForm
from amplifier_tui.host.requests import ExportRequest as ExportRequest
from amplifier_tui.host.requests import ModelChoice as ModelChoice
from amplifier_tui.host.requests import OpenRequest as OpenRequest
from amplifier_tui.host.requests import SpendLimit as SpendLimit
from amplifier_tui.host.requests import form_of as form_of
from amplifier_tui.host.rewind_cards import RewindFile as RewindFile
from amplifier_tui.host.rewind_cards import RewindPoint as RewindPoint
from amplifier_tui.host.rewind_cards import RewindPreview as RewindPreview
from amplifier_tui.host.stored_cards import SearchFound as SearchFound
from amplifier_tui.host.stored_cards import SearchHit as SearchHit
from amplifier_tui.host.stored_cards import SessionCard as SessionCard
from amplifier_tui.host.stored_cards import SessionDetails as SessionDetails
from amplifier_tui.host.stored_cards import SessionList as SessionList
from amplifier_tui.host.stored_cards import named_alike as named_alike


class SessionClient(
    TurnClient,
    PermissionClient,
    ContextClient,
    ModuleClient,
    StoredClient,
    WorktreeClient,
    Protocol,
):
    """Runs one session at a time for a front end; `beside` makes the client of another one."""

    def beside(self) -> "SessionClient":
        """Return the client of another session, which runs beside this one once it is opened.

        It has an engine thread, events and an end of its own: what blocks or ends the one does
        not touch the other. Trust is asked for as here, and the models chosen in the one answer
        in the other, too.
        """

    def open(self, request: OpenRequest) -> None:
        """Start the engine if need be and open a session.

        Leads to `SessionOpened`, or to `Failed` with the session that ran before untouched.
        """

    def open_again(self) -> None:
        """Open anew what was asked for last; only while no session is open.

        It could not be opened, or is being opened, which is given up.
        """

    def switch_bundle(
        self, name: str, *, carry: bool = True, mode: Mode | Literal[""] = ""
    ) -> None:
        """Open another bundle in a new session.

        When the bundle cannot be opened the running session is untouched and `Failed` says why.

        Args:
            carry: The conversation goes along, in the mode that was chosen for it.
            mode: As in `OpenRequest`, for a session that begins without it.
        """

    def models(self) -> "Future[tuple[ModelCard, ...]]":
        """List the models of every mounted provider, as the vendors list them."""

    def switch_model(self, model: str, provider: str = "") -> None:
        """Have another model answer from the next request on; sub-agents follow.

        Holds for the sessions of this bundle that are opened after, too. Leads to `ModelChanged`,
        or to a `Notice` of the source `model` that says why not.

        Args:
            model: Its id, a part that one listed id alone has, or `PROVIDER/MODEL`.
            provider: The name its provider is mounted under; empty for whichever has the model.
                With it an id is taken as it stands, also one that the provider does not list.
        """

    def switch_model_back(self) -> None:
        """Switch to the model of before the last switch, or to `Failed.back`; then back again."""

    def set_effort(self, effort: str) -> None:
        """Have the model think so hard from the next request on; empty for its provider's way.

        Leads to `ModelChanged`.
        """

    def set_limit(self, limit: SpendLimit) -> None:
        """Ask before more than that is used; holds for the sessions opened after, too.

        Leads to `LimitChanged`; what waits at a limit is looked at again.
        """

    def answer_limit(self, request_id: str, *, go: bool) -> None:
        """Let the request of a `LimitAsked` go, this once, or stop the turn."""

    def set_up(self, variables: Mapping[str, str], bundle: str = "") -> None:
        """Try what a provider needs with one small request to it, and keep it if that is answered.

        The variables are put into `keys.env`, readable by the user alone, and into this program's
        environment, and the conversation goes on in a new session: `SessionOpened`. Without an
        answer nothing changes. A `Notice` says what was kept, or why nothing was.

        Args:
            variables: Names and values, such as an API key.
            bundle: What to open with them; empty for the bundle that is open.
        """

    def resume(self, session_id: str) -> None:
        """Close the session and open a stored one."""

    def save_again(self) -> "Future[str]":
        """Write what of the session waits for the disk; see `SavingChanged`.

        The future gives what the disk still does not take, and why; empty when all is there.
        """

    def rename(self, title: str) -> None:
        """Give the session a title."""

    def bundles(self) -> "Future[tuple[BundleCard, ...]]":
        """List every bundle that can be found without the network, broken ones included."""

    def preview(self, name: str) -> "Future[BundlePreview]":
        """Describe what a bundle would mount."""

    def history(self, before: int, limit: int = 200) -> "Future[tuple[HostEvent, ...]]":
        """Return replayed events of stored rows before row `before`."""

    def payload(self, seq: int) -> "Future[str]":
        """Return the full JSON payload of an event log row, from disk, secrets redacted."""

    def export(self, request: ExportRequest) -> "Future[ExportedFile]":
        """Write the session, or its event log, to a file without secrets: all of it, or nothing.

        A file that is there is replaced only where the request says so; what can't be written is
        said in `ExportedFile.problem`.
        """

    def fork(self, before_turn: int | None = None) -> None:
        """Copy the stored conversation into a new session and open that.

        The session that was open is closed, untouched and resumable. Leads to `SessionOpened`,
        or to `Failed` with the session left open.

        Args:
            before_turn: Copy what came before this turn, numbered as in `TurnStarted`; None
                copies all.
        """

    def rewind_points(self) -> "Future[tuple[RewindPoint, ...]]":
        """List the prompts that the session can go back before, the newest first."""

    def preview_rewind(self, turn: int) -> "Future[RewindPreview]":
        """Describe what going back before a turn would do; nothing changes.

        The future raises `RuntimeError`, with one sentence, when there is no such turn.
        """

    def rewind_diff(self, turn: int, path: str) -> "Future[str]":
        """Return what going back before a turn does to a file, as a unified diff."""

    def rewind(
        self, turn: int, scope: RewindScope = "both", overwrite: tuple[str, ...] = ()
    ) -> None:
        """Go back before a turn: the conversation, the files, or both.

        What is taken back is kept, and `undo_rewind` brings it back. Leads to `Rewound`, or to a
        `Notice` that says why not. While a turn runs it is refused.

        Args:
            turn: The first turn that is taken back, numbered as in `TurnStarted`.
            overwrite: Files that go back although somebody else changed them since, or perhaps
                while a command ran; all others of these stay as they are.
        """

    def undo_rewind(self) -> None:
        """Bring back what was taken back last, as long as the conversation has not gone on.

        Leads to `Rewound`, or to a `Notice` that says why not.
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
        """End the session and its engine; every row is on disk when the future is done.

        Sessions beside it go on.
        """
