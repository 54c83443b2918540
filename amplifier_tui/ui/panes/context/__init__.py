"""The context pane: how full the window is."""
