"""The bundles: what the chosen one would open without, which others are broken, what is fetched."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.commands.as_typed import as_typed
from amplifier_tui.cli.doctor.findings import Diagnosis, State

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.preview import BundleDescription
    from amplifier_tui.foundation.checks.preview import State as BundleState
    from amplifier_tui.foundation.workspace import Workspace

_STATES: "Final[dict[BundleState, tuple[State, str]]]" = {
    "ready": ("ok", "ready"),
    "incomplete": ("warning", "opens without a part of it"),
    "needs_key": ("note", "no provider has its key"),
    "not_fetched": ("note", "not fetched yet"),
    "invalid": ("error", "not valid"),
}
_REMEDIES: "Final[dict[BundleState, str]]" = {
    "invalid": f"Run `{as_typed('amplifier-tui bundle validate')}`: it says where.",
    "incomplete": "What is missing is listed below, each with what to do.",
    "needs_key": "See Providers.",
    "not_fetched": "Opening it asks first, then fetches what is missing.",
}
_LONGEST: Final = 20
"""Broken bundles that are named."""


def previews(
    workspace: "Workspace", name: str
) -> "tuple[BundleDescription, list[BundleDescription]]":
    """Return the description of the chosen bundle, and of all that can be found."""

    async def look() -> "tuple[BundleDescription, list[BundleDescription]]":
        return await workspace.preview(name), await workspace.previews()

    chosen, others = asyncio.run(look())
    return chosen, [_judged(each) for each in others]


def _judged(bundle: "BundleDescription") -> "BundleDescription":
    from amplifier_tui.foundation.checks.findings import judged

    try:
        return judged(bundle)
    except RuntimeError:  # Its settings lead into the home of nobody.
        return bundle


def look_at_bundles(
    chosen: "BundleDescription", others: "Sequence[BundleDescription]"
) -> Iterator[Diagnosis]:
    """Yield what is found out about the chosen bundle, and which others are not valid."""
    state, said = _STATES[chosen.state]
    yield Diagnosis(
        what=chosen.name,
        state=state,
        said=f"{said}{f': {chosen.error}' if chosen.error else ''} · the bundle in use",
        remedy=_REMEDIES.get(chosen.state, ""),
    )
    for item in chosen.report:
        absent = item.kind not in ("replaced", "unused")
        yield Diagnosis(
            what=item.name,
            state="warning" if absent else "note",
            said=f"{item.part} {item.kind}: {item.why}",
            remedy=item.remedy,
        )
    for wrong in chosen.overrides:
        yield Diagnosis(what="settings", state="warning", said=str(wrong), remedy=wrong.remedy)
    if chosen.to_fetch:
        count = len({each.uri for each in chosen.to_fetch})
        yield Diagnosis(
            what="to fetch",
            state="note",
            said=f"{count} {'source' if count == 1 else 'sources'} of {chosen.name}",
            remedy="Opening it asks first, then fetches them.",
        )
    invalid = [each for each in others if each.state == "invalid" and each.name != chosen.name]
    broken = [each for each in invalid if not each.is_part]
    for bundle in (each for each in invalid if each.is_part):
        said = f"valid only as a part of other bundles: {bundle.error}"
        yield Diagnosis(what=bundle.name, state="note", said=said)
    for bundle in broken[:_LONGEST]:
        yield Diagnosis(
            what=bundle.name,
            state="note",
            said=f"not valid: {bundle.error}",
            remedy="Correct it, or take it out.",
        )
    usable = sum(each.state != "invalid" or each.is_part for each in others)
    yield Diagnosis(what="bundles", said=f"{usable} valid, {len(broken)} not")


def look_at_modules(workspace: "Workspace") -> Iterator[Diagnosis]:
    """Yield what is found out about installed and fetched modules."""
    from amplifier_tui.foundation.modules.listing import list_modules

    rows = list_modules(workspace.home, workspace.project, workspace.environ)
    fetched = sum(row.only_named for row in rows)
    ids = len({row.id for row in rows})
    yield Diagnosis(what="modules", said=f"{ids} can be mounted, {fetched} of them fetched")
    for row in rows:
        if row.remedy:
            yield Diagnosis(
                what=row.id,
                state="note",
                said=f"{row.origin} was installed into the program's environment for a bundle",
                remedy="It is fetched apart from it now; take the old one out.",
                lines=(row.remedy,),
            )
