"""tool-web: ``web_fetch`` reads pages of the public web, ``web_search`` finds them.

HTML becomes Markdown, without menus and what is hidden; PDF, JSON and plain text become text, each
in a process of its own with a limit of time and memory. Only the public internet is reached: a name
is looked up once, all its addresses are judged, and the connection goes to one of these. A redirect
to another server is reported and not followed, so that nobody is contacted unasked. Proxies of the
environment are not used.

``web_search`` is there when the config names an engine: SearXNG, or what answers like it, by
`search_url`; else Brave Search by `brave_api_key`.

Config:
    timeout: Seconds a request may take, redirects included. Default 20.
    max_bytes: Most bytes of a page, unpacked; what is beyond is not read. Default 10000000.
    max_chars: Most characters one call returns. Default 40000.
    max_redirects: Redirects to follow on one server. Default 5.
    cache_seconds: How long a page is kept. Default 900; 0 keeps none.
    allowed_hosts: When given, only these servers are asked. ``*.example.org`` is every name below.
    denied_hosts: Servers that are never asked.
    private_hosts: Names that may stand for addresses of this machine or its network.
    robots: Whether pages are left alone that robots.txt asks programs not to read. Default false:
        a page is read because a person asked for it.
    user_agent: What the tool calls itself. Default ``amplifier-tui``.
    search_url: The address of a search engine, such as ``http://localhost:8080/search``.
    brave_api_key: The key for Brave Search.
    brave_url: Its address.
    max_results: Most results of one search. Default 10.
"""

from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules.tool_web.fetch_tool import FetchTool
from amplifier_tui.modules.tool_web.fetching import Fetcher
from amplifier_tui.modules.tool_web.pages import WebPages
from amplifier_tui.modules.tool_web.search_tool import WebSearchTool
from amplifier_tui.modules.tool_web.settings import WebSettings

__all__ = ["WebSettings", "mount"]

__amplifier_module_type__ = "tool"


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount ``web_fetch``, and ``web_search`` where an engine is known.

    Raises:
        SettingsError: A value of the config makes no sense.
    """
    settings = WebSettings.read(config)
    fetch = FetchTool(WebPages(Fetcher(settings), settings.cache_seconds), settings.max_chars)
    await coordinator.mount("tools", fetch, name=fetch.name)
    if settings.search_url or settings.brave_api_key:
        search = WebSearchTool(settings)
        await coordinator.mount("tools", search, name=search.name)
