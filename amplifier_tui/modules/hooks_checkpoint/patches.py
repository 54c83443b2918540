"""Which files a patch changes."""

from __future__ import annotations

import re
from typing import Final

_HEAD: Final = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- |\+\+\+ )(?P<path>[^\t\r\n]+)",
    re.MULTILINE,
)


def patched_paths(text: str) -> list[str]:
    """Return the files named in the heads of a patch, in both common formats, each once."""
    found: dict[str, None] = {}
    for match in _HEAD.finditer(text):
        path = match["path"].strip()
        if match.group().startswith(("--- ", "+++ ")):
            path = re.sub(r"^[ab]/", "", path)
        if path and path != "/dev/null":
            found[path] = None
    return list(found)
