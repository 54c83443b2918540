"""Opening a session: from a request to a session that is ready."""
