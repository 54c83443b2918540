"""The settings of tool-mcp, and those of each server."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, field_validator, model_validator

from amplifier_tui.base.capabilities.mcp import UNSET, unset_words
from amplifier_tui.base.config import (
    ModuleSettings,
    PathText,
    Seconds,
    SettingProblem,
    SettingsError,
    Texts,
    TextsByName,
)
from amplifier_tui.base.nearest import did_you_mean

Transport = Literal["stdio", "http"]
_TRANSPORTS: Final[dict[str, Transport]] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
}
MOST_SERVERS: Final = 100


def _transport(value: Any) -> Any:
    return _TRANSPORTS.get(value.lower(), value) if isinstance(value, str) else value


class ServerSettings(ModuleSettings):
    """What starts or reaches one server, in the words that ``.mcp.json`` files of others use."""

    module: ClassVar[str] = "an MCP server"

    command: str | None = Field(None, min_length=1)
    args: Texts = ()
    env: TextsByName = Field({}, repr=False)
    cwd: PathText | None = None
    url: str | None = Field(None, pattern=r"(?i)^https?://[^\s/]")
    headers: TextsByName = Field({}, repr=False)
    type: Annotated[Transport | None, BeforeValidator(_transport)] = Field(
        None,
        validation_alias=AliasChoices("type", "transport"),
        description="stdio or http (SSE, the older way, is not spoken)",
    )
    enabled: bool = True
    disabled: bool = False
    enabled_tools: Texts = ("*",)
    disabled_tools: Texts = ()
    startup_timeout: Seconds = Field(
        30.0, ge=0.1, validation_alias=AliasChoices("startup_timeout", "startup_timeout_sec")
    )
    tool_timeout: Seconds = Field(
        300.0, ge=0.1, validation_alias=AliasChoices("tool_timeout", "tool_timeout_sec")
    )

    @model_validator(mode="after")
    def _reachable(self) -> "ServerSettings":
        if (self.command if self.transport == "stdio" else self.url) is None:
            raise ValueError("needs a program with `command`, or an address with `url`")
        return self

    @property
    def transport(self) -> Transport:
        """How the server is spoken to."""
        return self.type or ("stdio" if self.url is None else "http")

    @property
    def is_on(self) -> bool:
        """Whether the server may be used."""
        return self.enabled and not self.disabled

    def offers(self, tool: str) -> bool:
        """Whether a tool of the server, by its own name, may be used."""
        return any(fnmatchcase(tool, each) for each in self.enabled_tools) and not any(
            fnmatchcase(tool, each) for each in self.disabled_tools
        )


class McpSettings(ModuleSettings):
    """The module's configuration; see the package's docstring."""

    module: ClassVar[str] = "tool-mcp"

    servers: dict[str, Any] = Field({}, validation_alias=AliasChoices("servers", "mcpServers"))
    max_schema_tokens: int = Field(10_000, ge=500, description="a number of tokens")
    max_result_chars: int = Field(40_000, ge=1_000, description="a number of characters")
    first_wait: Seconds | None = Field(None, ge=0, le=60)

    @field_validator("servers")
    @classmethod
    def _few(cls, servers: dict[str, Any]) -> dict[str, Any]:
        if len(servers) > MOST_SERVERS:
            raise ValueError(f"has {len(servers)} servers; at most {MOST_SERVERS} are possible")
        return servers

    @classmethod
    def problems(cls, config: Mapping[str, Any] | None) -> list[SettingProblem]:
        """Return the mistakes in a config, those of single servers included."""
        found = super().problems(config)
        servers = (config or {}).get("servers") or (config or {}).get("mcpServers")
        for name, entry in servers.items() if isinstance(servers, Mapping) else ():
            problem = read_server(str(name), entry)
            if isinstance(problem, str):
                found.append(SettingProblem("servers", problem))
        return found


def read_server(name: str, entry: Any) -> ServerSettings | str:
    """Return the settings of one server, or what is wrong with them."""
    if not re.search(r"[A-Za-z0-9]", name):
        return f"The MCP server {name[:40]!r} needs a name with a letter or a digit"
    if not isinstance(entry, Mapping):
        return f"The MCP server {name[:40]} must be a mapping with `command` or `url`"
    if isinstance(unset := entry.get(UNSET), list) and unset:
        why, remedy = unset_words([str(each) for each in unset])
        return f"MCP server {name[:40]}: {why}. {remedy.removesuffix('.')}"
    try:
        return ServerSettings.read_known(entry)
    except SettingsError as error:
        # Keys of other programs are no mistake, but one may be a misspelled one of these.
        known = ServerSettings.model_fields
        hints = (did_you_mean(key, known, "`") for key in map(str, entry) if key not in known)
        return f"MCP server {name[:40]}: {error}{''.join(hints)}"
