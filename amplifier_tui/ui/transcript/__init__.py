"""The conversation, drawn by one line-API widget."""
