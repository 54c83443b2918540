"""The module's settings."""

from typing import Any, ClassVar, Final

from pydantic import Field, field_validator

from amplifier_tui.modules._shared.workspace import WorkspaceSettings

TOOLS: Final = ("read_file", "write_file", "edit_file")


class FilesystemSettings(WorkspaceSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-filesystem"

    tools: tuple[str, ...] = TOOLS
    max_read_bytes: int = Field(256 * 1024, ge=1024, description="a number")
    line_numbers: bool = True
    images: bool = True

    @field_validator("tools", mode="before")
    @classmethod
    def _known(cls, tools: Any) -> tuple[str, ...]:
        if not isinstance(tools, list | tuple) or any(name not in TOOLS for name in tools):
            raise ValueError(f"must be a list of {', '.join(TOOLS)}, not {tools!r}")
        return tuple(tools)
