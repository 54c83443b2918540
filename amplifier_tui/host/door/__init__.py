"""The way in: the client of a front end, the engine thread, and the queue of events back."""
