"""The context pane."""
