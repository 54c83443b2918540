"""What hosts and the module of MCP servers know of each other.

The module registers the capability `mcp.servers` (`ServersControl`); a session that is started by
another one finds it there already and uses the same servers.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass

CAPABILITY: Final = "mcp.servers"
CHANGED: Final = "mcp.changed"
"""The host's, a function of a server's name: whether what it runs was changed since the user was
asked about it. Blocking."""
PATIENT: Final = "mcp.patient"
"""The host's: true where nobody sees servers that come late, so that a prompt waits for them."""
TOOL_PREFIX: Final = "mcp__"
"""How the names of servers' tools begin: what they do is known to nobody here."""
TITLE: Final = "MCP server"
OF_FILE: Final = "MCP servers of"
"""How a file's servers are called in a report, where it can't be read."""
"""What a server is called where the user is asked about it, and told that it was refused."""
UNSET: Final = "unset_variables"
"""The setting of a server that the host adds: the variables its others refer to and that are not
set. Such a server is not started."""

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


def unset_words(names: Sequence[str]) -> tuple[str, str]:
    """Return that variables are not set, and what the user can do about it."""
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return (
        f"{' and '.join(names)} {are} not set",
        f"Put {them} into keys.env and open the bundle anew with /bundle, or set {them} before "
        "you start.",
    )


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
