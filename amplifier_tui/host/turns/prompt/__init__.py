"""What a prompt brings along, and what stands for it."""
