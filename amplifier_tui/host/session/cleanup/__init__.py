"""Cleaning up: when a session closes, and what earlier sessions left behind."""
