"""What both tools share: settings, arguments, and the places that may be searched."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, Field

from amplifier_tui.base.config import (
    Bytes,
    ModuleSettings,
    Paths,
    PathText,
    Seconds,
    SettingsError,
)
from amplifier_tui.base.text import printable
from amplifier_tui.modules._shared.places import check_place, resolved
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem
from amplifier_tui.modules.tool_search.search import Searcher


class SearchSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-search"

    allowed_read_paths: Paths = ()
    denied_read_paths: Paths = ()
    timeout: Seconds = Field(20.0, ge=1, lt=1e12)
    max_results: int = Field(200, ge=1)
    max_file_bytes: Bytes = Field(5_000_000, ge=1)
    working_dir: PathText | None = None


def none_if_empty(value: Any) -> Any:
    """Models write an empty text for what they leave out."""
    return None if value == "" else value


class SearchArguments(ModuleSettings):
    """What both tools take, read as leniently as is safe."""

    # A number or a yes may come as text.
    model_config = ConfigDict(strict=False)

    pattern: str = Field(min_length=1, description="a text that says what to look for")
    path: Any = None
    include_ignored: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read the arguments of a call.

        Raises:
            ToolProblem: They make no sense.
        """
        try:
            return cls.read_known(given)
        except SettingsError as error:
            raise ToolProblem(f"{error}.", "invalid_arguments") from error


class Places:
    """Turns the paths of calls into places that may be searched, or refuses them."""

    def __init__(self, settings: SearchSettings, coordinator: Any) -> None:
        self._settings = settings
        self._coordinator = coordinator

    @property
    def root(self) -> Path:
        """The workspace, without links."""
        folder = working_dir(self._coordinator, self._settings.working_dir)
        return resolved(str(folder), Path())

    @property
    def denied(self) -> list[str]:
        """What is never searched, without links."""
        root = self.root
        return [str(resolved(path, root)) for path in self._settings.denied_read_paths]

    def resolve(self, given: Any) -> Path:
        """Return the file or folder a call means, with every link followed.

        Args:
            given: As the model wrote it: relative to the workspace or absolute; empty for it.

        Raises:
            ToolProblem: It is no path, is not there, or may not be searched.
        """
        root = self.root
        if given is None or given == "":
            given = "."
        if not isinstance(given, str):
            raise ToolProblem(f"`path` must be a text, not {given!r}.", "invalid_path")
        path = resolved(given, root)
        check_place(
            path,
            root,
            access="read",
            denied=self._settings.denied_read_paths,
            allowed=self._settings.allowed_read_paths,
            module="tool-search",
            instead="Search elsewhere",
        )
        if not path.exists():
            raise ToolProblem(f"There is no file or folder {given}.", "not_found")
        return path

    def shown(self, base: Path, path: str) -> str:
        """Return a found path as a call may write it: relative inside the workspace.

        Args:
            base: Where the search started.
            path: Relative to it.
        """
        whole = base if base.is_file() else base / path
        root = self.root
        text = str(whole.relative_to(root)) if whole.is_relative_to(root) else str(whole)
        text = f"{text}/" if path.endswith("/") else text
        # A name is data: it may hold line ends or characters that can't be encoded.
        text = text.encode("utf-8", "replace").decode()
        return printable(text)


class SearchTool(ModuleTool):
    """What both tools are made of."""

    required = ("pattern",)

    def __init__(self, places: Places, searcher: Searcher, settings: SearchSettings) -> None:
        self._places = places
        self._searcher = searcher
        self._settings = settings

    async def _start(self, folder: Any) -> Path:
        return await asyncio.to_thread(self._places.resolve, folder)

    def _common(self, kind: str, given: SearchArguments, start: Path) -> dict[str, Any]:
        """What a request of either kind says."""
        return {
            "kind": kind,
            "start": str(start),
            "denied": self._places.denied,
            "everything": given.include_ignored,
        }


def with_notes(lines: Iterable[str], notes: Iterable[str]) -> str:
    """Return the findings and what is to be said of them as text."""
    return "\n".join([*lines, *(f"[{note}]" for note in notes)])
