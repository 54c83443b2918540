"""What the model sees, and who put it there."""
