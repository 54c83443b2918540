"""The list of stored sessions: which there are, what filters it, what one of them is about."""
