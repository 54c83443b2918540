"""Cassettes: recorded conversations, played again without a network and compared."""
