"""Widgets that several parts of the screen share."""
