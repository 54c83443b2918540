"""Which files mentions reach: the user's any, those of modules, agents and files what may be read.

Published tools read `@path` where the model writes that for a file, through the session's resolver.
"""

from pathlib import Path
from typing import Any

from amplifier_tui.foundation.paths import is_there
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.stand_in import StandIn


class UsersMentions(StandIn):
    """A resolver for the user's words; for the texts they mention, see `JudgedMentions`.

    Args:
        other: What resolves them.
    """

    __slots__ = ("_gate",)

    def __init__(self, other: Any, gate: Gate) -> None:
        super().__init__(other)
        object.__setattr__(self, "_gate", gate)

    def resolve(self, mention: str) -> Path | None:
        """Return the file a mention names, also where a sentence ends behind it."""
        found: Path | None = self._other.resolve(mention)
        shorter = mention.rstrip(".:")
        if shorter == mention or (found is not None and is_there(found)):
            return found
        meant: Path | None = self._other.resolve(shorter)
        return meant if meant is not None and is_there(meant) else found

    def resolve_confined(self, mention: str) -> Path | None:
        """Return the file a mention names; it looks at files, so not for an event loop."""
        found: Path | None = self._other.resolve_confined(mention)
        return found if found is None or _may_read(self._gate, found) else None


class JudgedMentions(UsersMentions):
    """A resolver for all other texts: it finds what the gate lets be read unasked."""

    __slots__ = ()

    def resolve(self, mention: str) -> Path | None:
        """Return the file a mention names."""
        return self.resolve_confined(mention)


def users_mentions(resolver: Any) -> Any:
    """Return the resolver for the user's words behind that of a session, where there is one."""
    # A stand-in for it may resolve words that are not the user's.
    if type(resolver) is JudgedMentions:
        return UsersMentions(resolver._other, resolver._gate)
    return resolver


def _may_read(gate: Gate, path: Path) -> bool:
    decision = gate.decide("read_file", {"file_path": str(path)}, diffs=False)
    if decision.verdict == "allow":
        return True
    # What lies elsewhere came with a bundle, or was asked about when the session opened.
    return not decision.rule and not path.resolve().is_relative_to(gate.workspace.resolve())
