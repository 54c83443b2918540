"""Taking out of a mount plan what the user refused, and saying so."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import BundleData, ModuleKind
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.sources.lockfile import LockEntry
from amplifier_tui.foundation.trust.items import make_item
from amplifier_tui.foundation.trust.owners import Owner
from amplifier_tui.foundation.trust.review import ALLOW_IT, TrustReview

GUARDING_HOOKS: Final = ("hooks-approval", "hooks-redaction", "hooks-logging", "hooks-checkpoint")


@dataclass(frozen=True, slots=True)
class RefusedModule:
    """A module that is not in the mount plan, because the user refused it or its destination.

    Attributes:
        instance: The entry's own `id`, if it has one.
        agent: The agent whose module it is; empty for the session's own.
        included_by: The bundles that contributed to the entry.
        reason: What was refused, one sentence.
        remedy: What the user can do.
    """

    module_id: str
    kind: ModuleKind
    instance: str
    agent: str
    included_by: tuple[str, ...]
    reason: str
    remedy: str = ALLOW_IT

    @classmethod
    def of(
        cls, entry: ModuleEntry, bundle: BundleData, reason: str, remedy: str = ALLOW_IT
    ) -> "RefusedModule":
        """Return what to say of an entry."""
        return cls(
            entry.module,
            entry.kind,
            str(entry.data.get("id") or ""),
            entry.agent,
            bundle.contributors(entry.origin),
            reason,
            remedy,
        )


def remove_entry(plan: dict[str, Any], entry: ModuleEntry) -> None:
    """Take an entry of a bundle out of the bundle's mount plan, in place."""
    if entry.agent:
        holder = dict(plan["agents"][entry.agent])
        plan["agents"] = {**plan["agents"], entry.agent: holder}
    else:
        holder = plan
    if entry.section == "session":
        session = holder["session"].items()
        holder["session"] = {key: value for key, value in session if value is not entry.data}
    elif entry.section == "spawn":
        tools = [each for each in holder["spawn"]["tools"] if each is not entry.data]
        holder["spawn"] = {**holder["spawn"], "tools": tools}
    else:
        holder[entry.section] = [each for each in holder[entry.section] if each is not entry.data]


def remove_refused(
    bundle: BundleData,
    plan: dict[str, Any],
    review: TrustReview,
    resolved: Mapping[str, LockEntry],
) -> list[RefusedModule]:
    """Take every module whose code was refused out of a bundle's mount plan, in place.

    What guards the user is mounted as the program has it, in place of what was refused.
    """
    removed: list[RefusedModule] = []
    for entry in list(entries_of(bundle)):
        source = entry.data.get("source")
        if not isinstance(source, str) or not source or review.allows_source(source, resolved):
            continue
        remove_entry(plan, entry)
        reason, remedy = f"you refused its code, {redact_uri(source)}", ALLOW_IT
        if unasked := review.why_unasked(source):
            reason, remedy = f"{unasked[0]}: {redact_uri(source)}", unasked[1]
        if entry.module in GUARDING_HOOKS and not entry.agent:
            plan["hooks"] = [*plan.get("hooks", ()), {"module": entry.module}]
            reason += "; the program's own is mounted in its place"
        removed.append(RefusedModule.of(entry, bundle, reason, remedy))
    return removed


def keep_redaction(bundle: BundleData, review: TrustReview) -> None:
    """Add what keeps secrets from the model to a stranger's bundle, unless it may go without."""
    if not bundle.tools or any(entry.get("module") == "hooks-redaction" for entry in bundle.hooks):
        return
    file, places = bundle.source_file, review.places
    if file is None or places.owner_of(file).is_trusted:
        return
    own = places.owner_of(file) is Owner.PROJECT
    item = make_item(
        "power",
        "leaving out hooks-redaction",
        subject=(str(file), "without hooks-redaction"),
        content="absent",
        owner=str(places.project if own else file.parent),
        detail="keys and passwords in what tools answer would reach the model; otherwise it is "
        "mounted, and a bundle that includes coding:behaviors/redaction is not asked about",
        where=str(file),
    )
    if not review.allows(item):
        bundle.hooks.append({"module": "hooks-redaction"})
