"""What is made when it is needed, so that a start does not wait for it."""
