"""What the agent loops share: one turn of spec 001, from the prompt to the last word."""
