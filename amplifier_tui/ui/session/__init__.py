"""What joins a session to the screen."""
