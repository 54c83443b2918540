"""Markdown to lines."""
