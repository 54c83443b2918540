"""What the host granted the tool call that runs now.

A host that judges tool calls sets it around `Tool.execute`; tools that can confine themselves, such
as one that runs commands, read it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from amplifier_tui.base.lazy.dataclass import dataclass

__all__ = [
    "SANDBOX_CAPABILITY",
    "ConfinedToPlaces",
    "Grant",
    "SandboxTerms",
    "current_grant",
    "granted",
]

SANDBOX_CAPABILITY: Final = "session.sandbox"
"""Capability under which a host registers its `SandboxTerms`."""


@dataclass(frozen=True, slots=True)
class SandboxTerms:
    """How commands of a session are confined.

    Attributes:
        mode: `auto` confines where it can be done, `required` runs nothing unconfined but what a
            person approved, `off` confines nothing.
        hidden: Files and folders no confined command may see: the host's own state.
        aside: Folder that keeps what a confined command made and must not take effect; None for one
            in the system's temporary folder.
    """

    mode: Literal["auto", "required", "off"] = "auto"
    hidden: tuple[Path, ...] = ()
    aside: Path | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """The terms of one call.

    Attributes:
        by: Who let it through: a person who saw these very arguments, a standing rule, or the mode.
        reading: It was found to only read, so it needs to write nowhere.
        network: A rule grants it the network.
        places: The files outside of the workspace that the user allowed this call to touch, without
            links: just these, and nothing below them.
        leads: Where the paths of its arguments led when it was judged, without links. What a tool
            finds by following them once more is one of these, or they were turned since; empty
            where it is not known.
        left_out: Says of a file whether a search of folders has to leave it out; None where it
            leaves out nothing. A tool that does so says it by an attribute `leaves_out`, True.
    """

    by: Literal["person", "rule", "mode"]
    reading: bool = False
    network: bool = False
    places: frozenset[Path] = frozenset()
    leads: frozenset[Path] = frozenset()
    left_out: Callable[[Path], bool] | None = None


class ConfinedToPlaces(Protocol):
    """What a tool may offer that refuses calls for where their paths, or an address, lead.

    Or for what they lack.
    """

    def refused_place(self, arguments: Mapping[str, Any]) -> str:
        """Return why a call would be refused under the current grant; empty where it would not.

        A host asks before it puts a question to the user that a yes would not settle. Called in a
        thread; looks at files, changes nothing.
        """


_grant: ContextVar[Grant | None] = ContextVar("tool_grant", default=None)


@contextmanager
def granted(grant: Grant) -> Iterator[None]:
    """Run what is inside under these terms."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def current_grant() -> Grant | None:
    """Return the terms of the call that runs now; None where no host judges calls."""
    return _grant.get()
