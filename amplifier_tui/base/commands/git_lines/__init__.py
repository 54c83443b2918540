"""Command lines of git: what they may write, and where they work."""
