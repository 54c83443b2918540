"""What a bundle may say about the status."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings, PathText, Seconds


class StatusSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-status-context"

    git: bool = True
    git_status: bool = True
    max_files: int = Field(20, ge=0, le=500)
    commits: int = Field(0, ge=0, le=50)
    date: bool = True
    timeout: Seconds = Field(2.0, gt=0, le=60)
    priority: int = Field(5, ge=-1000, le=1000)
    working_dir: PathText | None = None
