"""Helpers for modules."""

from amplifier_tui.kernel.utils.truncate import redact_secrets, truncate_values

__all__ = ["redact_secrets", "truncate_values"]
