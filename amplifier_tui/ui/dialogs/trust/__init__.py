"""The one question about what a project or a stranger brings."""
