"""Checks of bundles, for the people who write them, and previews that run nothing."""
