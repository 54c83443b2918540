"""Opening a session: from a request to a session that is ready, or to a reason why not."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import time
from typing import Final
from uuid import uuid4

from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.foundation.bundle.model import BundleData, Origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.catalog import Choice
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.registry.project_bundles import Trust
from amplifier_tui.foundation.spawn.capability import SessionSpawner
from amplifier_tui.foundation.trust.gate import TrustCallback
from amplifier_tui.foundation.trust.items import TrustDecision, TrustItem
from amplifier_tui.foundation.trust.owners import weakest
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import Failed, HostEvent, Level, Notice, NoticeEnd, ShellEnded, Usage
from amplifier_tui.host.failures import no_provider_remedy
from amplifier_tui.host.gate.approvals.surfaces import KernelApprovals
from amplifier_tui.host.gate.modes import first_mode, read_mode
from amplifier_tui.host.models.limits import first_limit
from amplifier_tui.host.models.routing import NO_CHOICE
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.budget import Parts
from amplifier_tui.host.session.carrying import Carried
from amplifier_tui.host.session.chores.leftovers import offer_to_end_leftovers
from amplifier_tui.host.session.chores.pruning import remove_old
from amplifier_tui.host.session.gating import Gating, sandbox_terms
from amplifier_tui.host.session.live import LiveSession
from amplifier_tui.host.session.modules.facts import ModuleFacts, read_plan
from amplifier_tui.host.session.modules.loading import (
    ObservingLoader,
    leave_out_disabled,
    opening_report,
    say_refused,
)
from amplifier_tui.host.session.modules.sources import ModuleSources
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.session.places.references import uri_of
from amplifier_tui.host.session.places.workspaces import (
    WorkspaceError,
    make_workspace,
    template_of,
)
from amplifier_tui.host.session.sub_agents import follow
from amplifier_tui.host.store.children import ChildStore
from amplifier_tui.host.store.replay import TAIL, messages_of, turns_before
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.store.sessions import find_session
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.notices import Display
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.traces import stored_traces
from amplifier_tui.host.trust.answers import TrustMemory
from amplifier_tui.host.trust.rules import allow_rules
from amplifier_tui.host.trust.service import TrustService
from amplifier_tui.kernel.events import SESSION_FORK
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY
from amplifier_tui.paths import sessions_dir, shipped_bundles_dir

DEFAULT_BUNDLE: Final = "coding"
DEMO_BUNDLE: Final = "demo"
_TOLD: Final = frozenset({"fetching", "installing", "installing_package"})
"""What of the preparation takes long enough to be told."""


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
        self.session_id = str(uuid4())
        self.redactor = Redactor()
        self._request = request
        self._put = put
        self._trust = trust
        self._carried = carried
        self._asks_as = asks_as
        self._store: SessionStore | None = None
        self._said: set[str] = set()
        self._used: tuple[Usage, ...] = ()
        self._trust_service: TrustService | None = None
        self._unsent: tuple[ShellEnded, ...] = ()
        self._rules: list[str] = []
        self.refused: tuple[TrustItem, ...] = ()
        """What the user does not want of it."""

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
            return await self._run()
        except BaseException:
            if self._store is not None:
                self._store.discard()
            raise

    async def _run(self) -> LiveSession:
        request = self._request
        cwd = await asyncio.to_thread(request.cwd.resolve)
        folder = sessions_dir(cwd) / self.session_id
        if request.resume:
            folder = await asyncio.to_thread(find_session, cwd, request.resume)
            self.session_id = folder.name
        workspace = await asyncio.to_thread(
            lambda: Workspace.open(cwd, shipped=(shipped_bundles_dir(),), session_dir=folder)
        )
        # The keys are in the environment now.
        self.redactor = Redactor()
        self._store = store = SessionStore(
            folder, self.redactor, self._disk_trouble, partial(self._notice, "warning")
        )
        await asyncio.to_thread(store.open)
        sender = Sender(self._put, store)
        self._say_what_was_mended(store)
        for problem in workspace.problems:
            self._notice("warning", str(problem), "settings")
        stored = await asyncio.to_thread(self._conversation, store)
        earlier = await self._replay(store, stored)
        choice = await asyncio.to_thread(self._choose, workspace, store)
        if choice.notice:
            self._notice("warning", choice.notice)
        reference = await asyncio.to_thread(lambda: workspace.catalog().reference_of(choice.entry))
        prepared = await self._prepare(workspace, choice, reference, cwd)
        working_dir = await self._working_dir(prepared, store, cwd)
        card = store.metadata
        if request.bundle or request.demo or not card.bundle:
            # Else it goes on with its own, which another program may find though we don't.
            card.note_bundle(redact_uri(reference), uri_of(reference, prepared.bundle))
        card.working_dir, card.project_dir = str(working_dir), str(cwd)
        parts = self._parts(workspace, choice, reference, prepared, working_dir, sender)
        say_refused(prepared.refused, sender)
        leave_out_disabled(prepared.mount_plan, parts.facts, sender)
        session = await self._create(prepared, parts)
        try:
            live = LiveSession(parts, session)
            rows = await asyncio.to_thread(lambda: [row for _, row in stored.read()])
            await live.begin(messages_of(rows))
            await self._say_fork(session)
            report = await opening_report(parts.facts, sender, prepared, working_dir)
        except BaseException:
            await session.cleanup()
            raise
        store.save_metadata()
        for used in self._used:
            parts.normalizer.usage.restore(used)
        remembered = request.models.get(parts.bundle, NO_CHOICE)
        live.models.begin(card.model_choice, remembered)
        live.spending.begin(first_limit(request, card.limit, workspace.settings, sender))
        sender.send(live.opened(resumed=bool(request.resume), earlier=earlier))
        if report is not None:
            sender.send(report)
        parts.gating.announce_soon()
        if live.has_provider:
            live.models.tell()
        live.spending.tell()
        if rows and rows[-1].get("role") == "assistant":
            live.offer_plan()
        if self._used:
            parts.normalizer.tell_usage()
        if not live.has_provider:
            self._no_provider(parts, prepared)
            live.watch.look_for_servers()
        live.shell.restore(self._unsent)
        live.turns.restore_queue()
        live.budget.measure_soon()
        live.watch.follow_card()
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, self._say_settings, prepared)
        loop.run_in_executor(None, remove_old, self.session_id, self._notice)
        offer_to_end_leftovers(parts.gating.approvals)
        return live

    def _conversation(self, store: SessionStore) -> StoredRows:
        if self._carried is not None and not store.rows:
            self._carried.put_into(store)
        stored = store.stored()
        # The card of a session that ended in a crash counts one turn less than were begun.
        turns = turns_before(stored, len(stored))
        store.metadata.turn_count = max(store.metadata.turn_count, turns)
        return stored

    async def _replay(self, store: SessionStore, stored: StoredRows) -> int:
        """Show the end of the stored conversation; returns how many rows were left out."""
        count = len(stored)
        if not count:
            return 0
        start = max(0, count - TAIL)
        replay = await asyncio.to_thread(store.replay, stored)
        self._used, self._unsent = replay.usages(), replay.unsent_commands()
        for event in await asyncio.to_thread(replay.events, start, count):
            self._put(event)
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

    def _say_what_was_mended(self, store: SessionStore) -> None:
        if store.torn is not None:
            self._notice(
                "warning", f"The stored conversation had a torn end; it is in {store.torn.name} now"
            )
        if store.recovered:
            what = "1 row" if store.recovered == 1 else f"{store.recovered} rows"
            self._notice("info", f"The program ended in mid-turn; {what} could be recovered")

    def _choose(self, workspace: Workspace, store: SessionStore) -> Choice:
        request = self._request
        requested = request.bundle or (DEMO_BUNDLE if request.demo else "")
        resumed = store.metadata.bundle_reference if request.resume else ""
        return workspace.choose(requested, resumed, DEFAULT_BUNDLE)

    async def _prepare(
        self, workspace: Workspace, choice: Choice, reference: str, cwd: Path
    ) -> PreparedBundle:
        trust = self._answers(self._asks_as or self.session_id, cwd)
        self._trust_service = trust if isinstance(trust, TrustService) else None
        rules = await asyncio.to_thread(allow_rules, cwd)
        prepared = await workspace.prepare(
            reference, trust=trust, progress=self._progress, chosen_by=choice.chosen_by, also=rules
        )
        self._rules = [text for item, text in rules.items() if item.key in prepared.allowed]
        self.redactor.add_config(prepared.mount_plan)
        self.refused = prepared.refused_items
        return prepared

    def _answers(self, asks_as: str, cwd: Path) -> Trust:
        """Return who answers; the user, where nobody else does, in the session `asks_as`."""
        if not isinstance(self._trust, TrustMemory):
            return self._trust
        places = (asks_as, self.session_id, cwd)
        return TrustService(self._trust, *places, self._put, self._notice)

    def _progress(self, action: str, detail: str) -> None:
        line = f"{action.replace('_', ' ')} {detail}"
        if action in _TOLD and line not in self._said:
            self._said.add(line)
            self._notice("info", line, "bundle", "opened")

    async def _working_dir(self, prepared: PreparedBundle, store: SessionStore, cwd: Path) -> Path:
        try:
            template = template_of(prepared.mount_plan, prepared.bundle.base_path)
        except WorkspaceError as error:
            self._notice("warning", f"{error}; working in {cwd}", prepared.bundle.name)
            return cwd
        if template is None:
            return cwd
        carried = self._carried

        def make() -> Path:
            begin = template if carried is None else carried.beginning(template)
            return make_workspace(begin, self.session_id)

        try:
            scratch = await asyncio.to_thread(make)
        except OSError as error:
            self._notice("warning", f"No scratch workspace: {error}; working in {cwd}")
            return cwd
        store.metadata.workspace = str(scratch)
        return scratch.resolve()

    def _parts(
        self,
        workspace: Workspace,
        choice: Choice,
        reference: str,
        prepared: PreparedBundle,
        working_dir: Path,
        sender: Sender,
    ) -> SessionParts:
        bundle = prepared.bundle
        planned = read_plan(
            prepared.mount_plan,
            origins={key: _contributors(found) for key, found in bundle.origins.items() if found},
            environ=workspace.environ,
        )
        facts = ModuleFacts(planned)
        terms, problem = sandbox_terms(workspace)
        if problem is not None:
            self._notice("warning", str(problem), "settings")
        mode, wrong = first_mode("mode", prepared.mode)
        if self._request.resume:
            mode = read_mode(sender.store.metadata.mode) or mode
        if wrong:
            self._notice("warning", wrong, "settings")
        gating = Gating(
            prepared.mount_plan,
            choice.entry.name,
            Path(sender.store.metadata.project_dir),
            working_dir,
            sender,
            facts,
            self._request.mode or mode,
            confined=terms.mode != "off",
            trusted=self._rules,
        )
        return SessionParts(
            bundle=choice.entry.name,
            reference=reference,
            plan=prepared.mount_plan,
            workspace=working_dir,
            sender=sender,
            gating=gating,
            facts=facts,
            normalizer=Normalizer(sender, working_dir, facts),
            sources=ModuleSources(
                workspace, prepared, partial(self._answers, self.session_id, workspace.project)
            ),
            sandbox=terms,
            prompt_parts=_prompt_parts(bundle, working_dir),
        )

    async def _create(self, prepared: PreparedBundle, parts: SessionParts) -> AmplifierSession:
        normalizer, sender = parts.normalizer, parts.sender

        gate = parts.gating.before()
        module_of = parts.facts.module_of_handler
        approvals = KernelApprovals(parts.gating.approvals, module_of, gate=gate)
        display = Display(sender, module_of=module_of)

        def before_initialize(session: AmplifierSession) -> None:
            coordinator = session.coordinator
            loader = ObservingLoader(coordinator, parts.facts, sender)
            session.loader = coordinator.loader = loader
            normalizer.on_declined = loader.declined
            gate.stand_before(session)
            parts.route.stand_before(coordinator)
            approvals.observe(coordinator.hooks)
            display.follow(coordinator.hooks)
            normalizer.observe(coordinator.hooks)
            coordinator.register_capability("session.events_path", str(sender.store.log.path))
            coordinator.register_capability(SANDBOX_CAPABILITY, parts.sandbox)
            records = ChildStore(sender.store.folder, parts.bundle, self.redactor)
            SessionSpawner(
                prepared, records=records, prepare=partial(follow, parts, records)
            ).register(session)

        return await prepared.create_session(
            session_id=self.session_id,
            approval_system=approvals,
            display_system=display,
            session_cwd=parts.workspace,
            is_resumed=bool(self._request.resume),
            before_initialize=before_initialize,
        )

    def _say_settings(self, prepared: PreparedBundle) -> None:
        """Say which settings of built-in modules are unknown or wrong, and where they are."""
        # Imported when the session is on screen already.
        from amplifier_tui.foundation.checks.module_settings import settings_problems

        for problem in settings_problems(prepared.bundle):
            self._notice("warning", str(problem), prepared.bundle.name)

    def _no_provider(self, parts: SessionParts, prepared: PreparedBundle) -> None:
        missing = parts.facts.missing()
        providers = (each for each in prepared.refused if each.kind == "provider")
        refused = next((each for each in providers if not each.agent), None)
        remedy = refused.remedy if refused is not None else no_provider_remedy(missing)
        reason = f": {refused.reason}" if refused is not None else ""
        parts.sender.send(
            Failed(
                **parts.sender.stamp(),
                kind="no_provider",
                message=f"The bundle {parts.bundle} has no provider that is ready{reason}",
                remedy=remedy,
                missing=missing,
            )
        )

    def _notice(self, level: Level, text: str, source: str = "host", until: NoticeEnd = "") -> None:
        self._put(
            Notice(
                session_id=self.session_id,
                at=time(),
                level=level,
                text=self.redactor.text(text),
                source=source,
                until=until,
            )
        )

    def _disk_trouble(self, error: OSError | None) -> None:
        if error is None:
            self._notice("info", "The session is saved again", "store")
            return
        text = (
            f"The session can't be saved: {error.strerror or error}. It goes on; what is not saved "
            "yet is kept and written when the disk takes it"
        )
        self._notice("error", text, "store")


def _prompt_parts(bundle: BundleData, working_dir: Path) -> Parts | None:
    if not (bundle.instruction or bundle.context or bundle._pending_context):
        return None

    async def parts() -> list[tuple[str, str]]:
        resolver = mention_resolver(bundle, working_dir)
        return await SystemPromptFactory(bundle, resolver).parts()

    return parts


def _contributors(origins: list[Origin]) -> tuple[str, str]:
    """Return the bundle with the last word about an entry, and whose all of its words are."""
    return origins[-1].bundle, str(weakest(*(origin.owner for origin in origins)))
