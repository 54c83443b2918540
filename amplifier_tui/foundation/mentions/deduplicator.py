"""Each content once, however many files have it."""

import hashlib
from pathlib import Path

from amplifier_tui.foundation.mentions.models import ContextFile


class ContentDeduplicator:
    """Collects files by the SHA-256 of their content, in the order they come."""

    def __init__(self) -> None:
        self._files: dict[str, ContextFile] = {}

    def add_file(self, path: Path, content: str) -> bool:
        """Take a file; whether its content is new."""
        key = content_hash(content)
        known = self._files.get(key)
        path = path.resolve()
        if known is None:
            self._files[key] = ContextFile(content, key, [path])
            return True
        if path not in known.paths:
            known.paths.append(path)
        return False

    def is_seen(self, content: str) -> bool:
        """Whether a content was taken before."""
        return content_hash(content) in self._files

    def get_unique_files(self) -> list[ContextFile]:
        """Return every content once."""
        return list(self._files.values())

    def get_known_hashes(self) -> set[str]:
        """Return the hashes of all contents."""
        return set(self._files)


def content_hash(content: str) -> str:
    """Return a text's SHA-256, hexadecimal."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
