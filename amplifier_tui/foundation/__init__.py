"""Bundles to mount plans. Public API as `amplifier_foundation`."""
