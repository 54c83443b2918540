"""`@server:address` in a prompt: what an MCP server gives under that address goes along."""

from collections.abc import Callable
from itertools import islice
from typing import Final

from amplifier_tui.base.capabilities.mcp import CAPABILITY, ServersControl
from amplifier_tui.base.messages.context_file import context_file
from amplifier_tui.base.messages.mentions import mention_of, parse_mentions
from amplifier_tui.base.text import encodable
from amplifier_tui.kernel.coordinator import ModuleCoordinator

_MOST: Final = 10
"""Resources of one prompt."""
_MOST_OFFERED: Final = 1_000


def offered_resources(coordinator: ModuleCoordinator) -> list[str]:
    """Return `server:address` of what servers give, as far as a mention can hold it."""
    control: ServersControl | None = coordinator.get_capability(CAPABILITY)
    if control is None:
        return []
    named = (f"{each.name}:{uri}" for each in control.statuses() for uri in each.resources)
    return list(islice(filter(mention_of, named), _MOST_OFFERED))


async def mentioned_resources(
    text: str, coordinator: ModuleCoordinator, warn: Callable[[str], None]
) -> list[str]:
    """Return what the user's words mention of servers, as parts of the prompt.

    Args:
        text: As typed.
        warn: Told in a sentence of what can't be had; that is left out.
    """
    control: ServersControl | None = coordinator.get_capability(CAPABILITY)
    if control is None or "@" not in text:
        return []
    names = {status.name for status in control.statuses()}
    found: list[str] = []
    for mention in parse_mentions(text):
        server, _, uri = mention.removeprefix("@").partition(":")
        uri = uri.rstrip(".:")
        if server not in names or not uri:
            continue
        if len(found) == _MOST:
            warn(f"Not read: {mention}: at most {_MOST} resources go along with a prompt")
            continue
        try:
            content = encodable(await control.read(server, uri))
        except LookupError as error:
            warn(f"Not read: {mention}: {error}")
        else:
            found.append(context_file(f"@{server}:{uri}", content))
    return found
