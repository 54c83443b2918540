"""Content hashes of files."""

import asyncio
import hashlib
from pathlib import Path


async def file_hash(path: Path) -> str:
    """Return a file's SHA-256, hexadecimal, computed off the loop."""

    def compute() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return await asyncio.to_thread(compute)
