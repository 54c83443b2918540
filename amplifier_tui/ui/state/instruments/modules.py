"""The mounted modules: their state, what they provide, how often and how long they worked."""

import re
from dataclasses import field
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import with_remedy
from amplifier_tui.host import events
from amplifier_tui.host.client import ModuleDetails
from amplifier_tui.host.events import ModuleKind
from amplifier_tui.ui.state.section import Section, assign, on, told

ModuleState = Literal["loading", "ready", "off", "failed", "noted"]
"""`off` is switched off. `noted` is no module of the session, and nothing is amiss with that."""

KIND_ORDER: tuple[ModuleKind, ...] = (
    "provider",
    "orchestrator",
    "context",
    "tool",
    "hook",
    "resolver",
    "unknown",
)

_ERROR = ("error", "remedy", "missing", "fatal", "refused", "kept")
_RESPONSES = ("llm:response", "provider:response")
_DURATION = re.compile(r'"duration_ms":\s*(\d+(?:\.\d+)?)(?![.\d])')


@dataclass(slots=True)
class ModuleStatus:
    """One module of the session, or another part of its bundle that it goes without.

    `kept`: the error is of a reload, and what was there goes on; `reloads` counts those that did
    not fail, the latest at `since`. `total_ms` is the time of all calls, `uses` how often each of
    its tools was called, `details` what was asked for.

    `calls` counts tool calls, model responses or handled hook events, the latest of which took
    `last_ms`; `trouble` is its latest error, of a turn or of one of its hook handlers, `problems`
    what is wrong with its settings and tools, `left_out` its context sources that the user goes on
    without, `failed_parts` which of its `parts` have failed, each with why; `in_place_of` is the
    source in whose place it is used; `where` is the file and line that ask for it; `since` is Unix
    time; `change` is what becomes of it at the next step of the turn, or (`at_rest`) when that has
    ended; `holds` are the events whose emit waits for a handler of it that takes long.
    """

    module_id: str
    kind: ModuleKind | str
    instance: str = ""
    state: ModuleState = "loading"
    since: float = 0.0
    mount_ms: float = 0.0
    provides: tuple[str, ...] = ()
    origin: str = ""
    owner: str = ""
    source: str = ""
    version: str = ""
    detail: str = ""
    events: tuple[str, ...] = ()
    error: str = ""
    remedy: str = ""
    missing: tuple[str, ...] = ()
    fatal: bool = False
    refused: bool = False
    calls: int = 0
    last_ms: float = 0.0
    model: str = ""
    trouble: str = ""
    problems: tuple[str, ...] = ()
    failed_parts: tuple[str, ...] = ()
    parts: int = 0
    left_out: tuple[str, ...] = ()
    in_place_of: str = ""
    where: str = ""
    kept: bool = False
    reloads: int = 0
    total_ms: float = 0.0
    uses: dict[str, int] = field(default_factory=dict)
    details: ModuleDetails | None = None
    change: str = ""
    at_rest: bool = False
    holds: tuple[str, ...] = ()

    @property
    def waits(self) -> str:
        """What becomes of it, and when; empty where no change waits."""
        when = "when this turn ends" if self.at_rest else "at the next step"
        return f"{self.change} {when}" if self.change else ""

    @property
    def stands(self) -> ModuleState:
        """Its state, by its parts as well: where none of them works, it is mounted for nothing."""
        lost = 0 < self.parts <= len(self.failed_parts)
        return "failed" if lost and self.state == "ready" else self.state

    @property
    def key(self) -> str:
        """Identifies the module in the session."""
        return module_key(self.module_id, self.instance)


def module_key(module_id: str, instance: str = "") -> str:
    """Return the key of a module: its id, with the instance when there are several."""
    return f"{module_id}#{instance}" if instance else module_id


class Modules(Section):
    """Modules by key; `ordered` is how they are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.by_key: dict[str, ModuleStatus] = {}
        self._tools: dict[str, ModuleStatus] = {}
        self._handlers: dict[str, ModuleStatus | None] = {}
        """Found by name; forgotten when a module comes or goes."""
        self._calls: dict[tuple[str, str], ModuleStatus] = {}
        self._provider_event = ""
        self.report: tuple[events.ReportItem, ...] = ()
        self.known = True
        """False for a past moment of which nothing is known."""
        self.elsewhere = False
        """Another window has the session open, and alone knows them."""

    def ordered(self) -> list[ModuleStatus]:
        """Return the modules by kind, then by name."""
        rank: dict[str, int] = {kind: index for index, kind in enumerate(KIND_ORDER)}
        return sorted(
            self.by_key.values(), key=lambda m: (rank.get(m.kind, len(rank)), m.module_id, m.key)
        )

    def count(self, state: ModuleState) -> int:
        """Return how many modules are in a state; one of which all parts failed has failed."""
        return sum(module.stands == state for module in self.by_key.values())

    @property
    def amiss(self) -> tuple[events.ReportItem, ...]:
        """What the session is without now: what was reported and not mended, and what failed since.

        Those that failed are just those that count as such.
        """
        modules = self.by_key.values()
        ready = {(m.kind, m.instance or m.module_id) for m in modules if m.stands == "ready"}
        reported = tuple(
            item
            for item in self.report
            if item.kind in ("replaced", "unused") or (item.part, item.what) not in ready
        )
        told = {item.what for item in reported}
        since = (m for m in modules if m.stands == "failed" and not _names(m) & told)
        return (*reported, *map(_failure, since))

    @property
    def refused(self) -> int:
        """How many of those that count as failed are what the user refused."""
        return sum(module.refused for module in self.by_key.values() if module.state == "failed")

    def clear(self) -> None:
        """Forget the modules, for another session."""
        self._calls.clear()
        self._provider_event = ""
        self.report = ()
        if self.by_key or self.elsewhere:
            self.elsewhere = False
            self.by_key.clear()
            self._changed()

    @on(events.SessionHeld)
    def _held(self, event: events.SessionHeld) -> None:
        if not self.elsewhere:
            self.elsewhere = True
            self._changed()

    @on(events.SessionClosed)
    def _closed(self, event: events.SessionClosed) -> None:
        self._calls.clear()

    @on(events.ModuleLoading)
    def _loading(self, event: events.ModuleLoading) -> None:
        key = module_key(event.module_id, event.instance)
        known = self.by_key.get(key)
        if known is not None and known.state in ("ready", "loading"):
            return
        self.by_key[key] = ModuleStatus(event.module_id, event.kind, event.instance, since=event.at)
        self._changed()

    @on(events.ModuleMounted)
    def _mounted(self, event: events.ModuleMounted) -> None:
        values = told(
            event,
            "provides",
            "origin",
            "owner",
            "source",
            "version",
            "detail",
            "events",
            "in_place_of",
            "problems",
        )
        values |= {"error": "", "remedy": "", "missing": (), "fatal": False, "refused": False}
        values |= {"kept": False, "details": None, "since": event.at}
        values |= {"failed_parts": (), "left_out": ()}
        if event.again:
            values["trouble"] = ""
        known = self.by_key.get(module_key(event.module_id, event.instance))
        values["reloads"] = known.reloads + 1 if known is not None and event.again else 0
        self._tell(event, state="ready", mount_ms=event.ms, **values)

    @on(events.ModuleFailed)
    def _failed(self, event: events.ModuleFailed) -> None:
        names = (*_ERROR, "origin", "owner") if event.origin else _ERROR
        self._tell(event, state="ready" if event.kept else "failed", **told(event, *names))

    @on(events.Failed, live=True)
    def _at_fault(self, event: events.Failed) -> None:
        self._blame(event.module, with_remedy(event.message, event.remedy))

    @on(events.Notice, live=True)
    def _noticed(self, event: events.Notice) -> None:
        self._blame(event.module, event.text)

    def _blame(self, module_id: str, trouble: str) -> None:
        for info in self.by_key.values():
            if info.module_id == module_id:
                info.trouble = trouble
                self._changed()

    @on(events.OpeningReported)
    def _reported(self, event: events.OpeningReported) -> None:
        if event.items == self.report:
            return
        self.report = event.items
        for item in event.items:
            module = next((m for m in self.by_key.values() if _tells_of(item, m)), None)
            if module is None:
                state: ModuleState = "noted" if item.kind in ("unused", "replaced") else "failed"
                module = ModuleStatus(
                    item.name,
                    item.part,
                    state=state,
                    source=item.what,
                    error=item.why,
                    remedy=item.remedy,
                    origin=item.asked_by,
                    owner=item.owner,
                    refused=item.kind == "refused",
                )
                if module.key in self.by_key:
                    module.instance = item.what
                self.by_key[module.key] = module
            module.where = item.where
        self._changed()

    @on(events.ModuleDegraded)
    def _degraded(self, event: events.ModuleDegraded) -> None:
        info = self.by_key.get(module_key(event.module_id, event.instance))
        if info is not None and assign(info, failed_parts=event.failed, parts=event.of):
            self.touch()

    @on(events.ModuleLeftOut)
    def _sources_left_out(self, event: events.ModuleLeftOut) -> None:
        info = self.by_key.get(module_key(event.module_id, event.instance))
        if info is not None and assign(info, left_out=event.sources):
            self.touch()

    @on(events.ModuleChangeWaits, live=True)
    def _change_waits(self, event: events.ModuleChangeWaits) -> None:
        info = self.by_key.get(module_key(event.module_id, event.instance))
        if info is not None and assign(info, **told(event, "change", "at_rest")):
            self.touch()

    @on(events.ModuleUnmounted)
    def _unmounted(self, event: events.ModuleUnmounted) -> None:
        if event.disabled:
            self._tell(event, state="off", provides=(), events=(), error="", kept=False)
        elif self.by_key.pop(module_key(event.module_id, event.instance), None) is not None:
            self._changed()

    def describe(self, details: ModuleDetails) -> None:
        """Take what was asked for about a module."""
        info = self.by_key.get(details.key)
        if info is not None and assign(info, details=details):
            self.touch()

    def share_of(self, module: ModuleStatus) -> float:
        """Return a module's part, from 0 to 1, of the time that modules worked in this session."""
        return module.total_ms / (sum(each.total_ms for each in self.by_key.values()) or 1.0)

    def _tell(
        self,
        event: events.ModuleMounted | events.ModuleFailed | events.ModuleUnmounted,
        **values: object,
    ) -> None:
        """Give a module, known or not, other values."""
        key = module_key(event.module_id, event.instance)
        known = self.by_key.get(key)
        info = known or ModuleStatus(event.module_id, event.kind, event.instance)
        self.by_key[key] = info
        if event.kind != "unknown":
            values["kind"] = event.kind
        if assign(info, **values) or known is None:
            self._changed()

    def _changed(self) -> None:
        self._tools.clear()
        self._handlers.clear()
        self.touch()

    @on(events.ToolStarted, live=True)
    def _call_started(self, event: events.ToolStarted) -> None:
        call = (event.agent, event.call_id)
        if call in self._calls:
            return
        info = self.by_key.get(event.module_id) or self._provider_of_tool(event.tool)
        if info is None:
            return
        self._calls[call] = info
        info.calls += 1
        info.uses[event.tool] = info.uses.get(event.tool, 0) + 1
        self.touch()

    @on(events.ToolEnded, live=True)
    def _call_ended(self, event: events.ToolEnded) -> None:
        info = self._calls.pop((event.agent, event.call_id), None)
        ms = event.duration_ms
        if info is not None and assign(info, last_ms=ms, total_ms=info.total_ms + ms):
            self.touch()

    def _provider_of_tool(self, tool: str) -> ModuleStatus | None:
        if not self._tools:
            tools = [info for info in self.by_key.values() if info.kind == "tool"]
            self._tools = {name: info for info in tools for name in info.provides}
        return self._tools.get(tool)

    @on(events.HookTraced, live=True)
    def _traced(self, event: events.HookTraced) -> None:
        if event.event in _RESPONSES:
            self._responded(event)
        for handler in event.handlers:
            info = self._module_of_handler(handler.module or handler.name)
            if info is None:
                continue
            info.calls += event.count
            info.last_ms = handler.ms
            info.total_ms += handler.ms
            if handler.error:
                info.trouble = handler.problem
            self.touch()

    @on(events.HandlerHolds, live=True)
    def _holds_up(self, event: events.HandlerHolds) -> None:
        info = self._module_of_handler(event.module or event.handler)
        if info is None:
            return
        holds = [*info.holds]
        if not event.over:
            holds.append(event.event)
        elif event.event in holds:
            holds.remove(event.event)
        if assign(info, holds=tuple(holds)):
            self.touch()

    def _module_of_handler(self, name: str) -> ModuleStatus | None:
        if name not in self._handlers:
            hooks = {key: info for key, info in self.by_key.items() if info.kind == "hook"}
            named = (info for info in hooks.values() if _is_of(name, info))
            self._handlers[name] = hooks.get(name) or next(named, None)
        return self._handlers[name]

    def _responded(self, event: events.HookTraced) -> None:
        # Providers report `llm:response`, orchestrators `provider:response` for the same call.
        if self._provider_event == "llm:response" != event.event:
            return
        self._provider_event = event.event
        info = self._provider(event.source)
        if info is None:
            return
        info.calls += event.count
        found = _DURATION.search(event.data)
        if found is not None:
            info.last_ms = float(found[1])
            info.total_ms += info.last_ms
        self.touch()

    def _provider(self, name: str) -> ModuleStatus | None:
        providers = [m for m in self.by_key.values() if m.kind == "provider"]
        for info in providers:
            if name and (
                name in (info.module_id, info.instance, info.key)
                or name in info.provides
                or f"provider-{name}" == info.module_id
            ):
                return info
        ready = [info for info in providers if info.state == "ready"]
        return ready[0] if len(ready) == 1 else None

    @on(events.UsageChanged)
    def _uses_model(self, event: events.UsageChanged) -> None:
        info = self._provider(event.provider) if event.model else None
        if info is not None and info.model != event.model:
            info.model = event.model
            self.touch()


def _tells_of(item: events.ReportItem, module: ModuleStatus) -> bool:
    """Say whether a module of the session is what an item of the report is about."""
    return item.part == module.kind and item.what in (module.module_id, module.instance)


def _is_of(handler: str, module: ModuleStatus) -> bool:
    """Say whether a handler's name is that of a module, or begins with it."""
    beginnings = tuple(module.module_id + mark for mark in ".:/_")
    return handler in (module.module_id, *module.provides) or handler.startswith(beginnings)


def _names(module: ModuleStatus) -> set[str]:
    return {module.module_id, module.instance, module.source} - {""}


def _failure(module: ModuleStatus) -> events.ReportItem:
    """Return what is to be said of a module that failed once the session was open."""
    return events.ReportItem(
        what=module.instance or module.module_id,
        kind="refused" if module.refused else "failed",
        part=module.kind,
        why="; ".join(module.failed_parts) or module.error,
        remedy=module.remedy,
        asked_by=module.origin,
        owner=module.owner,
        where=module.where,
        missing=module.missing,
    )
