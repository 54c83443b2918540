"""What an editor offers to the agent: its files and its terminals."""
