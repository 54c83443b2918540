"""What a front end does with the session that is open."""
