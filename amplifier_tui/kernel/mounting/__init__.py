"""Finding, checking and mounting modules."""
