"""What is done around the turns of a session: while it is open, and at its end."""
