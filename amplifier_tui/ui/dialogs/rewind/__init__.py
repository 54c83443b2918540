"""Going back before a turn: which one, and what it would do."""
