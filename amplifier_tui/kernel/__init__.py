"""The mechanism: sessions, coordinator, hooks, loader. Public API as `amplifier_core`."""
