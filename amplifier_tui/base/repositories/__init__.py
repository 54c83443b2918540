"""Repositories of git on this machine: where they are, and what their settings name."""
