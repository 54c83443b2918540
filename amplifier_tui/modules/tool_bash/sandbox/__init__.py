"""What commands in the sandbox make that would take effect outside of it."""
