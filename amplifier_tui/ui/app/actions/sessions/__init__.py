"""Actions on several sessions: those of the window, and those that are stored."""
