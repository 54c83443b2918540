"""What loading mentions gives."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

FailureReason = Literal[
    "not_found", "permission_error", "not_text", "too_large", "not_a_file", "read_error"
]


@dataclass(frozen=True)
class MentionResult:
    """What became of one mention.

    Attributes:
        mention: With its `@`.
        resolved_path: The file or folder; None when there is none.
        content: The file's text or the folder's listing; None when that content is known already.
        error: What went wrong, readable.
        is_directory: Whether it names a folder.
        failure_reason: The kind of error.
    """

    mention: str
    resolved_path: Path | None = None
    content: str | None = None
    error: str | None = None
    is_directory: bool = False
    failure_reason: FailureReason | None = None

    @property
    def found(self) -> bool:
        """Whether there is such a file or folder, and it could be read."""
        return self.resolved_path is not None and self.error is None


@dataclass
class ContextFile:
    """One content, wherever it was found.

    Attributes:
        content: The text.
        content_hash: Its SHA-256, hexadecimal.
        paths: Every file with this content, in the order they came.
    """

    content: str
    content_hash: str
    paths: list[Path] = field(default_factory=list)
