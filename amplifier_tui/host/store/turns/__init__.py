"""The turns of a stored conversation: where they begin, how they went, what was taken back."""
