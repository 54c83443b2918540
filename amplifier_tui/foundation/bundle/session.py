"""Creating sessions of a prepared bundle (foundation reference e.3)."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.bundle.opening import maybe_await
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.mentions.deduplicator import ContentDeduplicator
from amplifier_tui.foundation.session_events import inject_additional_events
from amplifier_tui.foundation.working_dir import WORKING_DIR_CAPABILITY

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.prepared import BeforeInitialize, PreparedBundle
    from amplifier_tui.kernel import AmplifierSession

_log = logging.getLogger(__name__)


async def create(
    prepared: "PreparedBundle",
    *,
    session_id: str | None = None,
    parent_id: str | None = None,
    approval_system: Any = None,
    display_system: Any = None,
    session_cwd: Path | None = None,
    is_resumed: bool = False,
    before_initialize: "BeforeInitialize | None" = None,
) -> "AmplifierSession":
    """Create and initialize a session; see `PreparedBundle.create_session`."""
    from amplifier_tui import kernel

    inject_additional_events(prepared.mount_plan)
    session = kernel.AmplifierSession(
        prepared.mount_plan,
        session_id=session_id,
        parent_id=parent_id,
        approval_system=approval_system,
        display_system=display_system,
        is_resumed=is_resumed,
    )
    working_dir = session_cwd or prepared.bundle.base_path or Path.cwd()
    async with cleaned_up_on_failure(session):
        await equip(session, prepared, working_dir, before_initialize)
        await session.initialize()
        register_hook_metadata(session)
        await give_prompt(session, prepared.bundle, working_dir)
    return session


@contextlib.asynccontextmanager
async def cleaned_up_on_failure(session: "AmplifierSession") -> AsyncIterator[None]:
    """Clean a session up when the block that sets it up does not get through."""
    try:
        yield
    except BaseException:
        await session.cleanup()
        raise


async def equip(
    session: "AmplifierSession",
    prepared: "PreparedBundle",
    working_dir: Path,
    before_initialize: "BeforeInitialize | None" = None,
) -> None:
    """Give a session what it needs before its modules are mounted."""
    coordinator = session.coordinator
    await coordinator.mount("module-source-resolver", prepared.resolver)
    if prepared.bundle_package_paths:
        coordinator.register_capability("bundle_package_paths", list(prepared.bundle_package_paths))
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(working_dir))
    if before_initialize is not None:
        await maybe_await(before_initialize(session))


def register_hook_metadata(session: "AmplifierSession") -> None:
    """Publish which hooks are registered, as capability `hook_metadata`."""
    coordinator = session.coordinator
    try:
        coordinator.register_capability("hook_metadata", coordinator.hooks.list_handlers())
    except Exception:  # a stand-in coordinator may have no such list; nobody depends on it
        _log.debug("No hook metadata for session %s", session.session_id, exc_info=True)


async def give_prompt(
    session: "AmplifierSession",
    bundle: Bundle,
    working_dir: Path,
    *,
    instruction: str | None = None,
    source_id: str | None = None,
) -> None:
    """Give a session its system prompt and the capabilities around mentions.

    Args:
        session: Initialized.
        bundle: Whose instruction and context files.
        working_dir: Folder of plain mentions.
        instruction: Instead of the bundle's.
        source_id: Who wrote `instruction`.
    """
    coordinator = session.coordinator
    # Users mention files whether or not the bundle has anything to say itself.
    users = mention_resolver(bundle, working_dir, own_folder=False)
    coordinator.register_capability("mention_resolver", users)
    coordinator.register_capability("mention_deduplicator", ContentDeduplicator())
    await asyncio.to_thread(bundle.resolve_pending_context)
    text = instruction if instruction is not None else bundle.instruction
    if not (text or bundle.context or bundle._pending_context):
        return
    coordinator.register_contributor(
        "observability.events", "foundation:mention-resolver", lambda: ["mentions:resolved"]
    )
    factory = SystemPromptFactory(
        bundle,
        mention_resolver(bundle, working_dir),
        coordinator.hooks.emit,
        instruction=instruction,
        source_id=source_id,
    )
    context = coordinator.get("context")
    set_factory: Callable[[SystemPromptFactory], Awaitable[None] | None] | None = getattr(
        context, "set_system_prompt_factory", None
    )
    if set_factory is not None:
        await maybe_await(set_factory(factory))
    elif context is not None:
        prompt = await factory()
        if prompt:
            await maybe_await(context.add_message({"role": "system", "content": prompt}))
