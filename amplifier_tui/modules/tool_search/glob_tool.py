"""The tool ``glob``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator

from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ToolProblem, argument
from amplifier_tui.modules.tool_search.globs import compile_globs
from amplifier_tui.modules.tool_search.search_tool import (
    SearchArguments,
    SearchFindings,
    SearchTool,
    none_if_empty,
    with_notes,
)

_WILD: Final = "*?[{"


class GlobArguments(SearchArguments):
    """What ``glob`` takes."""

    module: ClassVar[str] = "glob"

    type: Annotated[Literal["file", "dir", "any"] | None, BeforeValidator(none_if_empty)] = None


class GlobTool(SearchTool):
    """Finds files by the pattern of their path."""

    name = "glob"
    description = (
        "Find files by the pattern of their path, such as **/*.py or src/**/test_*.{js,ts}, "
        "the most recently changed first. What .gitignore leaves out is left out."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "pattern": argument(
            "string", "* and ? within a name, ** for any folders, {a,b} for either."
        ),
        "path": argument("string", "Folder to start in. Default: the workspace."),
        "type": {"type": "string", "enum": ["file", "dir", "any"]},
        "include_ignored": argument("boolean", "Find what .gitignore leaves out, too."),
    }

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Find."""
        asked = GlobArguments.of(given)
        folder, pattern = _split(asked.pattern, asked.path)
        start = await self._start(folder)
        if not start.is_dir():
            raise ToolProblem(f"{start} is a file; give the folder it is in.", "not_a_folder")
        if ".." in pattern.split("/"):
            raise ToolProblem("Use `path` instead of .. in the pattern.", "invalid_pattern")
        try:
            compile_globs([pattern])
        except ValueError as error:
            raise ToolProblem(f"`pattern`: {error}.", "invalid_pattern") from error
        request = {"pattern": pattern, "type": asked.type or "file"}
        findings = await self._searcher.run(self._common("glob", asked, start) | request)
        return self._result(findings, start, pattern)

    def _folder(self, arguments: Mapping[str, Any]) -> Any:
        asked = GlobArguments.of(arguments)
        return _split(asked.pattern, asked.path)[0]

    def _result(self, findings: SearchFindings, start: Path, pattern: str) -> ToolResult:
        notes = [entry["note"] for entry in findings.found if "note" in entry]
        found = [entry for entry in findings.found if "path" in entry]
        found.sort(key=lambda entry: (-entry["changed"], entry["path"]))
        most = self._settings.max_results
        if len(found) > most:
            notes.append(f"{len(found) - most} more; narrow the pattern.")
        if findings.timed_out:
            notes.append(
                f"The search took longer than {self._searcher.timeout:g} s and was ended; start "
                "in a smaller folder."
            )
            if not found:
                raise ToolProblem(notes[-1], "timeout")
        if not found:
            wider = "" if "/" in pattern else f" here; **/{pattern} looks in all folders below"
            notes.insert(0, f"Nothing matches {pattern!r}{wider}.")
        lines = (self._places.shown(start, entry["path"]) for entry in found[:most])
        return ToolResult(output=with_notes(lines, notes))


def _split(pattern: str, folder: Any) -> tuple[Any, str]:
    """Take the fixed beginning of an absolute pattern as the folder."""
    if not pattern.startswith(("/", "~")):
        return folder, pattern.removeprefix("./").lstrip("/")
    parts = pattern.split("/")
    fixed = next(
        (place for place, part in enumerate(parts) if any(mark in part for mark in _WILD)),
        len(parts) - 1,
    )
    return "/".join(parts[:fixed]) or "/", "/".join(parts[fixed:])
