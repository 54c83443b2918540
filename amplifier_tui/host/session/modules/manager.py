"""Changing the modules of a session while it runs."""

import asyncio
import json
import logging
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from amplifier_tui.base.plain import plain
from amplifier_tui.base.python import without_exit
from amplifier_tui.base.text import one_line
from amplifier_tui.foundation.bundle.session import register_hook_metadata
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.host.client import ModuleDetails, ToolCard
from amplifier_tui.host.events import Level, ModuleFailed, ModuleUnmounted
from amplifier_tui.host.session.modules.by_hand import forget_mounted, note_mounted
from amplifier_tui.host.session.modules.change_queue import ChangeQueue, ModuleChange
from amplifier_tui.host.session.modules.facts import ModuleFacts, Planned, put_into_plan
from amplifier_tui.host.session.modules.loading import ObservingLoader
from amplifier_tui.host.session.modules.settings import describe_settings, settings_refusal
from amplifier_tui.host.session.modules.sources import ModuleSources
from amplifier_tui.host.store.metadata import Metadata
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.mounting.discovery import installed_modules, is_built_in
from amplifier_tui.kernel.mounting.errors import reason_text
from amplifier_tui.kernel.mounting.mount import ReadyQueue, announce_ready, mount_module
from amplifier_tui.kernel.mounting.mounted import MountedModule
from amplifier_tui.kernel.mounting.packages.finding import package_name
from amplifier_tui.kernel.mounting.replacing import replace_module, unmount_module
from amplifier_tui.kernel.session import AmplifierSession

logger = logging.getLogger(__name__)

_OWN: Final = "amplifier_tui."
_WHY: Final = 160
"""Characters of a reason in a notice."""
_HOLDS: Final = re.compile(r"\b(?:OSError|BlockingIOError|FileExistsError)\b")
"""What a module raises that can't get what another one has."""
_HELD: Final = "Where it holds a port or a lock, unmount it first: a new one is made beside it."


class ChangeRefusedError(Exception):
    """A module is not changed; the message says why, and what to do instead."""


class ModuleManager:
    """The modules of one session, and what the user changes about them.

    A change is made at once while no turn runs, else before the next request to the model, when no
    tool runs; of what a turn is made of itself, when the turn has ended.

    Args:
        running: Whether a turn runs.
        paused: Has prompts wait while something is changed.
        changed: Called when the session has other modules than before.
    """

    def __init__(
        self,
        session: AmplifierSession,
        facts: ModuleFacts,
        sources: ModuleSources,
        sender: Sender,
        *,
        running: Callable[[], bool],
        paused: Callable[[], AbstractContextManager[None]],
        changed: Callable[[], None],
    ) -> None:
        self._session = session
        self._coordinator = session.coordinator
        if not isinstance(session.loader, ObservingLoader):
            raise TypeError("The loader of the session does not tell what it does")
        self._loader = session.loader
        self._facts = facts
        self.sources = sources
        self._sender = sender
        self._changed = changed
        self._queue = ChangeQueue(session.coordinator.hooks, self._make, running, paused, sender)

    async def mount(self, wanted: str) -> None:
        """Mount a module: a key or id of this session, another id, or a module's folder."""
        planned = self._facts.find(wanted)
        if planned is None:
            try:
                planned = await self.sources.described(wanted)
            except BundleError as error:
                self._say("warning", f"{error}")
                return
            known = self._facts.find(planned.key)
            if known is not None and self._mounted(known) is not None:
                self._say("warning", f"{planned.key} is mounted already: unmount it first")
                return
        if self._mounted(planned) is not None:
            self._say("info", f"{planned.key} is mounted already")
            return
        await self._do(planned, self._mount, "mounted")

    async def unmount(self, key: str) -> None:
        """Take a module out of the session; of one that was mounted before, forget that."""
        if self._facts.find(key) is None and key in self._metadata.mounted:
            forget_mounted(self._metadata, key)
            self._sender.store.save_metadata()
            self._say("info", f"{key} is forgotten: this session is not without it any more")
            return
        await self._do_to(key, self._unmount, "taken out", self._needed)

    async def reload(self, key: str) -> None:
        """Run a module's source anew; a module that is not mounted is tried again."""
        await self._do_to(key, self._reload, "reloaded")

    async def switch(self, key: str, *, on: bool) -> None:
        """Switch a module on, or off for this session; the one takes back the other that waits."""
        if self._queue.take_back(key, "switched off" if on else "switched on"):
            self._say("info", f"{key} stays switched {'on' if on else 'off'}")
        elif on:
            await self._do_to(key, self._mount, "switched on")
        else:
            await self._do_to(key, self._disable, "switched off", self._needed)

    async def configure(self, key: str, setting: str, value: str) -> None:
        """Give a module another value of a setting; see `SessionClient.configure`."""

        async def apply(planned: Planned) -> str:
            return await self._configure(planned, setting, value)

        await self._do_to(key, apply, "configured")

    async def setting_problem(self, key: str, setting: str, value: str) -> str:
        """Return what is wrong with a value for a setting; see `SessionClient.setting_problem`."""
        planned = self._facts.find(key)
        if planned is None:
            return f"This session has no module {key}"
        config = _config_with(planned, setting, value)
        return settings_refusal(planned, setting, config, self._sender.redactor)

    async def details(self, key: str) -> ModuleDetails:
        """Describe a module.

        Raises:
            RuntimeError: There is none of this key.
        """
        planned = self._facts.find(key)
        if planned is None:
            raise RuntimeError(f"This session has no module {key}")
        origins = await self.sources.origins_of(planned)
        mounted = self._mounted(planned)
        tools = self._coordinator.get("tools") or {}
        names: list[str] = []
        if mounted is not None and planned.kind == "tool":
            of = self._facts.module_of_tool
            later = [name for name, tool in tools.items() if of(name, tool) == planned.module_id]
            names = list(dict.fromkeys((*mounted.provides, *later)))
        return ModuleDetails(
            key=planned.key,
            settings=tuple(describe_settings(planned, origins, self._sender.redactor)),
            tools=tuple(_tool(name, tools[name]) for name in names if name in tools),
            folder=_folder(mounted),
        )

    # --- when ------------------------------------------------------------------------------

    async def _do_to(
        self,
        key: str,
        apply: Callable[[Planned], Awaitable[str]],
        what: str,
        refusal: Callable[[Planned], str] = lambda _: "",
    ) -> None:
        planned = self._facts.find(key)
        if planned is None:
            self._say("warning", f"This session has no module {key}")
        elif refused := refusal(planned):
            # What can be told now is not said only when the turn has ended.
            self._say("warning", refused)
        else:
            await self._do(planned, apply, what)

    async def _do(
        self, planned: Planned, apply: Callable[[Planned], Awaitable[str]], what: str
    ) -> None:
        if self.sources.asks:
            # It would be made after the answer, when nobody expects it any more.
            message = f"{planned.key} is not {what}: a question waits for your answer first"
            self._say("warning", message)
            return
        at_rest = planned.kind in ("orchestrator", "provider", "context")
        if await self._queue.add(ModuleChange(planned, apply, what, at_rest)):
            return
        when = "when this turn has ended" if at_rest else "at the next step of this turn"
        self._say("info", f"{planned.key} is {what} {when}")

    async def turn_over(self) -> None:
        """Make what waits: the turn has ended."""
        await self._queue.turn_over()

    def stop_change(self) -> None:
        """Stop the change that is being made, if one is."""
        self._queue.stop_current()

    async def stop(self, timeout: float) -> None:
        """End what is being changed, a question of trust too, and change nothing from here on."""
        await self._queue.stop(timeout)

    async def _make(self, change: ModuleChange) -> None:
        # A change before this one may have given it other settings.
        planned = self._facts.find(change.planned.key) or change.planned
        try:
            with without_exit():
                said = await change.apply(planned)
        except ChangeRefusedError as error:
            self._say("warning", str(error))
        except asyncio.CancelledError:
            if not self._queue.stopped:
                state = "mounted" if self._mounted(planned) is not None else "not mounted"
                self._say("warning", f"You stopped the change: {planned.key} is {state}")
            raise
        except BundleError as error:
            self._fail(planned, error)
        except Exception as error:
            # The loader has told the row of all of it.
            logger.info("%s is not %s", planned.key, change.what, exc_info=error)
            why = one_line(reason_text(error).split(". ")[0], _WHY).rstrip(".")
            kept = "; what was there goes on" if self._mounted(planned) is not None else ""
            said = f"{planned.key} can't be {change.what}: {why}{kept}"
            held = f" {_HELD}" if kept and _HOLDS.search(str(error)) else ""
            self._say("error", f"{said}.{held} The modules pane says more.")
        else:
            register_hook_metadata(self._session)
            self._say("info", said)
            self._changed()

    # --- what ------------------------------------------------------------------------------

    async def _mount(self, planned: Planned) -> str:
        if planned.kind in ("orchestrator", "context"):
            raise ChangeRefusedError(
                f"A session has one {planned.kind}: another bundle brings another one (/bundle)"
            )
        if self._mounted(planned) is not None:
            return f"{planned.key} is mounted"
        await self.sources.activate(planned)
        if self._facts.find(planned.key) is None:
            self._facts.planned.append(planned)
        self._loader.expect(planned)
        began = perf_counter()
        ready: ReadyQueue = []
        coordinator = self._coordinator
        with self._loader.fresh(planned.module_id, await self._package(planned)):
            await mount_module(
                coordinator, self._loader, planned.mounts_as, dict(planned.spec), ready
            )
        put_into_plan(self._session.config, planned)
        note_mounted(self._metadata, planned)
        self._remember(planned, off=False)
        await announce_ready(coordinator, ready)
        return f"{planned.key} is mounted ({_span(began)}): the next request has it"

    async def _unmount(self, planned: Planned) -> str:
        there = await self._take_out(planned)
        self._sender.store.save_metadata()
        if there:
            return f"{planned.key} is taken out; `/mount {planned.key}` brings it back"
        again = f"`/mount {planned.key}` tries it anew"
        return f"{planned.key} is taken out, and was not mounted; {again}"

    async def _disable(self, planned: Planned) -> str:
        await self._take_out(planned, disabled=True)
        self._remember(planned, off=True)
        return f"{planned.key} is switched off for this session"

    async def _take_out(self, planned: Planned, *, disabled: bool = False) -> bool:
        """Take a module out of the session and its plan; False where it was not mounted."""
        if needed := self._needed(planned):
            raise ChangeRefusedError(needed)
        mounted = self._mounted(planned)
        if mounted is not None:
            await unmount_module(self._coordinator, mounted)
            self._facts.forget(planned.module_id)
        put_into_plan(self._session.config, planned, out=True)
        forget_mounted(self._metadata, planned.key)
        self._sender.send(
            ModuleUnmounted(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                instance=planned.instance,
                disabled=disabled,
            )
        )
        return mounted is not None

    async def _reload(self, planned: Planned) -> str:
        mounted = self._mounted(planned)
        if mounted is None:
            return await self._mount(planned)
        if planned.kind == "context":
            raise ChangeRefusedError(
                f"{planned.key} holds the conversation and is not reloaded: /bundle opens the "
                "bundle anew and takes the conversation along"
            )
        await self.sources.activate(planned)
        began = perf_counter()
        own = mounted.package.startswith(_OWN)
        await self._replace(mounted, planned, "" if own else mounted.package)
        if own:
            return f"{planned.key} comes with the program: mounted anew, its code is the same"
        return f"{planned.key} is reloaded ({_span(began)}): the next call runs the new code"

    async def _configure(self, planned: Planned, setting: str, value: str) -> str:
        config = _config_with(planned, setting, value)
        refusal = settings_refusal(planned, setting, config, self._sender.redactor)
        if refusal:
            raise ChangeRefusedError(refusal)
        own = frozenset({*planned.own_settings, setting})
        changed = replace(planned, spec={**planned.spec, "config": config}, own_settings=own)
        mounted = self._mounted(planned)
        if mounted is not None:
            await self._replace(mounted, changed, "")
            put_into_plan(self._session.config, changed)
        self._facts.planned[self._facts.planned.index(planned)] = changed
        return f"{setting} of {planned.key} holds for this session"

    async def _replace(self, mounted: MountedModule, planned: Planned, package: str) -> None:
        self._loader.expect(planned, again=True)
        tools = self._facts.tools
        self._facts.forget(planned.module_id)
        try:
            with self._loader.fresh(planned.module_id, package):
                await replace_module(self._coordinator, self._loader, mounted, dict(planned.spec))
        except BaseException:
            self._facts.tools = tools
            raise

    # --- helpers ---------------------------------------------------------------------------

    @property
    def _metadata(self) -> Metadata:
        # Saving puts another one in its place.
        return self._sender.store.metadata

    def _needed(self, planned: Planned) -> str:
        """Return why the session can't do without a module; empty where it can."""
        if planned.kind in ("orchestrator", "context"):
            return f"A session cannot be without its {planned.kind}"
        if planned.kind == "provider" and len(self._coordinator.get("providers") or {}) < 2:
            return f"{planned.key} is the only provider: nobody would answer"
        return ""

    def _mounted(self, planned: Planned) -> MountedModule | None:
        wanted = (planned.kind, planned.module_id, planned.instance)
        return next(
            (
                each
                for each in self._coordinator.mounted_modules
                if (each.kind, each.module_id, each.instance_id) == wanted
            ),
            None,
        )

    async def _package(self, planned: Planned) -> str:
        """Return the package that a module which is not mounted has; empty for the program's."""
        entry = installed_modules().get(planned.module_id)
        if not planned.source and entry is not None and is_built_in(entry):
            return ""
        return package_name(planned.module_id)

    def _remember(self, planned: Planned, *, off: bool) -> None:
        metadata = self._metadata
        keys = [key for key in metadata.disabled if key != planned.key]
        metadata.disabled = [*keys, planned.key] if off else keys
        # Here and now: what others note on the card meanwhile would be lost.
        self._sender.store.save_metadata()

    def _fail(self, planned: Planned, error: BundleError) -> None:
        kept = self._mounted(planned) is not None
        self._sender.send(
            ModuleFailed(
                **self._sender.stamp(),
                module_id=planned.module_id,
                kind=planned.kind,
                error=self._sender.redactor.text(str(error)),
                remedy=error.remedy,
                instance=planned.instance,
                origin=planned.origin,
                owner=planned.owner,
                kept=kept,
            )
        )
        self._say("warning", f"{planned.key}: {error}")

    def _say(self, level: Level, text: str) -> None:
        self._sender.notice(level, text, "modules")


def _tool(name: str, tool: Any) -> ToolCard:
    schema = getattr(tool, "input_schema", None)
    return ToolCard(
        name=name,
        description=str(getattr(tool, "description", "") or ""),
        schema=json.dumps(plain(schema), ensure_ascii=False, indent=2) if schema else "",
    )


def _folder(mounted: MountedModule | None) -> str:
    package = sys.modules.get(mounted.package) if mounted is not None else None
    file = getattr(package, "__file__", None)
    return str(Path(file).parent) if file else ""


def _span(began: float) -> str:
    return f"{perf_counter() - began:.2f} s"


def _config_with(planned: Planned, setting: str, value: str) -> dict[str, Any]:
    """Return a module's settings with one changed; an empty value takes it out."""
    config = dict(planned.spec.get("config") or {})
    if not value.strip():
        config.pop(setting, None)
        return config
    try:
        config[setting] = json.loads(value)
    except ValueError:
        config[setting] = value.strip()
    return config
