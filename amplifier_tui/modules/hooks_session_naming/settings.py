"""What a bundle may say about titles."""

from typing import ClassVar, Literal

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings, Seconds


class NamingSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "hooks-session-naming"

    by: Literal["model", "rule"] = "model"
    model: str | None = Field(None, description="the name of a model")
    timeout: Seconds = Field(20.0, ge=1, le=120)
    max_chars: int = Field(60, ge=10, le=200, description="a number of characters")
