"""Lists of stored sessions."""
