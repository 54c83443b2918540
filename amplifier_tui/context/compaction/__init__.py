"""Compaction of ADR messages: groups, marks, and strategies that set them."""
