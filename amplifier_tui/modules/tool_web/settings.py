"""The settings of tool-web."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator

from amplifier_tui.base.config import Bytes, ModuleSettings, Seconds, Texts
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_web.addresses import read_address


class WebSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-web"

    timeout: Seconds = Field(20.0, ge=1, le=600)
    max_bytes: Bytes = Field(10_000_000, ge=1)
    max_chars: int = Field(40_000, ge=1_000)
    max_redirects: int = Field(5, ge=0, le=20)
    cache_seconds: Seconds = Field(900.0, ge=0)
    allowed_hosts: Texts = ()
    denied_hosts: Texts = ()
    private_hosts: Texts = ()
    robots: bool = False
    user_agent: str = Field("amplifier-tui", min_length=1, pattern=r"^[ -~]+$")
    search_url: str | None = None
    brave_api_key: str | None = None
    brave_url: str = "https://api.search.brave.com/res/v1/web/search"
    max_results: int = Field(10, ge=1, le=50)

    @field_validator("search_url", "brave_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        try:
            return value and read_address(value).url
        except ToolProblem as problem:
            raise ValueError(f"can't be used: {str(problem).removesuffix('.')}") from problem

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> Self:
        """Read a module's config; empty texts count as not given.

        Raises:
            SettingsError: A value makes no sense.
        """
        return super().read({name: value for name, value in (config or {}).items() if value != ""})
