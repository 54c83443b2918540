"""What hosts and the module of MCP servers know of each other.

The module registers the capability `mcp.servers` (`ServersControl`); a session that is started by
another one finds it there already and uses the same servers.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass

CAPABILITY: Final = "mcp.servers"
TOOL_PREFIX: Final = "mcp__"
"""How the names of servers' tools begin: what they do is known to nobody here."""
TITLE: Final = "MCP server"
"""What a server is called where the user is asked about it, and told that it was refused."""

ServerState = Literal["idle", "starting", "ready", "failed", "off"]
"""`idle` is started when it is needed; `off` by its settings."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How it stands with one server.

    Attributes:
        target: What starts it, or its address.
        tools: Names of its tools, as the model knows them.
        resources: Addresses of what can be read from it.
        prompts: Names of its prompts; `/server:prompt` runs one.
        problems: What went wrong, the latest last.
        log: The last lines it wrote.
    """

    name: str
    state: ServerState
    transport: str = ""
    target: str = ""
    tools: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    log: tuple[str, ...] = ()


class ServersControl(Protocol):
    """The servers of a session."""

    def statuses(self) -> Sequence[ServerStatus]:
        """Return how it stands with each."""

    def follow(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have a function called at each change; returns what ends that."""

    async def restart(self, name: str) -> str:
        """End a server and start it again; returns what went wrong, empty for nothing."""

    async def read(self, name: str, uri: str) -> str:
        """Return a resource of a server as text.

        Raises:
            LookupError: There is no such server, or it does not give it; says why.
        """

    async def prompt(self, name: str, prompt: str, words: Sequence[str]) -> str:
        """Return the text of a prompt of a server.

        Args:
            words: Its arguments in order; the last one gets all that are left.

        Raises:
            LookupError: There is no such server or prompt, or it does not give it; says why.
        """
