"""Where a session works, and where its bundle is."""
