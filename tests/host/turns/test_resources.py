"""What MCP servers give, as it can be mentioned in a prompt."""

from types import SimpleNamespace

from amplifier_tui.base.capabilities.mcp import CAPABILITY, ServerStatus
from amplifier_tui.host.turns.prompt.resources import offered_resources
from amplifier_tui.kernel.coordinator import ModuleCoordinator


def test_addresses_are_offered_as_far_as_a_mention_can_hold_them() -> None:
    odd = ("a b", "x@y", "a\nb", "\x1b[2J", "what.", "q?x=1", "", "\u202e", "file:///ok.md")
    many = tuple(f"n://{number}" for number in range(2_000))
    statuses = [
        ServerStatus("docs", "idle", resources=odd),
        ServerStatus("m", "ready", resources=many),
    ]
    coordinator = ModuleCoordinator()
    assert offered_resources(coordinator) == []
    coordinator.register_capability(CAPABILITY, SimpleNamespace(statuses=lambda: statuses))
    offered = offered_resources(coordinator)
    assert (
        offered[:5] == ["docs:a b", "docs:x@y", "docs:q?x=1", "docs:file:///ok.md", "m:n://0"]
        and len(offered) == 1_000
    )
