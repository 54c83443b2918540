"""A bundle that is ready to run (spec 003, "Prepared Bundle"; foundation reference e)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.bundle.module_resolver import BundleModuleResolver
from amplifier_tui.foundation.bundle.opening import SessionOpening

if TYPE_CHECKING:
    from amplifier_tui.foundation.key_guard import RefusedModule
    from amplifier_tui.foundation.spawn_utils import ProviderPreference
    from amplifier_tui.kernel import AmplifierSession

BeforeInitialize = Callable[["AmplifierSession"], Awaitable[None] | None]
"""Gets a session before its modules are mounted: the moment to observe hooks or add
capabilities."""


@dataclass
class PreparedBundle:
    """A bundle whose modules are activated.

    Attributes:
        mount_plan: What sessions are created with; an application may adjust it.
        resolver: Tells the kernel where the modules are.
        bundle: The bundle.
        bundle_package_paths: Folders the bundle's own packages added to `sys.path`.
        mode_warnings: What is wrong with its mode files.
        module_exports: Folder of each activated module.
        activation_failures: Why a module could not be activated, by id. What is installed or
            built in under that id takes its place, if there is such a thing.
        notes: What else the user should know about the preparation.
        refused: Modules that are not in the plan, because a key of the user's would have gone to a
            server nobody trusts.
        unused: Providers that are not in the plan, because another one has its key and they have
            not; a readable line each.
    """

    mount_plan: dict[str, Any]
    resolver: BundleModuleResolver
    bundle: Bundle
    bundle_package_paths: list[str] = field(default_factory=list)
    mode_warnings: list[str] = field(default_factory=list)
    module_exports: dict[str, Any] = field(default_factory=dict)
    activation_failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refused: "list[RefusedModule]" = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

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

        Returns:
            An awaitable and asynchronous context manager; both give the initialized session.
        """
        from amplifier_tui.foundation.bundle.session import create

        return SessionOpening(
            lambda: create(
                self,
                session_id=session_id,
                parent_id=parent_id,
                approval_system=approval_system,
                display_system=display_system,
                session_cwd=session_cwd,
                is_resumed=is_resumed,
                before_initialize=before_initialize,
            )
        )

    async def spawn(
        self,
        child_bundle: Bundle,
        instruction: str,
        *,
        compose: bool = True,
        parent_session: "AmplifierSession | None" = None,
        session_id: str | None = None,
        orchestrator_config: dict[str, Any] | None = None,
        parent_messages: list[dict[str, Any]] | None = None,
        session_cwd: Path | None = None,
        provider_preferences: "list[ProviderPreference] | None" = None,
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
        from amplifier_tui.foundation.bundle.spawning import spawn

        return await spawn(
            self,
            child_bundle,
            instruction,
            compose=compose,
            parent_session=parent_session,
            session_id=session_id,
            orchestrator_config=orchestrator_config,
            parent_messages=parent_messages,
            session_cwd=session_cwd,
            provider_preferences=provider_preferences,
            self_delegation_depth=self_delegation_depth,
            before_initialize=before_initialize,
        )
