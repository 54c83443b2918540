"""The only door from a front end to the sessions behind it.

A front end calls methods (none blocks, none raises for what a session does wrong) and drains
events. Questions that have an answer return a `Future`. Everything runs on the engine thread.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Literal, Protocol

from amplifier_tui.base.questions import QuestionAnswer as QuestionAnswer
from amplifier_tui.base.questions import QuestionsReply as QuestionsReply
from amplifier_tui.foundation.trust.items import Remember as Remember
from amplifier_tui.foundation.trust.items import TrustDecision as TrustDecision
from amplifier_tui.host.cards import AuditCard as AuditCard
from amplifier_tui.host.cards import BundleCard as BundleCard
from amplifier_tui.host.cards import BundlePreview as BundlePreview
from amplifier_tui.host.cards import BundleState as BundleState
from amplifier_tui.host.cards import CallExplanation as CallExplanation
from amplifier_tui.host.cards import CompactionPreview as CompactionPreview
from amplifier_tui.host.cards import ItemCard as ItemCard
from amplifier_tui.host.cards import MemoryCard as MemoryCard
from amplifier_tui.host.cards import ModelCard as ModelCard
from amplifier_tui.host.cards import ModuleDetails as ModuleDetails
from amplifier_tui.host.cards import ModuleSetting as ModuleSetting
from amplifier_tui.host.cards import PastCall as PastCall
from amplifier_tui.host.cards import PlannedModule as PlannedModule
from amplifier_tui.host.cards import RewindFile as RewindFile
from amplifier_tui.host.cards import RewindPoint as RewindPoint
from amplifier_tui.host.cards import RewindPreview as RewindPreview
from amplifier_tui.host.cards import RuleCard as RuleCard
from amplifier_tui.host.cards import SearchFound as SearchFound
from amplifier_tui.host.cards import SearchHit as SearchHit
from amplifier_tui.host.cards import SessionCard as SessionCard
from amplifier_tui.host.cards import ToolCard as ToolCard
from amplifier_tui.host.events import HostEvent, Mode, RewindScope, Scope
from amplifier_tui.host.requests import Decision as Decision
from amplifier_tui.host.requests import ModelChoice as ModelChoice
from amplifier_tui.host.requests import OpenRequest as OpenRequest
from amplifier_tui.host.requests import SpendLimit as SpendLimit


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

    def unqueue(self, prompt_id: str) -> None:
        """Take a waiting prompt back; one that is gone is ignored.

        Args:
            prompt_id: As in `QueueChanged.ids`.
        """

    def edit_queued(self, prompt_id: str, text: str) -> None:
        """Give a waiting prompt other words; without any it is taken back."""

    def move_queued(self, prompt_id: str, to: int) -> None:
        """Give a waiting prompt another place, counted from 0."""

    def send_queued(self, prompt_id: str = "") -> None:
        """Send a waiting prompt now, the first one without an id.

        While a turn runs it steers that, at its next step.
        """

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

    def tell_agent(self, lane: str, text: str) -> None:
        """Give a sub-agent that works a message at its next step; it becomes a row of its own.

        Leads to a `QueueChanged` and then a `SteerApplied` in its lane, or to a `Notice` that says
        why not.

        Args:
            lane: As in `LaneOpened`.
        """

    def stop_agent(self, lane: str, immediate: bool = False) -> None:
        """Stop one sub-agent, with those it called: after the current step, or at once.

        The call that asked for it gets a result that says so, and the turn goes on. Leads to
        `LaneClosed`, or to a `Notice` where it does not work any more.
        """

    def shell(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        """Run a command line in the session's folder, as the user and not as the agent.

        Nobody is asked and there is no sandbox. Leads to `ShellStarted` and `ShellEnded`; where it
        draws on the terminal or reads keys, to `TerminalWanted`.

        Args:
            tell: Command and output go along with the next prompt.
            in_terminal: It needs the terminal, whatever it looks like.
        """

    def stop_shell(self) -> None:
        """End the command that was started last with `shell`, if one runs."""

    def note_shell(
        self, command: str, *, exit_code: int, seconds: float, tell: bool = True
    ) -> None:
        """Have a command in the conversation that a front end ran in its own terminal.

        Leads to `ShellEnded`.
        """

    def withhold_shell(self) -> None:
        """Send nothing along of the commands that wait for the next prompt."""

    def decide(self, request_id: str, decision: Decision) -> None:
        """Answer an approval request; a request that is gone is ignored."""

    def answer_questions(self, request_id: str, reply: QuestionsReply) -> None:
        """Answer a `QuestionsAsked`, or decline to; one that is gone is ignored.

        Leads to `QuestionsResolved`. A front end that can't ask anybody says `unavailable`.
        """

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

    def call_arguments(self, request_id: str) -> "Future[str]":
        """Return the arguments of the call a request is about, as JSON; empty when it is gone."""

    def change_call(self, request_id: str, arguments: str) -> "Future[str]":
        """Answer a request with other arguments, as JSON: a new call that is judged anew.

        Leads to `ApprovalResolved` and to whatever is decided about the new call.

        Returns:
            What is wrong with them, the request waiting on; empty when they were taken.
        """

    def whole_diff(self, diff: str, *, made: bool) -> "Future[str]":
        """Return a diff with all lines of its files around the changes.

        Args:
            made: The change was made already.

        Raises:
            ValueError: Its files have changed since, or cannot be read; the message says which.
        """

    def hold(self, request_id: str) -> None:
        """Stop a request's clock: the user is reading it."""

    def rule_reach(self, request_id: str) -> "Future[int]":
        """Count the calls of the last 30 days that a request's rule would also have allowed."""

    def rules(self) -> "Future[tuple[RuleCard, ...]]":
        """List the rules that hold in the session, and what is wrong with their files."""

    def add_rule(self, line: str, scope: Scope) -> "Future[str]":
        """Add a rule, and write it down where it holds longer than the session.

        Args:
            line: Its text, with `ask` or `deny` before it where it does not allow.
            scope: `session`, `project` or `always`.

        Returns:
            What is wrong with it, with the column, or why it can't be kept; else nothing.
        """

    def change_rule(self, key: str, line: str) -> "Future[str]":
        """Put another rule in place of one; see `add_rule`."""

    def remove_rule(self, key: str) -> "Future[str]":
        """Take a rule out of force, and out of its file; returns why that is not possible."""

    def explain_call(self, text: str) -> "Future[CallExplanation]":
        """Say what would happen to a call.

        The future raises `ValueError` for a text that is no call.

        Args:
            text: A command line, or `tool(arguments)` as in a rule.
        """

    def audit(self) -> "Future[tuple[AuditCard, ...]]":
        """List what was decided in the project in the last 30 days, the newest first."""

    def switch_bundle(self, name: str, *, carry: bool = True) -> None:
        """Open another bundle in a new session; `carry` takes the conversation along.

        When the bundle cannot be opened the running session is untouched and `Failed` says why.
        """

    def models(self) -> "Future[tuple[ModelCard, ...]]":
        """List the models of every mounted provider, as the vendors list them."""

    def switch_model(self, model: str, provider: str = "") -> None:
        """Have another model answer from the next request on; sub-agents follow.

        Holds for the sessions of this bundle that are opened after, too. Leads to `ModelChanged`,
        or to a `Notice` of the source `model` that says why not.

        Args:
            model: Its id, or `PROVIDER/MODEL`.
            provider: The name its provider is mounted under; empty for whichever has the model.
        """

    def switch_model_back(self) -> None:
        """Undo the last switch, whose model has not answered; see `Failed.back`."""

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

    def rename(self, title: str) -> None:
        """Give the session a title."""

    def bundles(self) -> "Future[tuple[BundleCard, ...]]":
        """List every bundle that can be found without the network, broken ones included."""

    def preview(self, name: str) -> "Future[BundlePreview]":
        """Describe what a bundle would mount."""

    def sessions(self) -> "Future[tuple[SessionCard, ...]]":
        """List the stored sessions of the working directory, newest first."""

    def search(self, typed: str, *, here: bool = False) -> "Future[SearchFound]":
        """Look for words in all stored sessions, and index what is new, in a process of its own.

        `SearchFound.indexing` says that it still runs: asked again, more may be found.

        Args:
            typed: All of these words; the last may be the beginning of one, words in quotation
                marks stand together. Without a word nothing is found.
            here: Only in sessions of the working directory.
        """

    def left_open(self) -> "Future[tuple[SessionCard, ...]]":
        """List the sessions that were open in windows that were killed, the newest first.

        `SessionCard.cwd` is the folder to open each in. One that is open by now is not listed.
        """

    def dismiss_left_open(self, session_ids: tuple[str, ...]) -> None:
        """List sessions no more as left open; they stay stored."""

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

    def items(self) -> "Future[tuple[ItemCard, ...]]":
        """List the items of the next request, the biggest first.

        The future raises `RuntimeError`, with what can be done instead, for a foreign context.
        """

    def choose_item(self, key: str, choice: Literal["pin", "drop", "shorten", ""]) -> None:
        """Pin, drop or shorten an item from the next request on; empty takes that back.

        The stored conversation stays as it is, and calls stay with their results. Leads to
        `ItemChosen` and `BudgetChanged`, or to a `Notice` that says why not.

        Args:
            key: As in `ItemCard`.
        """

    def undo_item(self) -> None:
        """Take the last of these decisions back."""

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
            overwrite: Files that go back although somebody else changed them since; all others of
                these stay as they are.
        """

    def undo_rewind(self) -> None:
        """Bring back what was taken back last, as long as the conversation has not gone on.

        Leads to `Rewound`, or to a `Notice` that says why not.
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
