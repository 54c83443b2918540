"""What several modules need: where a session's files are, how a tool call fails."""
