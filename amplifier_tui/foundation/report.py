"""What a session is without, or has otherwise than its bundle asks for: one record each.

Imports the standard library only: front ends read these records before their first frame.
"""

from collections.abc import Iterable
from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass

ReportKind = Literal["skipped", "refused", "replaced", "failed", "unused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportItem:
    """One thing that is absent from a session, or different from what was asked for.

    Attributes:
        what: The include, module, setting or file as written, without credentials.
        kind: `refused` when trust was not given, `replaced` when something else is in its place,
            `failed` when it could not be had, `unused` when nothing is amiss: a provider without
            a key beside one that has its own. Everything else is `skipped`.
        part: What it is in the bundle: the kind of a module, `include`, `context`, `mode`,
            `package`, or the group of a trust question.
        why: What happened, readable.
        remedy: What the user can do; empty when there is nothing.
        asked_by: The bundle that asks for it.
        owner: Whose word that is: `program`, `user`, `project` or `stranger`.
        where: File and line of it, `path:line`.
        missing: Environment variables that it needs and that are not set.
    """

    what: str
    kind: ReportKind
    part: str
    why: str
    remedy: str = ""
    asked_by: str = ""
    owner: str = ""
    where: str = ""
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is in a word: of an address, its last part."""
        path, _, inner = self.what.partition("#subdirectory=")
        if "://" not in path:
            return self.what
        last = (inner or path.rpartition("@")[0] or path).rstrip("/").rpartition("/")[2]
        return last.removesuffix(".git") or self.what


def absent(items: Iterable[ReportItem]) -> list[str]:
    """Return the names of what a session goes without."""
    return [each.name for each in items if each.kind not in ("replaced", "unused")]


def summary(items: Iterable[ReportItem], ready: int = 0) -> str:
    """Return a report in one line; empty when nothing is amiss.

    Args:
        ready: Modules that are mounted; 0 leaves them out.
    """
    listed = list(items)
    replaced = [each.name for each in listed if each.kind == "replaced"]
    words = [
        f"{len(names)} {word}: {', '.join(names)}"
        for word, names in (("without", absent(listed)), ("replaced", replaced))
        if names
    ]
    return " · ".join((*([f"{ready} ready"] if words and ready else []), *words))
