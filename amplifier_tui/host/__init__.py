"""Runs sessions for a front end."""
