"""What secrets look like, and what holds them."""

from amplifier_tui.base.secrets.names import (
    by_length,
    is_secret_name,
    is_secret_variable,
    may_name_secret,
    secret_values,
)
from amplifier_tui.base.secrets.shapes import (
    ASSIGNMENTS,
    LONGEST_PRIVATE_KEY,
    RULES,
    SECRETS,
    find_secrets,
    replace_secrets,
)
from amplifier_tui.base.secrets.streams import cut_after, cut_before, unfinished

__all__ = [
    "ASSIGNMENTS",
    "LONGEST_PRIVATE_KEY",
    "RULES",
    "SECRETS",
    "by_length",
    "cut_after",
    "cut_before",
    "find_secrets",
    "is_secret_name",
    "is_secret_variable",
    "may_name_secret",
    "replace_secrets",
    "secret_values",
    "unfinished",
]
