"""What is worth knowing in the next session, too: a searchable store in one SQLite file."""
