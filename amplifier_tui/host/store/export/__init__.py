"""A stored session as one text: Markdown, JSON or a page."""
