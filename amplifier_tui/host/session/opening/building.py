"""From a prepared bundle to the parts of a session, and to the kernel's session."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from amplifier_tui.base.capabilities.client_files import CAPABILITY as CLIENT_FILES
from amplifier_tui.base.capabilities.client_terminals import CAPABILITY as CLIENT_TERMINALS
from amplifier_tui.base.capabilities.mcp import CHANGED as SERVER_CHANGED
from amplifier_tui.base.capabilities.mcp import PATIENT
from amplifier_tui.base.capabilities.questions import CAPABILITY as ASK_USER
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.catalog import Choice
from amplifier_tui.foundation.registry.project_bundles import Trust
from amplifier_tui.foundation.spawn.capability import SessionSpawner
from amplifier_tui.foundation.trust.owners import weakest
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import MAIN_LANE, Level
from amplifier_tui.host.gate.approvals.surfaces import KernelApprovals
from amplifier_tui.host.gate.calls.guarded import run_tool
from amplifier_tui.host.gate.mentions import JudgedMentions
from amplifier_tui.host.gate.modes import first_mode, read_mode
from amplifier_tui.host.session.budget import Parts
from amplifier_tui.host.session.gating import Gating, sandbox_terms
from amplifier_tui.host.session.modules.facts import ModuleFacts, read_plan
from amplifier_tui.host.session.modules.loading import ObservingLoader
from amplifier_tui.host.session.modules.sources import ModuleSources
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.session.sub_agents import follow
from amplifier_tui.host.store.children import ChildStore
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.host.stream.notices import Display
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY


@dataclass(frozen=True, slots=True)
class SessionBuilder:
    """Builds the session of a prepared bundle.

    Attributes:
        choice: The bundle, and whose word that is.
        reference: The bundle, as it is opened again.
        rules: The project's rules that may allow calls.
        trust: Makes who answers for modules that come later.
        say: Shows a line to the user: level, text, and what it is about.
    """

    request: OpenRequest
    workspace: Workspace
    choice: Choice
    reference: str
    prepared: PreparedBundle
    sender: Sender
    rules: Collection[str]
    trust: Callable[[], Trust]
    say: Callable[[Level, str, str], None]

    def parts(self, working_dir: Path) -> SessionParts:
        """Return what the session is made of."""
        prepared, sender, name = self.prepared, self.sender, self.choice.entry.name
        origins = prepared.bundle.origins.items()
        planned = read_plan(
            prepared.mount_plan,
            origins={key: _contributors(found) for key, found in origins if found},
            environ=self.workspace.environ,
        )
        facts = ModuleFacts(planned)
        terms, problem = sandbox_terms(self.workspace)
        if problem is not None:
            self.say("warning", str(problem), "settings")
        playback = self.request.playback
        if playback is not None:
            # Nobody looks at what it runs.
            terms = replace(terms, mode="required")
        mode, wrong = first_mode("mode", prepared.mode)
        resumed = self.request.resume and not self.request.mode
        if wrong:
            self.say("warning", wrong, "settings")
        gating = Gating(
            prepared.mount_plan,
            name,
            Path(sender.store.metadata.project_dir),
            working_dir,
            sender,
            self.request.mode or mode,
            left_in=read_mode(sender.store.metadata.mode) if resumed else None,
            confined=terms.mode != "off",
            trusted=self.rules,
            execute=playback.execute if playback is not None else run_tool,
            client_files=self.request.client_files,
        )
        return SessionParts(
            bundle=name,
            reference=self.reference,
            of_project=self.workspace.catalog().hides_another(self.choice.entry),
            gone=self.choice.gone,
            plan=prepared.mount_plan,
            workspace=working_dir,
            sender=sender,
            gating=gating,
            facts=facts,
            normalizer=Normalizer(sender, working_dir, facts),
            sources=ModuleSources(self.workspace, prepared, self.trust),
            sandbox=terms,
            prompt_parts=_prompt_parts(prepared, working_dir),
            playback=playback,
        )

    async def session(self, parts: SessionParts) -> AmplifierSession:
        """Return the kernel's session of the parts, its modules mounted behind the gate."""
        prepared, sender, normalizer = self.prepared, self.sender, parts.normalizer
        gate = parts.gating.before()
        approvals = KernelApprovals(parts.gating.approvals, gate=gate)
        display = Display(sender)

        async def before_initialize(session: AmplifierSession) -> None:
            coordinator = session.coordinator
            loader = ObservingLoader(coordinator, parts.facts, sender)
            session.loader = coordinator.loader = loader
            normalizer.on_declined = loader.declined
            gate.stand_before(session)
            parts.facts.mounted = lambda: coordinator.get("tools") or {}
            parts.route.stand_before(coordinator)
            if parts.playback is not None:
                await parts.playback.stand_in(session, MAIN_LANE)
            approvals.observe(coordinator.hooks)
            display.follow(coordinator.hooks)
            normalizer.observe(coordinator.hooks)
            coordinator.register_capability("session.events_path", str(sender.store.log.path))
            coordinator.register_capability(SANDBOX_CAPABILITY, parts.sandbox)
            coordinator.register_capability(ASK_USER, parts.questions.asker(MAIN_LANE))
            coordinator.register_capability(SERVER_CHANGED, self._is_changed)
            coordinator.register_capability(PATIENT, self.request.waits_for_servers)
            coordinator.register_capability(CLIENT_FILES, self.request.client_files)
            # Agents have none: the client does not know their calls.
            coordinator.register_capability(CLIENT_TERMINALS, self.request.client_terminals)
            records = ChildStore(sender.store.folder, parts.bundle, sender.redactor)
            SessionSpawner(
                prepared, records=records, prepare=partial(follow, parts, records)
            ).register(session)

        session = await prepared.create_session(
            session_id=sender.session_id,
            approval_system=approvals,
            display_system=display,
            session_cwd=parts.workspace,
            is_resumed=bool(self.request.resume),
            before_initialize=before_initialize,
        )
        mentions = session.coordinator.get_capability("mention_resolver")
        if hasattr(mentions, "resolve_confined"):
            judged = JudgedMentions(mentions, parts.gating.gate)
            session.coordinator.register_capability("mention_resolver", judged)
        if parts.playback is not None:
            parts.playback.opened(session)
        return session

    def _is_changed(self, server: str) -> bool:
        # Those the client names are the user's, in the place of others of their name.
        return server not in self.request.mcp_servers and self.prepared.is_changed(server)


def _prompt_parts(prepared: PreparedBundle, working_dir: Path) -> Parts | None:
    bundle, appended = prepared.bundle, prepared.appended
    if not (bundle.instruction or bundle.context or bundle._pending_context or appended):
        return None

    async def parts() -> list[tuple[str, str]]:
        resolver = mention_resolver(bundle, working_dir)
        return await SystemPromptFactory(bundle, resolver, appended=appended).parts()

    return parts


def _contributors(origins: list[Origin]) -> tuple[str, str]:
    """Return the bundle with the last word about an entry, and whose all of its words are."""
    return origins[-1].bundle, str(weakest(*(origin.owner for origin in origins)))
