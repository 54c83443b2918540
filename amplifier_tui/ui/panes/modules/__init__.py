"""The modules pane: what is mounted."""
