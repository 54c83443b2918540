"""A bundle that is ready to run (spec 003, "Prepared Bundle")."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.composing import compose as layered
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.session import (
    BeforeInitialize,
    SessionOpening,
    cleaned_up_on_failure,
    equip,
    give_prompt,
    inject_additional_events,
    register_hook_metadata,
)
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.modules.resolver import BundleModuleResolver
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.spawn.child import (
    ChildRun,
    child_folder,
    with_orchestrator_config,
    with_preferences,
)
from amplifier_tui.foundation.spawn.preferences import ProviderPreference
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.trust.refusing import RefusedModule

if TYPE_CHECKING:
    from amplifier_tui.kernel.session import AmplifierSession


@dataclass
class PreparedBundle:
    """A bundle whose modules are activated.

    Attributes:
        mount_plan: What sessions are created with; an application may adjust it.
        resolver: Tells the kernel where the modules are.
        bundle_package_paths: Folders the bundle's own packages added to `sys.path`.
        mode_warnings: What is wrong with its mode files.
        module_exports: Folder of each activated module.
        activation_failures: Why a module could not be activated, by id. Nothing takes its place.
        notes: Packages that are not installed, or are used in another way or version.
        mode: `mode` of the settings that count, as it is written there.
        refused: Modules that are not in the plan, because the user refused their code, or a key
            would have gone to a server that is not trusted.
        allowed: Keys of the further items that may count.
        refused_items: Everything that was refused: code, settings, files and keys.
        unasked: Of those nobody was asked about, by subject, why not and what to do.
        changed: By file and path of keys of each MCP server of others than the user: whether what
            it runs is not what was allowed any more. Blocking.
        unused: Providers without a key that are not in the plan.
        appended: Text of the user's for the end of the sessions' system prompt.
    """

    mount_plan: dict[str, Any]
    resolver: BundleModuleResolver
    bundle: BundleData
    bundle_package_paths: list[str] = field(default_factory=list)
    mode_warnings: list[str] = field(default_factory=list)
    module_exports: dict[str, Any] = field(default_factory=dict)
    activation_failures: dict[str, str] = field(default_factory=dict)
    notes: list[ReportItem] = field(default_factory=list)
    mode: Any = None
    refused: list[RefusedModule] = field(default_factory=list)
    allowed: frozenset[str] = frozenset()
    refused_items: tuple[TrustItem, ...] = ()
    unasked: dict[str, tuple[str, str]] = field(default_factory=dict)
    changed: dict[tuple[Path, Keys], Callable[[], bool]] = field(default_factory=dict)
    unused: list[ReportItem] = field(default_factory=list)
    appended: str = ""

    @property
    def agents_left_out(self) -> dict[str, str]:
        """Why an agent that the bundle names is not in the plan, by name."""
        return {
            each.what: f"{each.why} ({each.where})" if each.where else each.why
            for each in self.notes
            if each.part == "agent"
        }

    def is_changed(self, server: str) -> bool:
        """Whether what an MCP server runs was changed since it was allowed. Blocking."""
        return any(changed() for (_, keys), changed in self.changed.items() if keys[-1] == server)

    def create_session(
        self,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        session_cwd: Path | None = None,
        is_resumed: bool = False,
        *,
        before_initialize: BeforeInitialize | None = None,
    ) -> SessionOpening:
        """Create a session: `await` the result, or enter it with `async with`.

        Args:
            session_id: Default a new one.
            parent_id: Session this one is a child of.
            approval_system: The kernel's; answers `ask_user`.
            display_system: The kernel's; shows `user_message`.
            session_cwd: The user's folder: what tools and plain mentions start from. Default the
                bundle's folder.
            is_resumed: The session existed before.
            before_initialize: Called with the session before its modules are mounted.
        """
        working_dir = session_cwd or self.bundle.base_path or Path.cwd()

        async def create() -> "AmplifierSession":
            from amplifier_tui import kernel

            inject_additional_events(self.mount_plan)
            session: AmplifierSession = kernel.AmplifierSession(
                self.mount_plan,
                session_id=session_id,
                parent_id=parent_id,
                approval_system=approval_system,
                display_system=display_system,
                is_resumed=is_resumed,
            )
            async with cleaned_up_on_failure(session):
                packages = self.bundle_package_paths
                await equip(session, self.resolver, packages, working_dir, before_initialize)
                await session.initialize()
                register_hook_metadata(session)
                await give_prompt(session, self.bundle, working_dir, appended=self.appended)
            return session

        return SessionOpening(create)

    async def spawn(
        self,
        child_bundle: BundleData,
        instruction: str,
        *,
        compose: bool = True,
        parent_session: "AmplifierSession | None" = None,
        session_id: str | None = None,
        orchestrator_config: dict[str, Any] | None = None,
        parent_messages: list[dict[str, Any]] | None = None,
        session_cwd: Path | None = None,
        provider_preferences: list[ProviderPreference] | None = None,
        self_delegation_depth: int = 0,
        before_initialize: BeforeInitialize | None = None,
    ) -> dict[str, Any]:
        """Run an instruction in a child session and return what came of it.

        Args:
            child_bundle: What the child is; laid over this bundle unless `compose` is False.
            instruction: What it is to do; its mentions are expanded.
            compose: Lay the child over this bundle.
            parent_session: Whose child it is; its approval and display systems are used.
            session_id: Of the child; given when it continues an earlier one.
            orchestrator_config: Merged over the orchestrator's configuration.
            parent_messages: Conversation the child starts with; ignored with `session_id`.
            session_cwd: The child's folder; default the parent's.
            provider_preferences: First match becomes the child's provider and model.
            self_delegation_depth: How often an agent has delegated to itself by now.
            before_initialize: Called with the child before its modules are mounted.

        Returns:
            `output`, `session_id`, `status`, `turn_count` and `metadata`.
        """
        bundle = layered(self.bundle, child_bundle) if compose else child_bundle
        plan = with_orchestrator_config(copy_plain(bundle.to_mount_plan()), orchestrator_config)
        plan = await with_preferences(plan, provider_preferences, parent_session)
        working_dir = session_cwd or child_folder(parent_session, bundle.base_path)

        async def prompt(child: "AmplifierSession") -> None:
            await give_prompt(child, bundle, working_dir)

        run = ChildRun(
            resolver=self.resolver,
            package_paths=self.bundle_package_paths,
            plan=plan,
            working_dir=working_dir,
            give_prompt=prompt,
            parent=parent_session,
            session_id=session_id,
            messages=parent_messages if session_id is None else None,
            self_delegation_depth=self_delegation_depth,
            before_initialize=before_initialize,
        )
        return await run.execute(instruction)
