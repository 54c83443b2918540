"""The tool ``grep``."""

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from amplifier_tui.base.config import Texts
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session.grant import Grant, current_grant
from amplifier_tui.modules._shared.tool import ToolProblem, argument
from amplifier_tui.modules.tool_search.globs import compile_globs
from amplifier_tui.modules.tool_search.search_tool import (
    SearchArguments,
    SearchFindings,
    SearchTool,
    none_if_empty,
    with_notes,
)

SLOW_S: Final = 2.0
"""Seconds a pattern may take on one file."""
_MOST_CHARACTERS: Final = 40_000
_MOST_CONTEXT: Final = 50
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


Count = Annotated[int, Field(ge=0, description="a whole number")]
Context = Annotated[Count, AfterValidator(lambda value: min(value, _MOST_CONTEXT))]


class GrepArguments(SearchArguments):
    """What ``grep`` takes; see its schema."""

    module: ClassVar[str] = "grep"

    glob: Texts = ()
    include: Texts = ()
    type: str | None = None
    output_mode: Annotated[
        Literal["files_with_matches", "content", "count"] | None, BeforeValidator(none_if_empty)
    ] = None
    ignore_case: bool = Field(
        default=False, validation_alias=AliasChoices("-i", "case_insensitive")
    )
    around: Context = Field(default=0, validation_alias=AliasChoices("-C", "context"))
    before: Context | None = Field(default=None, validation_alias="-B")
    after: Context | None = Field(default=None, validation_alias="-A")
    multiline: bool = False
    head_limit: Count | None = Field(
        default=None, validation_alias=AliasChoices("head_limit", "max_results")
    )
    offset: Annotated[Count, AfterValidator(lambda value: min(value, 1_000_000))] = 0


class GrepTool(SearchTool):
    """Searches the text of files."""

    name = "grep"
    leaves_out = True
    description = (
        "Search the text of files with a regular expression (Python's). Returns the files that "
        "match, or with output_mode `content` the lines, with their numbers. What .gitignore "
        "leaves out is left out. Faster and safer than grep or rg in a shell."
    )

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of each argument."""
        most = self._settings.max_results
        return {
            "pattern": argument("string", "Regular expression."),
            "path": argument("string", "File or folder to search. Default: the workspace."),
            "glob": argument("string", "Only files like this: *.py, src/**/*.{ts,tsx}."),
            "type": argument("string", f"Only files of this kind: {', '.join(_TYPES)}."),
            "output_mode": {
                "type": "string",
                "enum": ["files_with_matches", "content", "count"],
            },
            "-i": argument("boolean", "Ignore case."),
            "-B": argument("integer", "Lines to show before each match."),
            "-A": argument("integer", "Lines to show after each match."),
            "-C": argument("integer", "Lines to show before and after."),
            "multiline": argument("boolean", "Let `.` match line ends, and a match span lines."),
            "head_limit": argument("integer", f"Most results. Default {most}."),
            "offset": argument("integer", "Results to skip, to read on."),
            "include_ignored": argument("boolean", "Search what .gitignore leaves out, too."),
        }

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Search."""
        asked = GrepArguments.of(given)
        start = await self._start(asked.path)
        request = self._request(asked, start)
        grant = current_grant()
        findings = await self._searcher.run(request)
        left_out = await asyncio.to_thread(_leave_out, findings, start, grant)
        shown = partial(self._places.shown, start)
        lines, cut = _cut(_lines(request["mode"], findings.found, shown))
        notes = self._notes(findings, request, shown, cut)
        if left_out:
            notes.append(f"{_plural(left_out, 'file')} left out by a rule")
        if not lines and not findings.timed_out:
            notes.insert(0, f"No matches{_searched(findings.end)}.")
        text = with_notes(lines, notes)
        if not lines and findings.timed_out:
            raise ToolProblem(text, "timeout")
        return ToolResult(output=text)

    def _request(self, asked: GrepArguments, start: Path) -> dict[str, Any]:
        flags = re.IGNORECASE if asked.ignore_case else 0
        flags |= re.DOTALL | re.MULTILINE if asked.multiline else 0
        most = self._settings.max_results
        return {
            **self._common("grep", asked, start),
            "pattern": _checked(asked.pattern, flags),
            "flags": int(flags),
            "multiline": asked.multiline,
            "globs": _globs(asked),
            "mode": asked.output_mode or "files_with_matches",
            "before": asked.around if asked.before is None else asked.before,
            "after": asked.around if asked.after is None else asked.after,
            "skip": asked.offset,
            "most": min(asked.head_limit or most, most),
            "largest": self._settings.max_file_bytes,
            "slow": SLOW_S,
        }

    def _notes(
        self,
        findings: SearchFindings,
        request: Mapping[str, Any],
        shown: Callable[[str], str],
        cut: bool,
    ) -> list[str]:
        end = findings.end
        notes: list[str] = []
        if findings.timed_out:
            notes.append(
                f"The search took longer than {self._searcher.timeout:g} s and was ended; this is "
                "what it found so far. Search a smaller folder, or with a simpler pattern"
            )
        if end.get("slow"):
            names = ", ".join(map(shown, end["slow"]))
            notes.append(f"The pattern takes too long on {names}; simplify it")
        if cut:
            notes.append("There is more. Narrow the search")
        elif end.get("more"):
            after = request["skip"] + request["most"]
            notes.append(f"There is more. Narrow the search, or read on with offset {after}")
        elif end.get("matches") and request["mode"] == "content":
            lines = _plural(end["matches"], "matching line")
            notes.append(f"{lines} in {_plural(end['files'], 'file')}")
        if end.get("secret"):
            files = _plural(end["secret"], "file")
            notes.append(f"{files} of keys or passwords left out; one is searched as `path`")
        if end.get("unreadable"):
            notes.append(f"{_plural(end['unreadable'], 'folder')} could not be read")
        return notes


def _leave_out(findings: SearchFindings, start: Path, grant: Grant | None) -> int:
    """Take out of the findings what the call may not show; returns how many files that are."""
    if grant is None or grant.left_out is None:
        return 0
    names = {each["path"] for each in findings.found}
    out = {name for name in names if grant.left_out(start if start.is_file() else start / name)}
    findings.found = [each for each in findings.found if each["path"] not in out]
    if findings.end and out:
        hits = sum(bool(each.get("hit")) for each in findings.found)
        findings.end |= {"matches": hits, "files": len(names - out)}
    return len(out)


def _checked(pattern: str, flags: int) -> str:
    try:
        re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolProblem(
            f"{pattern!r} is no regular expression: {error}. Escape what is meant literally.",
            "invalid_pattern",
        ) from error
    return pattern


def _globs(asked: GrepArguments) -> list[str]:
    patterns = [text.strip() for text in (*asked.glob, *asked.include) if text.strip()]
    if asked.type:
        known = _TYPES.get(asked.type)
        if known is None:
            raise ToolProblem(
                f"`type` {asked.type!r} is not known; use `glob`, such as *.{asked.type}.",
                "invalid_arguments",
            )
        patterns.append(known)
    try:
        compile_globs(patterns)
    except ValueError as error:
        raise ToolProblem(f"`glob`: {error}.", "invalid_arguments") from error
    return patterns


def _lines(mode: str, found: list[dict[str, Any]], shown: Callable[[str], str]) -> list[str]:
    match mode:
        case "files_with_matches":
            return [shown(entry["path"]) for entry in found]
        case "count":
            return [f"{shown(entry['path'])}:{entry['count']}" for entry in found]
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


def _cut(lines: list[str]) -> tuple[list[str], bool]:
    room = _MOST_CHARACTERS
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0 and place:
            return lines[:place], True
    return lines, False


def _searched(end: Mapping[str, Any]) -> str:
    skipped = end.get("skipped")
    apart = f"; {_plural(skipped, 'binary or huge file')} left out" if skipped else ""
    return f" in {_plural(end.get('searched', 0), 'file')}{apart}"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
