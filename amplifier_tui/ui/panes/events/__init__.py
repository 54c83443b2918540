"""The event log pane."""
