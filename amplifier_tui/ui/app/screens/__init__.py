"""The screens that show a session."""
