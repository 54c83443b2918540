"""What the panes show."""
