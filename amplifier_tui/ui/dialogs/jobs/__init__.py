"""The agent's commands in the background: the list of them, and what one prints."""
