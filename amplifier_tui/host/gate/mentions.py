"""What texts that are not the user's may have read: an agent's instruction, a mentioned file."""

from pathlib import Path
from typing import Any

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.stand_in import StandIn


class JudgedMentions(StandIn):
    """A resolver of mentions; in such texts it finds what the gate lets be read unasked.

    Args:
        other: What resolves them.
    """

    __slots__ = ("_gate",)

    def __init__(self, other: Any, gate: Gate) -> None:
        super().__init__(other)
        object.__setattr__(self, "_gate", gate)

    def resolve_confined(self, mention: str) -> Path | None:
        """Return the file a mention names; it looks at files, so not for an event loop."""
        found: Path | None = self._other.resolve_confined(mention)
        return found if found is None or _may_read(self._gate, found) else None


def _may_read(gate: Gate, path: Path) -> bool:
    decision = gate.decide("read_file", {"file_path": str(path)}, diffs=False)
    if decision.verdict == "allow":
        return True
    # What lies elsewhere came with a bundle, or was asked about when the session opened.
    return not decision.rule and not path.resolve().is_relative_to(gate.workspace.resolve())
