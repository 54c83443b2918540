"""Events of ours that observing hooks are told to record."""

from typing import Any

ADDITIONAL_EVENTS = ("session:config", "mentions:resolved")
"""Events beside the kernel's own that a log should have."""
_RECORDERS = ("hooks-logging", "hook-context-intelligence")


def inject_additional_events(mount_plan: dict[str, Any]) -> None:
    """Add `ADDITIONAL_EVENTS` to the recording hooks of a mount plan, in place; idempotent."""
    hooks = mount_plan.get("hooks")
    if not isinstance(hooks, list):
        return
    for index, entry in enumerate(hooks):
        if not isinstance(entry, dict) or entry.get("module") not in _RECORDERS:
            continue
        config = entry.get("config")
        config = dict(config) if isinstance(config, dict) else {}
        listed = config.get("additional_events")
        events = list(listed) if isinstance(listed, list) else []
        config["additional_events"] = list(dict.fromkeys((*events, *ADDITIONAL_EVENTS)))
        # A new entry in the same list: the bundle's own entry stays as it was written.
        hooks[index] = {**entry, "config": config}
