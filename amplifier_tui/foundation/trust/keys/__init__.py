"""The keys of the user: which module needs which, and where it would send it."""
