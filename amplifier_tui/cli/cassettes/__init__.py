"""`amplifier-tui record`, `replay` and `test`: recorded sessions, played again and compared."""
