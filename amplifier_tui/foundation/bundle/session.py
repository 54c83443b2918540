"""Creating sessions of a prepared bundle."""

import asyncio
import contextlib
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Container,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.configurator import (
    RUNTIME_CONTEXT_OVERLAY_CAPABILITY,
    RuntimeOverlay,
)
from amplifier_tui.foundation.mentions.loading import ContentDeduplicator

if TYPE_CHECKING:
    from amplifier_tui.kernel.session import AmplifierSession

_log = logging.getLogger(__name__)

ADDITIONAL_EVENTS = ("session:config", "mentions:resolved")
"""Events beside the kernel's own that a log should have."""
_RECORDERS = ("hooks-logging", "hook-context-intelligence")


def inject_additional_events(
    mount_plan: dict[str, Any],
    events: Iterable[str] = ADDITIONAL_EVENTS,
    target_modules: Container[str] = _RECORDERS,
) -> None:
    """Add events to what the recording hooks of a mount plan record, in place; idempotent.

    `target_modules` are the ids of these hooks.
    """
    added = tuple(events)
    hooks = mount_plan.get("hooks")
    if not isinstance(hooks, list):
        return
    for index, entry in enumerate(hooks):
        if not isinstance(entry, dict) or entry.get("module") not in target_modules:
            continue
        config = entry.get("config")
        config = dict(config) if isinstance(config, dict) else {}
        listed = config.get("additional_events")
        known = list(listed) if isinstance(listed, list) else []
        config["additional_events"] = list(dict.fromkeys((*known, *added)))
        # A new entry in the same list: the bundle's own entry stays as it was written.
        hooks[index] = {**entry, "config": config}


WORKING_DIR_CAPABILITY = "session.working_dir"
"""Name of the capability; its value is a text."""


def get_working_dir(coordinator: Any, fallback: Path | str | None = None) -> Path:
    """Return a session's folder; without one `fallback`, else the process's."""
    value = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    return Path(value or fallback or Path.cwd())


def set_working_dir(coordinator: Any, path: Path | str) -> None:
    """Set a session's folder."""
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(path))


BeforeInitialize = Callable[["AmplifierSession"], Awaitable[None] | None]
"""Called with a session before its modules are mounted, to observe hooks or add capabilities."""


class SessionOpening(Coroutine[Any, Any, "AmplifierSession"]):
    """A session about to be created; nothing happens before it is awaited or entered.

    `session = await opening` leaves the cleanup to the caller, `async with opening as session` does
    it. It counts as a coroutine, so `asyncio.create_task` and `gather` take it.
    """

    def __init__(self, create: Callable[[], Coroutine[Any, Any, "AmplifierSession"]]) -> None:
        self._create = create
        self._running: Coroutine[Any, Any, AmplifierSession] | None = None
        self._session: AmplifierSession | None = None

    def __await__(self) -> Generator[Any, Any, "AmplifierSession"]:
        return self._start().__await__()

    def send(self, value: Any) -> Any:
        """Run to the next suspension, as a coroutine does."""
        return self._start().send(value)

    def throw(self, *args: Any) -> Any:
        """Raise inside, as in a coroutine."""
        return self._start().throw(*args)

    def close(self) -> None:
        """Give up; what has not started never will."""
        if self._running is not None:
            self._running.close()

    async def __aenter__(self) -> "AmplifierSession":
        self._session = await self
        return self._session

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.cleanup()

    def _start(self) -> Coroutine[Any, Any, "AmplifierSession"]:
        if self._running is None:
            self._running = self._create()
        return self._running


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
    resolver: Any,
    package_paths: Sequence[str],
    working_dir: Path,
    before_initialize: BeforeInitialize | None = None,
) -> None:
    """Give a session what it needs before its modules are mounted."""
    coordinator = session.coordinator
    await coordinator.mount("module-source-resolver", resolver)
    enter = getattr(resolver, "enter", None)
    if callable(enter):
        coordinator.register_cleanup(enter())
    if package_paths:
        coordinator.register_capability("bundle_package_paths", list(package_paths))
    coordinator.register_capability(WORKING_DIR_CAPABILITY, str(working_dir))
    if before_initialize is not None:
        await awaited(before_initialize(session))


def register_hook_metadata(session: "AmplifierSession") -> None:
    """Publish which hooks are registered, as capability `hook_metadata`."""
    coordinator = session.coordinator
    try:
        coordinator.register_capability("hook_metadata", coordinator.hooks.list_handlers())
    except Exception:  # a stand-in coordinator may have no such list; nothing depends on it
        _log.debug("No hook metadata for session %s", session.session_id, exc_info=True)


async def give_prompt(
    session: "AmplifierSession",
    bundle: BundleData,
    working_dir: Path,
    *,
    instruction: str | None = None,
    source_id: str | None = None,
    appended: str = "",
) -> None:
    """Give an initialized session its system prompt and the capabilities around mentions.

    Plain mentions are in `working_dir`. An `instruction`, written by `source_id`, takes the place
    of the bundle's; `appended` is the user's, at the end.
    """
    coordinator = session.coordinator
    # Users mention files whether or not the bundle has anything to say itself.
    users = mention_resolver(bundle, working_dir, own_folder=False)
    coordinator.register_capability("mention_resolver", users)
    coordinator.register_capability("mention_deduplicator", ContentDeduplicator())
    await asyncio.to_thread(bundle.resolve_pending_context)
    text = instruction if instruction is not None else bundle.instruction
    if not (text or bundle.context or bundle._pending_context or appended):
        return
    coordinator.register_contributor(
        "observability.events", "foundation:mention-resolver", lambda: ["mentions:resolved"]
    )

    def declared() -> Mapping[str, Path]:
        overlay = coordinator.get_capability(RUNTIME_CONTEXT_OVERLAY_CAPABILITY)
        if not isinstance(overlay, RuntimeOverlay):
            return bundle.context
        return overlay.apply(bundle.context)

    factory = SystemPromptFactory(
        bundle,
        mention_resolver(bundle, working_dir),
        coordinator.hooks.emit,
        instruction=instruction,
        source_id=source_id,
        declared=declared,
        appended=appended,
    )
    context = coordinator.get("context")
    set_factory: Callable[[SystemPromptFactory], Awaitable[None] | None] | None = getattr(
        context, "set_system_prompt_factory", None
    )
    if set_factory is not None:
        await awaited(set_factory(factory))
    elif context is not None:
        prompt = await factory()
        if prompt:
            await awaited(context.add_message({"role": "system", "content": prompt}))
