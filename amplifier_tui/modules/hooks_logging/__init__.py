"""hooks-logging: every event of a session as a line of JSON.

A line has ``ts``, ``lvl``, ``schema``, ``event``, ``session_id`` (``parent_id`` in a child session)
and ``data``. Secrets are replaced. Writing happens in a thread; what is not on disk yet is written
at the end of a turn, twice a second, and at the end, be it that of a program that leaves the
session open.

Where the host writes the session's events itself (capability ``session.events_path``) and this
module's target is the same file, nothing is written twice.

Config:
    session_log_template: Path of the file; ``{project}``, ``{session_id}``, ``~`` and environment
        variables are replaced. It has to lie below the session's folder, the user's log folder or
        the project, and may not be a file that configures or starts programs.
        Default: ``events.jsonl`` in the session's folder of the Amplifier home.
    level: ``INFO`` (default) leaves out the pieces of streams and the messages of a request;
        ``DEBUG`` writes everything; ``WARNING`` only failures; ``ERROR`` only errors.
    additional_events: Events to write beside the kernel's and those that modules announce
        (``observability.events``).
    enabled: Whether to write at all. Default true.
    priority: Of the handlers. Default 100.
"""

import asyncio
import atexit
import errno
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import BeforeValidator, Field

from amplifier_tui.base.config import ModuleSettings, PathText, Texts
from amplifier_tui.base.files import append
from amplifier_tui.base.secrets import replace_secrets
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks import HookRegistry
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.utils.stream import STREAM_ABORTED, STREAM_BLOCK_DELTA
from amplifier_tui.kernel.utils.truncate import REDACTED, redact_secrets
from amplifier_tui.modules._shared.session_paths import (
    EVENTS_PATH_CAPABILITY,
    session_folder,
    state_place,
)

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

FLUSH_AFTER: Final = 0.5
"""Seconds after which a line is written."""

MOST_WAITING: Final = 20_000
"""Waiting lines beyond which new ones are dropped: the disk does not keep up."""

_ENDS: Final = frozenset({events.EXECUTION_END, events.PROMPT_COMPLETE, events.SESSION_END})
"""Events after which everything has to be on disk."""

_CONTINUE: Final = HookResult(action="continue")

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
LEVELS: Final = get_args(Level)
SCHEMA: Final = {"name": "amplifier.log", "ver": "1.0.0"}
_PIECES: Final = frozenset(
    {
        STREAM_BLOCK_DELTA,
        events.CONTENT_BLOCK_DELTA,
        events.THINKING_DELTA,
        "tool:progress",
    }
)
"""Pieces of something that another event carries as a whole."""
_ERRORS: Final = frozenset(
    {events.PROVIDER_ERROR, events.TOOL_ERROR, events.MODULE_LOAD_FAILED, events.POLICY_VIOLATION}
)
_WARNINGS: Final = frozenset(
    {
        events.PROVIDER_RETRY,
        events.PROVIDER_THROTTLE,
        events.PROVIDER_TOOL_SEQUENCE_REPAIRED,
        events.APPROVAL_DENIED,
        events.CANCEL_REQUESTED,
        events.MODULE_ON_SESSION_READY_FAILED,
        STREAM_ABORTED,
    }
)
_TOP: Final = ("session_id", "parent_id", "timestamp")


def _level(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return {"": "INFO", "WARN": "WARNING"}.get(value.upper(), value.upper())


class LoggingSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-logging"

    session_log_template: PathText | None = None
    level: Annotated[Level, BeforeValidator(_level)] = "INFO"
    additional_events: Texts = Field((), description="a list of event names")
    enabled: bool = True
    priority: int = 100


def log_path(template: str | None, coordinator: Any) -> Path:
    """Return the path of a session's log, the session's folder where there is no template.

    Raises:
        SettingsError: The template leads to where no log belongs.
    """
    if template is None:
        hosts = coordinator.get_capability(EVENTS_PATH_CAPABILITY)
        return (
            Path(str(hosts)).expanduser() if hosts else session_folder(coordinator) / "events.jsonl"
        )
    module = LoggingSettings.module
    return state_place(template, coordinator, module=module, setting="session_log_template")


class SessionLog:
    """Writes a session's events to a file, which is made with the first line."""

    def __init__(self, hooks: HookRegistry, path: Path, settings: LoggingSettings) -> None:
        self.path = path
        self._target = path.resolve()
        self._hooks = hooks
        self._settings = settings
        self._registered: dict[str, Callable[[], None]] = {}
        self._waiting: list[Callable[[], str]] = []
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._dropped = 0
        self._broken = False

    def listen(self, names: Iterable[str]) -> None:
        """Take these events too; those below the level are left out, unless asked for by name."""
        lowest = LEVELS.index(self._settings.level)
        for name in names:
            wanted = LEVELS.index(level_of(name)) >= lowest
            if name in self._registered or not (wanted or name in self._settings.additional_events):
                continue
            if not self._registered:
                atexit.register(self._write_rest)
            self._registered[name] = self._hooks.register(
                name, self._take, priority=self._settings.priority, name="hooks-logging"
            )

    def writes_to(self, path: Any) -> bool:
        """Whether the log's file is this one."""
        if path is None:
            return False
        return Path(str(path)).expanduser().resolve() == self.path.resolve()

    async def close(self) -> None:
        """Take no more events, and write what is left."""
        for unregister in self._registered.values():
            unregister()
        self._registered.clear()
        atexit.unregister(self._write_rest)
        await self.flush()

    def _write_rest(self) -> None:
        """Write what waits when the program ends with the session still open."""
        lines, self._waiting = self._waiting, []
        if lines and not self._broken:
            self._write(lines)

    async def flush(self) -> None:
        """Write every line that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._lock:
            lines, self._waiting = self._waiting, []
            dropped, self._dropped = self._dropped, 0
            if not lines or self._broken:
                return
            try:
                await asyncio.to_thread(self._write, lines)
            except OSError as error:
                self._broken = True
                logger.error(
                    "The event log %s can't be written, logging ends: %s", self.path, error
                )
            if dropped:
                logger.warning("%d events are missing from %s", dropped, self.path)

    def _write(self, lines: list[Callable[[], str]]) -> None:
        if self.path.resolve() != self._target:
            # The place was checked; what a link makes of it later was not.
            raise OSError(errno.ELOOP, "it leads elsewhere since the session began")
        text = "".join(f"{_made(line)}\n" for line in lines)
        append(self.path, text.encode("utf-8", "backslashreplace"))

    async def _take(self, event: str, data: dict[str, Any]) -> HookResult:
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
        elif not self._broken:
            # The data is this handler's own copy, so the line can be made later, in the thread.
            line = partial(line_of, event, data, whole=self._settings.level == "DEBUG")
            self._waiting.append(line)
        if event in _ENDS:
            await self.flush()
        elif self._timer is None and not self._broken:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_AFTER, self._start_flush)
        return _CONTINUE

    def _start_flush(self) -> None:
        self._timer = None
        self._flushing = asyncio.create_task(self.flush())


def _made(line: Callable[[], str]) -> str:
    try:
        return line()
    except Exception as error:
        logger.exception("An event could not be written down")
        return f'{{"lvl": "ERROR", "event": "log:failed", "error": "{type(error).__name__}"}}'


def level_of(event: str) -> str:
    """Return the level an event is logged at."""
    if event in _PIECES:
        return "DEBUG"
    if event in _ERRORS:
        return "ERROR"
    return "WARNING" if event in _WARNINGS else "INFO"


def line_of(event: str, data: Mapping[str, Any], *, whole: bool) -> str:
    """Return an event as a line of JSON without line ends, secrets replaced.

    `whole` keeps what fills a log fast: the messages of a request.
    """
    rest = {key: value for key, value in data.items() if key not in _TOP}
    messages = rest.get("messages")
    if event == events.PROVIDER_REQUEST and isinstance(messages, list) and not whole:
        # Every request holds the conversation once more.
        del rest["messages"]
        rest["message_count"] = len(messages)
    record: dict[str, Any] = {
        "ts": data.get("timestamp") or datetime.now(UTC).isoformat(),
        "lvl": level_of(event),
        "schema": SCHEMA,
        "event": event,
        "session_id": data.get("session_id"),
    }
    if data.get("parent_id"):
        record["parent_id"] = data["parent_id"]
    record["data"] = redact_secrets(rest)
    # The kernel knows secrets by the name of their key, these are known by their shape.
    return replace_secrets(
        json.dumps(record, ensure_ascii=False, default=str), lambda secret, kind: REDACTED
    )


CAPABILITY = "hooks-logging.log"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Register for every event the kernel knows and the additional ones; returns the cleanup."""
    settings = LoggingSettings.read(config)
    path = log_path(settings.session_log_template, coordinator)
    log = SessionLog(coordinator.hooks, path, settings)
    by_host = log.writes_to(coordinator.get_capability(EVENTS_PATH_CAPABILITY))
    if settings.enabled and not by_host:
        log.listen([*events.ALL_EVENTS, "session:config", *settings.additional_events])
        coordinator.register_capability(CAPABILITY, log)
    return log.close


async def on_session_ready(coordinator: ModuleCoordinator) -> None:
    """Register for the events that modules announced; step back where the host writes the file."""
    log = coordinator.get_capability(CAPABILITY)
    if not isinstance(log, SessionLog):
        return
    if log.writes_to(coordinator.get_capability(EVENTS_PATH_CAPABILITY)):
        logger.debug("The host writes %s itself", log.path)
        await log.close()
        return
    for contribution in await coordinator.collect_contributions("observability.events"):
        if isinstance(contribution, list | tuple | set | frozenset):
            log.listen([name for name in contribution if isinstance(name, str)])
        elif isinstance(contribution, str):
            log.listen([contribution])
