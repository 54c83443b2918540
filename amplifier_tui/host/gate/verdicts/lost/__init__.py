"""What a command takes away that going back would not bring back."""
