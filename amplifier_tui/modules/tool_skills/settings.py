"""What a bundle may say about skills."""

from typing import ClassVar

from pydantic import Field

from amplifier_tui.base.config import ModuleSettings, Paths


class SkillsSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-skills"

    skills: Paths = ()
    project_skills: Paths = ()
    user_skills: bool = True
    max_listing_tokens: int = Field(2_000, ge=100, description="a number of tokens")
    max_chars: int = Field(40_000, ge=1_000, description="a number of characters")
