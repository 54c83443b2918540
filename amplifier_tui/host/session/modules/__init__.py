"""The modules of a session: what is known of them, loading and changing them."""
