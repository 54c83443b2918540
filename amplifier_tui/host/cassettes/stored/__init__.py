"""What a stored session says of itself: its event log, and what was noted beside that."""
