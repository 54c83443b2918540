"""What a call would change in a file: as a diff, or why it would change nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.patches import FileChange, PatchProblem, apply_hunks, read_patch
from amplifier_tui.host.gate.seen import SeenFiles
from amplifier_tui.host.stream.diffs import Snapshot, unified

DIFF_LIMIT: Final = 256 * 1024
"""Characters of a diff that is asked about."""
_LEAST_DIFF: Final = 1_000
"""Characters of each file's part in the diff of a patch, however long the others are."""
_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class TextReplacement:
    """One replacement in a file."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A diff, and what is wrong with the change as far as the file tells; either may be empty.

    `same` says that the file would hold what it does already.
    """

    diff: str = ""
    problem: str = ""
    same: bool = False


def overwriting(name: str, path: Path, text: str, seen: SeenFiles) -> PlannedChange:
    """Return what writing `text` to a file would change; `name` is shown for it."""
    before = seen.now(path)
    diff = "" if before.note else unified(name, before.text, text, DIFF_LIMIT)
    same = not before.note and before.text == text
    return PlannedChange(diff, _since(path, seen), same)


def replacing(
    name: str, path: Path, replacements: Sequence[TextReplacement], seen: SeenFiles
) -> PlannedChange:
    """Return what replacements in a file would change; `name` is shown for it.

    Where one of them does not fit the file, the diff is empty: none is invented.
    """
    before = seen.now(path)
    if before.note:
        return PlannedChange(problem=f"{name} cannot be looked at: it is {before.note}")
    since = _since(path, seen)
    diff, problem = _replaced(name, before, replacements)
    return PlannedChange(diff, "; ".join(filter(None, (problem, since))))


def patching(text: str, places: Mapping[str, Path], seen: SeenFiles) -> PlannedChange:
    """Return what a patch would change, and why it does not fit its files, as far as they tell.

    Where it does not fit, or a file can't be compared, the patch is returned as it is.

    Args:
        places: Where the files are that it names, as it names them.
    """
    try:
        changes = read_patch(text)
    except PatchProblem:
        return PlannedChange(text)  # Another format; only its tool knows it.
    now: dict[str, str | None] = {}
    before_it: dict[str, str | None] = {}
    problems: dict[str, None] = {}
    compared = True
    for change in changes:
        path = places[change.path]
        if change.path not in now:
            before = seen.now(path)
            if before.note:
                compared = False
                continue
            before_it[change.path] = now[change.path] = before.text
            if since := _since(path, seen):
                problems[f"{change.path}: {since}"] = None
        target = change.move_to or change.path
        if target not in now:
            there = seen.now(places[target])
            before_it[target] = now[target] = there.text
            compared = compared and not there.note
        if problem := _patched(change, now):
            problems[problem] = None
    if problems or not compared:
        return PlannedChange(text, "; ".join(problems))
    return PlannedChange(_joined(before_it, now) or text)


def _joined(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> str:
    """Return the diffs of files one after the other, each cut where all get too long."""
    found: list[str] = []
    left = DIFF_LIMIT
    for name, text in before.items():
        found.append(unified(name, text, after[name], max(_LEAST_DIFF, left)))
        left -= len(found[-1])
    return "".join(found)


def deleted_paths(text: str) -> frozenset[str]:
    """Return the files that are gone after a patch, as it names them.

    Those that it moves or makes again are not; none are where it can't be read.
    """
    gone: set[str] = set()
    try:
        for change in read_patch(text):
            if change.kind == "delete":
                gone.add(change.path)
            else:
                gone.discard(change.move_to or change.path)
    except PatchProblem:
        return frozenset()
    return frozenset(gone)


def _patched(change: FileChange, now: dict[str, str | None]) -> str:
    """Do one change of a patch to texts; returns what is wrong with it."""
    text = now[change.path]
    target = change.move_to or change.path
    if (change.kind == "add" or target != change.path) and now[target] is not None:
        return f"{target} exists already"
    if change.kind == "add":
        now[target] = "".join(f"{line}\n" for line in change.content)
        return ""
    if text is None:
        return f"there is no file {change.path}"
    now[change.path] = None
    if change.kind == "update":
        try:
            now[target] = apply_hunks(text, change.hunks)
        except PatchProblem as problem:
            now[target] = text
            return f"{change.path}: {problem}"
    return ""


def _replaced(
    name: str, before: Snapshot, replacements: Sequence[TextReplacement]
) -> tuple[str, str]:
    if before.text is None:
        return "", f"there is no file {name} to edit"
    text = after = _plain(before.text)
    for number, replacement in enumerate(replacements, start=1):
        which = f"text {number}" if len(replacements) > 1 else "the text"
        old, new = _plain(replacement.old), _plain(replacement.new)
        if not old:
            return "", f"{which} to be replaced is empty"
        count = after.count(old)
        if not count:
            return "", f"{which} to be replaced is not in {name}{_hint(after, old)}"
        if count > 1 and not replacement.everywhere:
            return "", f"{which} to be replaced is in {name} {count} times{_lines(after, old)}"
        after = after.replace(old, new)
    if after == text:
        return "", "it would change nothing"
    return unified(name, text, after, DIFF_LIMIT), ""


def _since(path: Path, seen: SeenFiles) -> str:
    return "the file has changed since the agent read it" if seen.changed(path) else ""


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _hint(text: str, old: str) -> str:
    """Say where a text is that differs in nothing but white space."""
    lines, wanted = _spaced(text), _spaced(old.strip("\n"))
    at = lines.find(wanted) if wanted.strip() else -1
    return f": line {lines.count(chr(10), 0, at) + 1} differs in its white space" if at >= 0 else ""


def _spaced(text: str) -> str:
    """Return lines with single spaces, each between newlines."""
    return "\n".join(["", *(" ".join(line.split()) for line in text.split("\n")), ""])


def _lines(text: str, old: str) -> str:
    """Say on which lines a text begins."""
    places: list[str] = []
    at = text.find(old)
    while at >= 0 and len(places) <= _LISTED:
        places.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + len(old))
    more = places[_LISTED:] and ", …"
    return f" (lines {', '.join(places[:_LISTED])}{more or ''})"
