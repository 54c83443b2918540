"""File names from ids that anybody may have chosen."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST: Final = 120


def safe_name(identity: str | None) -> str:
    """Return a file name for an id: the id itself where it is harmless on every system.

    Args:
        identity: Any text; None and an empty one have the name "default".

    Returns:
        A name that is no path, is no device, and is another one for every id.
    """
    if not identity:
        return "default"
    # "default" and names with the prefix are not plain: two ids never share a name.
    if _PLAIN.fullmatch(identity) and not _RESERVED.fullmatch(identity) and identity != "default":
        return identity
    data = identity.encode("utf-8", "surrogatepass")
    name = "~session-" + urlsafe_b64encode(data).decode().rstrip("=")
    if len(name) <= _LONGEST:
        return name
    return "~session-sha256-" + hashlib.sha256(data).hexdigest()
