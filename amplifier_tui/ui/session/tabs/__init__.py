"""The sessions that are open in the window, side by side."""
