"""The tool ``glob``."""

import asyncio
from pathlib import Path
from typing import Any, Final

from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ToolProblem, failed
from amplifier_tui.modules.tool_search.arguments import GlobArguments
from amplifier_tui.modules.tool_search.globs import compile_globs
from amplifier_tui.modules.tool_search.places import SearchTool
from amplifier_tui.modules.tool_search.search import SearchFindings

_TYPES: Final = ("file", "dir", "any")
_WILD: Final = "*?[{"


class GlobTool(SearchTool):
    """Finds files by the pattern of their path."""

    name = "glob"

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Find files by the pattern of their path, such as **/*.py or src/**/test_*.{js,ts}, "
            "the most recently changed first. What .gitignore leaves out is left out."
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the input."""
        return {
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string",
                    "description": "* and ? within a name, ** for any folders, {a,b} for either.",
                },
                "path": {
                    "type": "string",
                    "description": "Folder to start in. Default: the workspace.",
                },
                "type": {"type": "string", "enum": list(_TYPES)},
                "include_ignored": {
                    "type": "boolean",
                    "description": "Find what .gitignore leaves out, too.",
                },
            },
            "required": ["pattern"],
        }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Find.

        Raises:
            asyncio.CancelledError: The call was cancelled; the search has ended.
        """
        try:
            given = GlobArguments.of(input)
            folder, pattern = _split(given.pattern, given.path)
            base = await asyncio.to_thread(self._places.resolve, folder)
            findings = await self._searcher.run(self._request(given, base, pattern))
        except ToolProblem as problem:
            return problem.result()
        return self._result(findings, base, pattern)

    def _request(self, given: GlobArguments, base: Path, pattern: str) -> dict[str, Any]:
        if not base.is_dir():
            raise ToolProblem(f"{base} is a file; give the folder it is in.", "not_a_folder")
        if ".." in pattern.split("/"):
            raise ToolProblem("Use `path` instead of .. in the pattern.", "invalid_pattern")
        try:
            compile_globs([pattern])
        except ValueError as error:
            raise ToolProblem(f"`pattern`: {error}.", "invalid_pattern") from error
        return {
            "kind": "glob",
            "start": str(base),
            "denied": self._places.denied,
            "everything": given.include_ignored,
            "pattern": pattern,
            "type": given.type or "file",
        }

    def _result(self, findings: SearchFindings, base: Path, pattern: str) -> ToolResult:
        notes = [entry["note"] for entry in findings.found if "note" in entry]
        found = [entry for entry in findings.found if "path" in entry]
        found.sort(key=lambda entry: (-entry["changed"], entry["path"]))
        most = self._settings.max_results
        lines = [self._places.shown(base, entry["path"]) for entry in found[:most]]
        if len(found) > most:
            notes.append(f"{len(found) - most} more; narrow the pattern.")
        if findings.timed_out:
            notes.append(
                f"The search took longer than {self._searcher.timeout:g} s and was ended; start "
                "in a smaller folder."
            )
            if not found:
                return failed(notes[-1], "timeout")
        if not found:
            wider = "" if "/" in pattern else f" here; **/{pattern} looks in all folders below"
            notes.insert(0, f"Nothing matches {pattern!r}{wider}.")
        return ToolResult(output="\n".join([*lines, *(f"[{note}]" for note in notes)]))


def _split(pattern: str, folder: Any) -> tuple[Any, str]:
    """Take the fixed beginning of an absolute pattern as the folder."""
    pattern = pattern.removeprefix("./")
    if not pattern.startswith(("/", "~")):
        return folder, pattern
    parts = pattern.split("/")
    fixed = next(
        (place for place, part in enumerate(parts) if any(mark in part for mark in _WILD)),
        len(parts) - 1,
    )
    return "/".join(parts[:fixed]) or "/", "/".join(parts[fixed:])
