"""Palettes of terminals with fewer than 24 bits of colour."""
