"""The session store: what was said, what happened, who allowed what."""
