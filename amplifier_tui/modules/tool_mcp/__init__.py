"""tool-mcp: the tools of MCP servers, beside those of the session.

A server is a program that is spoken to over its stdin and stdout, or is reached over HTTP. It is
started when one of its tools is called first, again when it died (after a pause that grows), and
ends with the session; the agents a session starts use the same servers. What a server offers is
kept in the Amplifier home's cache, so that only one that is new has to be started to find that out.
Its tools are called ``mcp__server__tool``; its prompts are commands of the user,
``/server:prompt words``. What it asks is asked in a dialog, under its name.

A server runs with the user's rights, outside of the sandbox: that is why its start is the user's
word. It gets this program's environment without its secrets, and the variables its entry sets. What
its tools do is known to nobody here, whatever they say of themselves: every call is asked about,
unless a rule says otherwise.

The host adds the servers of the user's ``mcp.json`` in the Amplifier home, and, as far as the user
allows them, those of the project's ``.mcp.json``.

When telling a model of all tools would cost more than `max_schema_tokens`, or they are more than an
API takes, it is given the tool ``tool_search`` instead, which finds tools by words and loads them.

Config:
    servers: The servers by name (also ``mcpServers``). Each has ``command`` with ``args``, ``env``
        and ``cwd``, or ``url`` with ``headers`` (streamable HTTP); and ``enabled``, ``disabled``,
        ``enabled_tools``, ``disabled_tools`` (names, with ``*``), ``startup_timeout`` (seconds,
        default 30), ``tool_timeout`` (seconds without a sign of life, default 300).
    max_schema_tokens: Most tokens the model is told of tools in each request. Default 10000.
    max_result_chars: Most characters of a result. Default 40000.
    first_wait: Seconds the first turn waits for servers of which nothing is known yet, at most 60.
        Default 5; for a prompt without a screen (``run``) as long as each may take to start.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_tui.base.capabilities.mcp import CAPABILITY
from amplifier_tui.base.capabilities.prompt_commands import CHANNEL
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules.tool_mcp.mounting import MountedTools
from amplifier_tui.modules.tool_mcp.servers import LOG_EVENT, McpServers
from amplifier_tui.modules.tool_mcp.settings import McpSettings
from amplifier_tui.modules.tool_mcp.tools import PROGRESS

__all__ = ["LOG_EVENT", "McpSettings", "mount"]

__amplifier_module_type__ = "tool"
__amplifier_mounts_only_with__ = "servers"


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], Awaitable[None]] | None:
    """Mount the tools of the servers, as far as they are known; the others follow.

    Returns:
        A cleanup that ends the servers; None where there are none.

    Raises:
        SettingsError: A value of the config makes no sense. A server's own settings that make none
            are said, and only that server is not there.
    """
    settings = McpSettings.read(config)
    servers = coordinator.get_capability(CAPABILITY)
    is_own = not isinstance(servers, McpServers)
    if not isinstance(servers, McpServers):
        if not settings.servers:
            return None
        servers = McpServers(settings, coordinator)
        coordinator.register_capability(CAPABILITY, servers)
        await servers.begin()
    known = servers
    tools = MountedTools(known, coordinator)
    await tools.update()

    async def first(event: str, data: dict[str, Any]) -> HookResult:
        await known.first_known()
        await tools.update()
        return HookResult(action="continue")

    coordinator.hooks.register(events.PROMPT_SUBMIT, first, name="tool-mcp")
    if is_own:
        coordinator.register_contributor(CHANNEL, "tool-mcp", known.commands)
    names = [PROGRESS, LOG_EVENT]
    coordinator.register_contributor("observability.events", "tool-mcp", lambda: names)

    async def close() -> None:
        await tools.close()
        if is_own:
            coordinator.register_capability(CAPABILITY, None)
            await known.end()

    return close
