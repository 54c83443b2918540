"""The one table of actions, and the keys in force."""
