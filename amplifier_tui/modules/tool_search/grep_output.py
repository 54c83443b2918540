"""What the model reads of a search for text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from amplifier_tui.modules.tool_search.search import SearchFindings

_MOST_CHARACTERS: Final = 40_000


def report(
    findings: SearchFindings,
    request: Mapping[str, Any],
    shown: Callable[[str], str],
    timeout: float,
) -> tuple[str, bool]:
    """Return the text, and whether anything was found.

    Args:
        findings: What the search found.
        request: What was asked.
        shown: Makes a path readable.
        timeout: Seconds the search had.
    """
    lines, cut = _cut(_LINES[request["mode"]](findings.found, shown))
    notes = _notes(findings, request, shown, cut, timeout)
    if not lines and not findings.timed_out:
        notes.insert(0, f"No matches{_searched(findings.end)}.")
    return "\n".join([*lines, *(f"[{note}]" for note in notes)]), bool(lines)


def _files(found: list[dict[str, Any]], shown: Callable[[str], str]) -> list[str]:
    return [shown(entry["path"]) for entry in found]


def _counts(found: list[dict[str, Any]], shown: Callable[[str], str]) -> list[str]:
    return [f"{shown(entry['path'])}:{entry['count']}" for entry in found]


def _content(found: list[dict[str, Any]], shown: Callable[[str], str]) -> list[str]:
    lines: list[str] = []
    last, name = None, ""
    for entry in found:
        if entry["path"] != last:
            last, name = entry["path"], shown(entry["path"])
        if entry["gap"]:
            lines.append("--")
        mark = ":" if entry["hit"] else "-"
        lines.append(f"{name}{mark}{entry['n']}{mark}{entry['text']}")
    return lines


_LINES: Final = {"files": _files, "count": _counts, "content": _content}


def _cut(lines: list[str]) -> tuple[list[str], bool]:
    room = _MOST_CHARACTERS
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0 and place:
            return lines[:place], True
    return lines, False


def _notes(
    findings: SearchFindings,
    request: Mapping[str, Any],
    shown: Callable[[str], str],
    cut: bool,
    timeout: float,
) -> list[str]:
    end = findings.end
    notes: list[str] = []
    if findings.timed_out:
        notes.append(
            f"The search took longer than {timeout:g} s and was ended; this is what it found so "
            "far. Search a smaller folder, or with a simpler pattern"
        )
    if end.get("slow"):
        names = ", ".join(shown(path) for path in end["slow"])
        notes.append(f"The pattern takes too long on {names}; simplify it")
    if end.get("more") or cut:
        after = request["skip"] + request["most"]
        how = "Narrow the search" if cut else f"Narrow the search, or read on with offset {after}"
        notes.append(f"There is more. {how}")
    elif end.get("matches") and request["mode"] == "content":
        notes.append(
            f"{_plural(end['matches'], 'matching line')} in {_plural(end['files'], 'file')}"
        )
    if end.get("unreadable"):
        notes.append(f"{_plural(end['unreadable'], 'folder')} could not be read")
    return notes


def _searched(end: Mapping[str, Any]) -> str:
    skipped = end.get("skipped")
    apart = f"; {_plural(skipped, 'binary or huge file')} left out" if skipped else ""
    return f" in {_plural(end.get('searched', 0), 'file')}{apart}"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
