"""Loading modules with a witness: each one is announced, timed, and known by what it mounted.

What did not load is told once more in the report of the opening.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from amplifier_tui import __version__
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.checks.ignored import why_no_session
from amplifier_tui.foundation.checks.opening_report import (
    check_session_modules,
    place_of_module,
    report_prepared,
    where,
)
from amplifier_tui.foundation.exceptions import BundleError, TrustRefusedError
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.foundation.settings.settings import BUILT_IN
from amplifier_tui.foundation.trust.refusing import RefusedModule
from amplifier_tui.foundation.trust.review import ALLOW_IT
from amplifier_tui.host.events import (
    ModuleFailed,
    ModuleKind,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    OpeningReported,
)
from amplifier_tui.host.session.modules.by_hand import mounted_before
from amplifier_tui.host.session.modules.context_waits import tell_waits
from amplifier_tui.host.session.modules.facts import ModuleFacts, Planned, put_into_plan
from amplifier_tui.host.session.modules.mount_state import MountState
from amplifier_tui.host.session.modules.remedies import remedy_for
from amplifier_tui.host.session.modules.settings import ignored_settings
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader, ModuleValidationError
from amplifier_tui.kernel.mounting.callbacks import cancel_requests
from amplifier_tui.kernel.mounting.contents import (
    EVENT,
    TOOL_NAME,
    mistaken_event,
    place_of,
    tool_name_problem,
)
from amplifier_tui.kernel.mounting.errors import MissingModuleError, named_text, with_place
from amplifier_tui.kernel.mounting.packages.finding import check_kind
from amplifier_tui.kernel.mounting.schemas import tool_schema_problem

_ANNOUNCED: Final = "observability.events"
"""Channel in which modules say which events they emit."""
_FATAL: Final = frozenset({"orchestrator", "context"})

Mount = Callable[[Any], Awaitable[Any]]


class ObservingLoader(ModuleLoader):
    """A `ModuleLoader` that tells what it does.

    Args:
        facts: What the plan says; filled with what is found out.
    """

    # A new session runs what is on disk now. Its agents run what it runs: of changes made while it
    # goes on, nobody was asked whether they are trusted.
    RUNS_CHANGES = True

    def __init__(self, coordinator: ModuleCoordinator, facts: ModuleFacts, sender: Sender) -> None:
        super().__init__(coordinator)
        self._facts = facts
        self._sender = sender
        self._left = list(facts.planned)
        self._failed: set[tuple[str, str]] = set()
        self._current: Planned | None = None
        self._again = False

    def expect(self, planned: Planned, *, again: bool = False) -> None:
        """Have the next load be of a module, whatever was loaded or failed before.

        Args:
            again: It is mounted: if the load fails, what was there stays.
        """
        self._left, self._again = [planned], again
        self._failed.discard((planned.module_id, planned.instance))

    async def load(
        self,
        module_id: str,
        config: dict[str, Any] | None = None,
        source_hint: Any = None,
        coordinator: Any = None,
        *,
        profile_source: Any = None,
    ) -> Mount:
        """Load a module; see `ModuleLoader.load`."""
        planned = self._current = self._next(module_id)
        self._sender.send(
            ModuleLoading(
                **self._sender.stamp(),
                module_id=module_id,
                kind=planned.kind,
                instance=planned.instance,
            )
        )
        began = perf_counter()
        try:
            mount = await super().load(
                module_id, config, source_hint, coordinator, profile_source=profile_source
            )
            check_kind(module_id, planned.kind, mount)
        except BaseException as error:
            self._fail(planned, error)
            raise
        return self._witnessed(mount, planned, began)

    def declined(self, module_id: str, instance: str, error: str) -> None:
        """`module:load_failed`: also for modules that mounted nothing without raising."""
        planned = self._current
        if planned is None or planned.module_id != module_id:
            key = (module_id, instance)
            unknown = Planned(module_id, _kind_of(module_id), instance)
            same = (p for p in self._facts.planned if (p.module_id, p.instance) == key)
            planned = next(same, unknown)
        self._fail(planned, error)

    def _next(self, module_id: str) -> Planned:
        for planned in self._left:
            if planned.module_id == module_id:
                self._left.remove(planned)
                return planned
        return Planned(module_id, _kind_of(module_id))

    def _witnessed(self, mount: Mount, planned: Planned, began: float) -> Mount:
        function = getattr(mount, "__mount__", None)
        built_in = str(getattr(function, "__module__", "")).startswith("amplifier_tui.")

        async def witnessed(coordinator: ModuleCoordinator) -> Any:
            before = MountState(coordinator)
            coordinator.asked_capabilities.clear()
            try:
                cleanup = await mount(coordinator)
            except BaseException as error:
                self._fail(planned, error, coordinator.asked_capabilities)
                raise
            if planned.kind == "context" and not built_in:
                tell_waits(coordinator.get("context"), planned.module_id, self._sender)
            seconds, after = perf_counter() - began, MountState(coordinator)
            mistakes = () if built_in else await _mistaken(coordinator, before, after)
            self._mounted(planned, before, after, seconds, built_in, mistakes)
            return cleanup

        # What the kernel reads off a mount: whose code it is, what is called when all are ready.
        vars(witnessed).update(vars(mount))
        return witnessed

    def _mounted(
        self,
        planned: Planned,
        before: MountState,
        after: MountState,
        seconds: float,
        built_in: bool,
        problems: tuple[str, ...],
    ) -> None:
        provides = after.names_since(before)
        if planned.kind == "provider" and not provides:
            return  # The kernel counts that as a failure, and says so.
        planned.mounted = True
        module_id = planned.module_id
        if planned.kind == "provider" and planned.instance:
            provides = (planned.instance,)
        if planned.kind == "tool":
            problems = (*self._tool_problems(module_id, before, after), *problems)
            self._facts.tools.update(dict.fromkeys(provides, module_id))
        if planned.kind == "provider":
            problems = (*self._replaced_providers(planned, before, after), *problems)
        events = after.events_since(before)
        source = BUILT_IN if built_in else redact_uri(planned.source) or "installed package"
        silent = not provides and not events and after.sources == before.sources
        idle = silent and planned.kind in ("tool", "hook")
        detail = "has nothing to offer here" if idle else planned.detail
        self._sender.send(
            ModuleMounted(
                **self._sender.stamp(),
                module_id=module_id,
                kind=planned.kind,
                instance=planned.instance,
                ms=seconds * 1000,
                provides=provides,
                origin=planned.origin,
                owner=planned.owner,
                source=source,
                version=__version__ if built_in else "",
                detail=detail,
                in_place_of=planned.in_place_of,
                events=events,
                again=self._again,
                # Of settings, the notices are of the bundle's files, with the lines.
                problems=(*ignored_settings(planned), *problems),
            )
        )
        for problem in problems:
            self._sender.notice("warning", f"{module_id}: {problem}", "modules")

    def _tool_problems(
        self, module_id: str, before: MountState, after: MountState
    ) -> Iterable[str]:
        """Yield what is wrong with the tools that a module mounted, with the remedy."""
        for name, tool, earlier in after.new_since(before, "tools"):
            found = ((tool_name_problem(name), TOOL_NAME), tool_schema_problem(tool) or ("", ""))
            problems = [(f"'{name}': {each}", remedy) for each, remedy in found if each]
            owner = self._facts.module_of_tool(name, earlier)
            if earlier is not None and owner != module_id:
                problems.insert(0, (_clash("tool", name, owner), "Rename it"))
            # Only where there are some: to find its place, the module's whole file is parsed.
            at = _at(tool) if problems else ""
            yield from (f"{each}{at}. {remedy}" for each, remedy in problems)

    def _replaced_providers(
        self, planned: Planned, before: MountState, after: MountState
    ) -> Iterator[str]:
        """Yield which providers a module put its own in the place of, with the remedy."""
        for name, provider, earlier in after.new_since(before, "providers"):
            if planned.instance:
                # The kernel gives it this name, and the other its own name back.
                name, earlier = planned.instance, before.mounted("providers", planned.instance)
            if earlier is not None:
                owner = self._owner_of(earlier)
                remedy = "Rename it, or give it another id in the bundle"
                yield f"{_clash('provider', name, owner)}{_at(provider)}. {remedy}"

    def _owner_of(self, provider: Any) -> str:
        modules = self._coordinator.mounted_modules
        owners = (each for each in modules if any(p is provider for p in each.points.values()))
        return next((each.module_id for each in owners), "")

    def _fail(
        self,
        planned: Planned,
        error: BaseException | str,
        asked: Mapping[str, bool] | None = None,
    ) -> None:
        key = (planned.module_id, planned.instance)
        if key in self._failed:
            return
        self._failed.add(key)
        text = error if isinstance(error, str) else named_text(error)
        if isinstance(error, asyncio.CancelledError) and cancel_requests():
            text = "You stopped its mounting"
        if isinstance(error, MissingModuleError | ModuleValidationError):
            text = getattr(error, "details", "") or error.reason or text
        if isinstance(error, BaseException):
            text = with_place(text, error)
        failed = ModuleFailed(
            **self._sender.stamp(),
            module_id=planned.module_id,
            kind=planned.kind,
            error=self._sender.redactor.text(text),
            remedy=remedy_for(planned, error, asked or {}),
            instance=planned.instance,
            origin=planned.origin,
            owner=planned.owner,
            fatal=planned.kind in _FATAL and not self._again,
            missing=planned.missing,
            kept=self._again,
        )
        self._facts.failed.append(failed)
        self._sender.send(failed)


def say_refused(refused: Iterable[RefusedModule], sender: Sender) -> None:
    """Show the modules that are not mounted because the user refused them."""
    for each in refused:
        agent = f"of agent {each.agent}: " if each.agent else ""
        sender.send(
            ModuleFailed(
                **sender.stamp(),
                module_id=each.module_id,
                kind=each.kind,
                error=f"{agent}{each.reason}",
                remedy=each.remedy,
                instance=each.instance,
                origin=each.included_by[-1],
                fatal=each.kind in _FATAL,
                refused=True,
            )
        )


def check_runs(refused: Iterable[RefusedModule]) -> None:
    """Raise `TrustRefusedError` where a session was refused what it can't run without."""
    for each in refused:
        if each.kind in _FATAL and not each.agent:
            message = f"The session can't run without its {each.kind} {each.module_id}, and it"
            raise TrustRefusedError(f"{message} is not used: {each.reason}", remedy=each.remedy)


def check_plan(bundle: BundleData) -> None:
    """Raise `BundleError` where a composed bundle lacks what no session runs without."""
    if lacking := why_no_session(bundle):
        if any(each.kind == "refused" for each in bundle.skipped):
            raise TrustRefusedError(lacking, path=bundle.source_file, remedy=ALLOW_IT)
        raise BundleError(lacking, path=bundle.source_file)
    check_session_modules(bundle)


def leave_out_disabled(plan: dict[str, Any], facts: ModuleFacts, sender: Sender) -> None:
    """Take the modules out of a plan that are switched off in the session, and say so."""
    for planned in facts.planned:
        if planned.key not in sender.store.metadata.disabled:
            continue
        put_into_plan(plan, planned, out=True)
        sender.send(
            ModuleUnmounted(
                **sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                disabled=True,
            )
        )


def _clash(kind: str, name: str, owner: str) -> str:
    whose = f" of {owner}" if owner else ""
    return f"'{name}' takes the place of the {kind}{whose} with that name"


def _at(mounted: Any) -> str:
    place = place_of(mounted)
    return f" ({place})" if place else ""


async def _mistaken(
    coordinator: ModuleCoordinator, before: MountState, after: MountState
) -> tuple[str, ...]:
    """Return what is wrong with events that a module hears, where no module says it emits them."""
    events = after.events_since(before)
    found = {event: problem for event in events if (problem := mistaken_event(event))}
    announced: set[Any] = set()
    for names in await coordinator.collect_contributions(_ANNOUNCED) if found else ():
        announced.update(names if isinstance(names, list | tuple | set) else (names,))
    return tuple(
        f"{problem}{_at(after.handler_since(before, event))}. {EVENT}."
        for event, problem in found.items()
        if event not in announced
    )


async def opening_report(
    facts: ModuleFacts, sender: Sender, prepared: PreparedBundle, working_dir: Path
) -> OpeningReported | None:
    """Return what the session goes without, to be sent once it is open; None for nothing.

    Call it when every module was mounted, or failed to be.
    """
    found = await report_prepared(prepared, working_dir)
    failed = facts.failed
    found += await asyncio.to_thread(lambda: [_of_module(each, prepared) for each in failed])
    found += mounted_before(facts, sender)
    if not found:
        return None
    redact = sender.redactor.text
    items = tuple(replace(each, what=redact(each.what), why=redact(each.why)) for each in found)
    ready = sum(planned.mounted for planned in facts.planned)
    return OpeningReported(**sender.stamp(), ready=ready, items=items)


def _of_module(failed: ModuleFailed, prepared: PreparedBundle) -> ReportItem:
    name = failed.instance or failed.module_id
    return ReportItem(
        what=name,
        kind="failed",
        part=failed.kind,
        why=failed.error,
        remedy=failed.remedy,
        asked_by=failed.origin,
        owner=failed.owner,
        where=where(*place_of_module(prepared.bundle, failed.kind, name)),
        missing=failed.missing,
    )


_BY_NAME: Final[dict[str, ModuleKind]] = {
    "loop": "orchestrator",
    "context": "context",
    "provider": "provider",
    "tool": "tool",
    "hook": "hook",
}
"""Kinds by how ids begin; each has a contract to be checked against."""


def _kind_of(module_id: str) -> ModuleKind:
    kinds = (kind for start, kind in _BY_NAME.items() if module_id.startswith(start))
    return next(kinds, "unknown")
