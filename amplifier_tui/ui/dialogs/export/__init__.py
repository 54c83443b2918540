"""The dialog that writes a session to a file."""
