"""Where the modules of a running session come from, and whether their code may run."""

import asyncio
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.checks.bundle_file import line_in
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.exceptions import BundleError, TrustCancelledError
from amplifier_tui.foundation.modules.later import activate_later, module_in
from amplifier_tui.foundation.registry.project_bundles import Trust
from amplifier_tui.foundation.trust.items import TrustDecision
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.events import ModuleKind
from amplifier_tui.host.session.modules.by_hand import BY_HAND
from amplifier_tui.host.session.modules.facts import KINDS, Planned
from amplifier_tui.host.trust.service import TrustService
from amplifier_tui.kernel.mounting.discovery import declared_kind


@dataclass
class ModuleSources:
    """The sources of one session's modules.

    Attributes:
        prepared: The bundle of the session, which says who sets what.
        trust: Makes who answers for what a project or a stranger brings.
    """

    workspace: Workspace
    prepared: PreparedBundle
    trust: Callable[[], Trust]
    _asking: TrustService | None = None
    _leave: dict[str, Callable[[], None]] = field(default_factory=dict)

    @property
    def asks(self) -> bool:
        """Whether a question about a module's code waits for its answer."""
        return self._asking is not None and self._asking.asks

    async def activate(self, planned: Planned) -> None:
        """Have a module's source here, as it is now, and its code allowed to run.

        Raises:
            BundleError: It can't be had, or it was refused.
        """
        if not planned.source:
            return
        trust = self.trust()
        self._asking = trust if isinstance(trust, TrustService) else None
        owner = Owner(planned.owner) if planned.owner else Owner.STRANGER
        places = {"home": self.workspace.home, "base": self.workspace.project}
        review = self.workspace.review(trust)
        try:
            path, leave = await activate_later(
                planned.module_id, planned.source, review, owner, **places
            )
        except BundleError as error:
            if not (review.refused or isinstance(error, TrustCancelledError)):
                raise
            if self._asking is not None:
                # It was refused for now: another attempt asks again.
                await asyncio.to_thread(self._asking.forget, review.refused)
            left = isinstance(error, TrustCancelledError)
            why = "You left the question about its code" if left else "You refused its code"
            raise BundleError(f"{why} as it is now.", remedy="Reload asks again.") from error
        finally:
            self._asking = None
        self.prepared.resolver.add(planned.module_id, planned.source, path)
        former = self._leave.pop(planned.key, None)
        if former is not None:
            former()
        self._leave[planned.key] = leave

    def answer(self, request_id: str, decision: TrustDecision) -> None:
        """Take the user's answer about a module's code."""
        if self._asking is not None:
            self._asking.answer(request_id, decision)

    async def described(self, wanted: str) -> Planned:
        """Return the module of an id, a path or a source URI, as the user asks for it.

        Raises:
            BundleError: There is none.
        """
        folder = self._folder(wanted)
        if folder is not None:
            module_id, kind = await module_in(folder)
            source = str(folder)
        elif "/" in wanted or ":" in wanted:
            remedy = "Give a module's folder or id."
            raise BundleError(f"There is no folder {wanted}", remedy=remedy)
        else:
            module_id, kind, source = wanted, declared_kind(wanted, None), ""
        spec: dict[str, Any] = {"module": module_id, **({"source": source} if source else {})}
        known: ModuleKind = next((each for each in KINDS if each == kind), "tool")
        return Planned(module_id, known, source=source, origin=BY_HAND, owner="user", spec=spec)

    def _folder(self, wanted: str) -> Path | None:
        try:
            path = self.workspace.project / Path(wanted).expanduser()
        except RuntimeError:  # the home of a user there is not
            return None
        return path.resolve() if path.is_dir() else None

    async def origins_of(self, planned: Planned) -> dict[str, tuple[Origin, int]]:
        """Return who has the last word about each setting of a module, and the line of it."""
        return await asyncio.to_thread(self._origins_of, planned)

    def _origins_of(self, planned: Planned) -> dict[str, tuple[Origin, int]]:
        found: dict[str, tuple[Origin, int]] = {}
        for entry in entries_of(self.prepared.bundle):
            instance = str(entry.data.get("instance_id") or "")
            same = (entry.kind, entry.module, instance) == (
                planned.kind,
                planned.module_id,
                planned.instance,
            )
            if entry.agent or not same:
                continue
            name = entry.kind if entry.section == "session" else module_key(entry.data)
            for key in entry.data.get("config") or {}:
                for origin in self.prepared.bundle.origins.get(entry.origin, []):
                    keys = ("config", str(key))
                    line = origin.path and line_in(origin.path, entry.section, name, keys)
                    if line:
                        found[str(key)] = (origin, line)
        return found
