"""Full-text search over all stored sessions: an SQLite index beside them, and what is in it."""
