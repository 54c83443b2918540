"""The models of a session: which one answers, what it costs, and how much that may be."""
