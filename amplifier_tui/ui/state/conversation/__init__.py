"""The conversation as entries."""
