"""Going back to an earlier turn: the conversation, the files, or both."""
