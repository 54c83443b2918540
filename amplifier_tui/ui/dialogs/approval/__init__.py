"""The approval dialog."""
