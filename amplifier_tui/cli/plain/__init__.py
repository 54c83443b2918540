"""`amplifier-tui --plain`: a session in lines, for screen readers, dumb terminals and pipes."""
