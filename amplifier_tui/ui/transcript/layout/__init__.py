"""Where the rows of the conversation are."""
