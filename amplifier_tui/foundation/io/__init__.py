"""Reading and writing the files foundation deals with."""

from amplifier_tui.foundation.io.files import read_with_retry, write_with_backup, write_with_retry
from amplifier_tui.foundation.io.frontmatter import parse_frontmatter
from amplifier_tui.foundation.io.yaml import read_yaml, write_yaml

__all__ = [
    "parse_frontmatter",
    "read_with_retry",
    "read_yaml",
    "write_with_backup",
    "write_with_retry",
    "write_yaml",
]
