"""Opening a session: from a request to a session that is ready, or to a reason why not."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.base.python import without_exit
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.catalog import Choice
from amplifier_tui.foundation.checks.module_settings import misspelt_overrides, unset_variables
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.registry.project_bundles import Trust
from amplifier_tui.foundation.settings.settings import SettingsFileError
from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.foundation.trust.servers.reviewing import add_servers
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import HostEvent, ShellEnded, Usage
from amplifier_tui.host.gate.approvals.queue import ApprovalQueue
from amplifier_tui.host.models.limits import first_limit
from amplifier_tui.host.models.routing import NO_CHOICE
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.cleanup.leftovers import offer_to_end_leftovers
from amplifier_tui.host.session.cleanup.pruning import remove_old
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.modules.by_hand import say_unguarded
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.session.modules.loading import (
    check_plan,
    check_runs,
    leave_out_disabled,
    opening_report,
    say_refused,
)
from amplifier_tui.host.session.opening.building import SessionBuilder
from amplifier_tui.host.session.opening.telling import OpeningNotices, say_no_provider
from amplifier_tui.host.session.opening.working_folder import working_folder
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.session.places.references import uri_of
from amplifier_tui.host.store.replay import TAIL, messages_of, turns_before
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.sessions import (
    SessionExistsError,
    find_session,
    last_free_session,
)
from amplifier_tui.host.store.turns.prompts import PromptRow
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.traces import stored_traces
from amplifier_tui.host.trust.answers import TrustMemory
from amplifier_tui.host.trust.rules import allow_rules
from amplifier_tui.host.trust.service import TrustService
from amplifier_tui.kernel.events import SESSION_FORK
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.paths import sessions_dir, shipped_bundles_dir

DEFAULT_BUNDLE: Final = "coding"
DEMO_BUNDLE: Final = "demo"

AFTERWARDS: Final = 0.5
"""Seconds after which a session that has opened looks for what is old: the screen comes first."""

T = TypeVar("T")


class Opening:
    """Opens one session.

    Args:
        trust: Answers for what a project or a stranger brings; a memory asks the user as well.
        asks_as: Session id under which questions are put before the session is on screen; empty
            for its own.
    """

    def __init__(
        self,
        request: OpenRequest,
        put: Callable[[HostEvent], None],
        trust: TrustCallback | TrustMemory,
        carried: Carried | None = None,
        asks_as: str = "",
    ) -> None:
        self._notices = OpeningNotices(put, request.session_id or str(uuid4()))
        self.request = request
        self._put = put
        self._trust = trust
        self._carried = carried
        self._asks_as = asks_as
        self._store: SessionStore | None = None
        self._used: tuple[Usage, ...] = ()
        self._trust_service: TrustService | None = None
        self._unsent: tuple[ShellEnded, ...] = ()
        self._failed: PromptRow | None = None
        self._rules: list[str] = []
        self.facts = ModuleFacts()
        """Its modules, once they are known."""
        self.refused: tuple[TrustItem, ...] = ()
        """What the user does not want of it."""

    @property
    def session_id(self) -> str:
        """The session that is opened."""
        return self._notices.session_id

    @property
    def folder(self) -> Path | None:
        """Where its conversation is, which is shown before it is open; None until it is known."""
        return self._store.folder if self._store is not None else None

    @property
    def redactor(self) -> Redactor:
        """Knows its secrets."""
        return self._notices.redactor

    def answer_trust(self, request_id: str, decision: TrustDecision) -> None:
        """Answer what is asked while it opens."""
        if self._trust_service is not None:
            self._trust_service.answer(request_id, decision)

    async def run(self) -> LiveSession:
        """Open it.

        Returns:
            The session; `SessionOpened` has been sent.

        Raises:
            Exception: Why it can't be opened. Nothing is left behind.
        """
        try:
            with without_exit():
                return await self._run()
        except BaseException:
            if self._store is not None:
                self._store.discard()
            raise

    def _stored_folder(self, cwd: Path) -> Path:
        # Trying the demo is no work to go on with.
        past_demo = not self.request.demo and self.request.bundle != DEMO_BUNDLE
        if not (self.request.shows_busy and self.request.resume == "last"):
            return find_session(cwd, self.request.resume, past_demo=past_demo)
        # Another window's session could only be read here: what was left here is another one.
        folder, passed = last_free_session(cwd, past_demo=past_demo)
        if passed:
            self._notices.session_id = folder.name
            self._notices.say("info", "A newer session of this folder is open in another window")
        return folder

    async def _run(self) -> LiveSession:
        request = self.request
        cwd = await asyncio.to_thread(request.cwd.resolve)
        folder = sessions_dir(cwd) / self.session_id
        if request.session_id and not request.resume and await asyncio.to_thread(folder.exists):
            raise SessionExistsError(f"There is a session {self.session_id} already")
        if request.playback is not None:
            folder = request.playback.folder
            self._notices.session_id = folder.name
        elif request.resume:
            folder = await asyncio.to_thread(self._stored_folder, cwd)
            self._notices.session_id = folder.name
        workspace = await asyncio.to_thread(
            lambda: Workspace.open(cwd, shipped=(shipped_bundles_dir(),), session_dir=folder)
        )
        lost = next((problem for problem in workspace.problems if problem.whole), None)
        if lost is not None and not request.demo and request.playback is None:
            # It may say which server gets the conversation and the key.
            remedy = "Correct the file: without it a session has not the servers and modes you set."
            raise SettingsFileError(lost.message, path=lost.path, line=lost.line, remedy=remedy)
        # The keys are in the environment now.
        self._notices.redactor = Redactor()
        say = self._notices.say
        self._store = store = SessionStore(
            folder, self.redactor, self._notices.disk_trouble, partial(say, "warning")
        )
        await _whole(store.open)
        sender = Sender(self._put, store)
        for problem in workspace.problems:
            say("warning", str(problem), "settings")
        stored = await _whole(lambda: self._conversation(store))
        earlier = await self._replay(store, stored)
        choice = await asyncio.to_thread(self._choose, workspace, store)
        if choice.notice:
            say("warning", choice.notice)
        reference = await asyncio.to_thread(lambda: workspace.catalog().reference_of(choice.entry))
        prepared = await self._prepare(workspace, choice, reference, cwd)
        for misspelt in await asyncio.to_thread(
            misspelt_overrides, workspace.settings, prepared.bundle
        ):
            say("warning", str(misspelt), "settings")
        working_dir = await working_folder(
            prepared, store, cwd, self._carried, say, request.playback
        )
        card = store.metadata
        if request.bundle or request.demo or not card.bundle:
            # Else it goes on with its own, which another program may find though we don't.
            card.note_bundle(redact_uri(reference), uri_of(reference, prepared.bundle))
        card.unattended = request.unattended and (card.unattended or not request.resume)
        card.working_dir, card.project_dir = str(working_dir), str(cwd)
        trust = partial(self._answers, self.session_id, workspace.project)
        builder = SessionBuilder(
            request, workspace, choice, reference, prepared, sender, self._rules, trust, say
        )
        parts = builder.parts(working_dir)
        self.facts = parts.facts
        say_refused(prepared.refused, sender)
        check_runs(prepared.refused)
        check_plan(prepared.bundle)
        leave_out_disabled(prepared.mount_plan, parts.facts, sender)
        session = await builder.session(parts)
        try:
            return await self._begin(builder, parts, session, stored, earlier)
        except BaseException:
            await session.cleanup()
            raise

    async def _begin(
        self,
        builder: SessionBuilder,
        parts: SessionParts,
        session: AmplifierSession,
        stored: StoredRows,
        earlier: int,
    ) -> LiveSession:
        """Take up what is stored, and say that the session is open.

        Args:
            earlier: Rows of the conversation that are not shown.
        """
        request, prepared = self.request, builder.prepared
        sender, store = parts.sender, parts.sender.store
        card = store.metadata
        live = LiveSession(parts, session)
        rows = await asyncio.to_thread(lambda: [row for _, row in stored.read()])
        await live.begin(messages_of(rows))
        failed = live.take_up_failed(self._failed) if self._failed is not None else ""
        await self._say_fork(session)
        report = await opening_report(parts.facts, sender, prepared, parts.workspace)
        environ = builder.workspace.environ
        unset = await asyncio.to_thread(lambda: [*unset_variables(prepared.bundle, environ)])
        for used in self._used:
            parts.normalizer.usage.restore(used)
        remembered = request.models.get(parts.bundle, NO_CHOICE)
        # One that has answered without a choice goes on with the model that did.
        chosen = NO_CHOICE if card.model else remembered
        live.models.begin(card.model_choice, chosen, report.items if report is not None else ())
        live.spending.begin(first_limit(request, card.limit, builder.workspace.settings, sender))
        live.spending.requests_left = request.max_requests
        store.save_metadata()
        await live.commands.tell()
        if not request.restores_queue:
            store.draft.leave()
            await asyncio.to_thread(live.turns.queue.leave)
        # From here on nothing is waited for: who hears that it is open may ask it at once.
        opened = live.opened(resumed=bool(request.resume), earlier=earlier, failed=failed)
        sender.send(opened)
        # Not before: beside other sessions it is told with its name, which is known from here on.
        self._notices.mended(store)
        # Before what fails for want of one.
        self._notices.problems(unset)
        if report is not None:
            sender.send(report)
            say_unguarded(report, sender)
        live.at_close(parts.gating.announce_soon().cancel)
        if live.has_provider:
            live.models.tell()
        live.spending.tell()
        if rows and rows[-1].get("role") == "assistant":
            live.offer_plan()
        if self._used:
            parts.normalizer.tell_usage()
        if not live.has_provider:
            say_no_provider(parts, prepared)
            live.watch.look_for_servers()
        live.shell.restore(self._unsent)
        live.jobs.tell_earlier()
        if request.restores_queue:
            live.turns.restore_queue()
        live.model_changed()
        live.watch.follow_others(opened.branch)
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, self._notices.mistakes, prepared)
        live.at_close(loop.call_later(AFTERWARDS, self._tidy, parts.gating.approvals).cancel)
        if self._carried is not None:
            self._carried.left()
        return live

    def _tidy(self, approvals: ApprovalQueue) -> None:
        """Look for what earlier sessions left behind."""
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, remove_old, self.session_id, self._notices.say)
        offer_to_end_leftovers(approvals)

    def _conversation(self, store: SessionStore) -> StoredRows:
        if self._carried is not None and not store.rows:
            store.metadata.bundle = redact_uri(self.request.bundle)
            self._carried.put_into(store)
        stored = store.stored()
        # The card of a session that ended in a crash counts one turn less than were begun.
        turns = turns_before(stored, len(stored))
        store.metadata.turn_count = max(store.metadata.turn_count, turns)
        return stored

    async def _replay(self, store: SessionStore, stored: StoredRows) -> int:
        """Show the end of the stored conversation; returns how many rows were left out."""
        count = len(stored)
        if not store.has_work and self._carried is None:
            return 0
        start = max(0, count - TAIL)
        replay = await asyncio.to_thread(store.replay, stored)
        self._used, self._unsent = replay.usages(), replay.unsent_commands()
        self._failed = await asyncio.to_thread(replay.failed_prompt)
        for event in await asyncio.to_thread(replay.events, start, count):
            self._put(event)
        for planned in await asyncio.to_thread(replay.plan):
            self._put(planned)
        for trace in await asyncio.to_thread(stored_traces, store.log, self.session_id):
            self._put(trace)
        return start

    async def _say_fork(self, session: AmplifierSession) -> None:
        carried = self._carried
        if carried is not None and carried.turns is not None:
            # The kernel says it of children only, and sub-agents are those; a fork is none.
            await session.coordinator.hooks.emit(
                SESSION_FORK, {"parent": carried.session_id, "session_id": session.session_id}
            )

    def _choose(self, workspace: Workspace, store: SessionStore) -> Choice:
        request = self.request
        requested = request.bundle or (DEMO_BUNDLE if request.demo else "")
        resumed = store.metadata.bundle_reference if request.resume else ""
        return workspace.choose(requested, resumed, DEFAULT_BUNDLE)

    async def _prepare(
        self, workspace: Workspace, choice: Choice, reference: str, cwd: Path
    ) -> PreparedBundle:
        trust = self._answers(self._asks_as or self.session_id, cwd)
        self._trust_service = trust if isinstance(trust, TrustService) else None
        rules = await asyncio.to_thread(allow_rules, cwd)
        try:
            prepared = await workspace.prepare(
                reference,
                trust=trust,
                progress=self._notices.progress,
                chosen_by=choice.chosen_by,
                also=rules,
            )
        except BundleError:
            if self._trust_service is not None:
                self.refused = self._trust_service.refused
            raise
        prepared.appended = self.request.appended.strip()
        servers = self.request.mcp_servers
        if servers and not add_servers(prepared.mount_plan, servers):
            names = ", ".join(servers)
            self._notices.say("warning", f"{names} not used: the bundle has no tool-mcp", "mcp")
        self._rules = [text for item, text in rules.items() if item.key in prepared.allowed]
        self.redactor.add_config(prepared.mount_plan)
        self.refused = prepared.refused_items
        return prepared

    def _answers(self, asks_as: str, cwd: Path) -> Trust:
        """Return who answers; the user, where nobody else does, in the session `asks_as`."""
        if not isinstance(self._trust, TrustMemory):
            return self._trust
        if self._carried is not None:
            self._trust.carry(self._carried.session_id, self.session_id)
        places = (asks_as, self.session_id, cwd)
        return TrustService(self._trust, *places, self._put, self._notices.say)


async def _whole(work: Callable[[], T]) -> T:
    """Return what work on the store gives, in a thread that is waited for when this is cancelled.

    The store is closed then, which must not happen in the middle of it.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    finally:
        await asyncio.wait({working})
