"""The tool ``grep``."""

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ToolProblem, failed
from amplifier_tui.modules.tool_search.arguments import GrepArguments
from amplifier_tui.modules.tool_search.globs import compile_globs
from amplifier_tui.modules.tool_search.places import SearchTool
from amplifier_tui.modules.tool_search.search import SearchFindings

_MOST_CHARACTERS: Final = 40_000


_MODES: Final = ("files_with_matches", "content", "count")
_TYPES: Final[dict[str, str]] = {
    "c": "*.{c,h}",
    "cpp": "*.{cpp,cc,cxx,hpp,hh,hxx,h}",
    "cs": "*.cs",
    "css": "*.{css,scss,sass,less}",
    "go": "*.go",
    "html": "*.{html,htm}",
    "java": "*.java",
    "js": "*.{js,jsx,mjs,cjs}",
    "json": "*.{json,jsonl}",
    "kotlin": "*.{kt,kts}",
    "md": "*.{md,markdown}",
    "php": "*.php",
    "py": "*.{py,pyi}",
    "ruby": "*.rb",
    "rust": "*.rs",
    "sh": "*.{sh,bash,zsh}",
    "sql": "*.sql",
    "swift": "*.swift",
    "toml": "*.toml",
    "ts": "*.{ts,tsx,mts,cts}",
    "yaml": "*.{yaml,yml}",
}


class GrepTool(SearchTool):
    """Searches the text of files."""

    name = "grep"

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Search the text of files with a regular expression (Python's). Returns the files that "
            "match, or with output_mode `content` the lines, with their numbers. What .gitignore "
            "leaves out is left out. Faster and safer than grep or rg in a shell."
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Regular expression."},
                "path": {
                    "type": "string",
                    "description": "File or folder to search. Default: the workspace.",
                },
                "glob": {
                    "type": "string",
                    "description": "Only files like this: *.py, src/**/*.{ts,tsx}.",
                },
                "type": {
                    "type": "string",
                    "description": f"Only files of this kind: {', '.join(_TYPES)}.",
                },
                "output_mode": {"type": "string", "enum": list(_MODES)},
                "-i": {"type": "boolean", "description": "Ignore case."},
                "-B": {"type": "integer", "description": "Lines to show before each match."},
                "-A": {"type": "integer", "description": "Lines to show after each match."},
                "-C": {"type": "integer", "description": "Lines to show before and after."},
                "multiline": {
                    "type": "boolean",
                    "description": "Let `.` match line ends, and a match span lines.",
                },
                "head_limit": {
                    "type": "integer",
                    "description": f"Most results. Default {self._settings.max_results}.",
                },
                "offset": {"type": "integer", "description": "Results to skip, to read on."},
                "include_ignored": {
                    "type": "boolean",
                    "description": "Search what .gitignore leaves out, too.",
                },
            },
            "required": ["pattern"],
        }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Search.

        Raises:
            asyncio.CancelledError: The call was cancelled; the search has ended.
        """
        try:
            given = GrepArguments.of(input)
            base = await asyncio.to_thread(self._places.resolve, given.path)
            request = self._request(given, base)
            findings = await self._searcher.run(request)
            text, found = report(
                findings,
                request,
                lambda path: self._places.shown(base, path),
                self._searcher.timeout,
            )
        except ToolProblem as problem:
            return problem.result()
        if not found and findings.timed_out:
            return failed(text, "timeout")
        return ToolResult(output=text)

    def _request(self, given: GrepArguments, base: Path) -> dict[str, Any]:
        flags = re.IGNORECASE if given.ignore_case else 0
        flags |= re.DOTALL | re.MULTILINE if given.multiline else 0
        mode = given.output_mode or _MODES[0]
        most = self._settings.max_results
        return {
            "kind": "grep",
            "start": str(base),
            "denied": self._places.denied,
            "everything": given.include_ignored,
            "pattern": _checked(given.pattern, flags),
            "flags": int(flags),
            "multiline": given.multiline,
            "globs": _globs(given),
            "mode": "files" if mode == _MODES[0] else mode,
            "before": given.around if given.before is None else given.before,
            "after": given.around if given.after is None else given.after,
            "skip": given.offset,
            "most": min(given.head_limit or most, most),
            "largest": self._settings.max_file_bytes,
        }


def _checked(pattern: str, flags: int) -> str:
    try:
        re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolProblem(
            f"{pattern!r} is no regular expression: {error}. Escape what is meant literally.",
            "invalid_pattern",
        ) from error
    return pattern


def _globs(given: GrepArguments) -> list[str]:
    patterns = [text.strip() for text in (*given.glob, *given.include) if text.strip()]
    if given.type:
        known = _TYPES.get(given.type)
        if known is None:
            raise ToolProblem(
                f"`type` {given.type!r} is not known; use `glob`, such as *.{given.type}.",
                "invalid_arguments",
            )
        patterns.append(known)
    try:
        compile_globs(patterns)
    except ValueError as error:
        raise ToolProblem(f"`glob`: {error}.", "invalid_arguments") from error
    return patterns


def report(
    findings: SearchFindings,
    request: Mapping[str, Any],
    shown: Callable[[str], str],
    timeout: float,
) -> tuple[str, bool]:
    """Return the text, and whether anything was found."""
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
