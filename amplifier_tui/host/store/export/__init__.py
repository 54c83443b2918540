"""A stored session as a file: the conversation as Markdown, JSON or a page, or its event log."""
