"""The user's own commands."""
