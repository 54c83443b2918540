"""Helpers for modules."""

from amplifier_tui.kernel.utils.retry import (
    RetryConfig,
    classify_error_message,
    retry_with_backoff,
)
from amplifier_tui.kernel.utils.truncate import SENSITIVE_KEYS, redact_secrets, truncate_values

__all__ = [
    "SENSITIVE_KEYS",
    "RetryConfig",
    "classify_error_message",
    "redact_secrets",
    "retry_with_backoff",
    "truncate_values",
]
