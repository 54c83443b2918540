"""What secrets look like, and what holds them."""

from amplifier_tui.base.secrets.names import (
    by_length,
    is_secret_name,
    is_secret_variable,
    may_name_secret,
    secret_values,
)
from amplifier_tui.base.secrets.shapes import RULES, SECRETS, find_secrets, replace_secrets
from amplifier_tui.base.secrets.streams import unfinished

__all__ = [
    "RULES",
    "SECRETS",
    "by_length",
    "find_secrets",
    "is_secret_name",
    "is_secret_variable",
    "may_name_secret",
    "replace_secrets",
    "secret_values",
    "unfinished",
]
