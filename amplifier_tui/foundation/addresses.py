"""Where configuration says that something is sent, read so that nobody can read it differently."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from amplifier_tui.foundation.paths.resolution import redact_uri
from amplifier_tui.foundation.provider_keys import VENDOR_HOSTS

_FIELD = re.compile(r"(?i)(?:^|_)(?:url|uri|host|endpoint|base|proxy|proxies|server)$")
_ADDRESS = re.compile(r"(?i)^(?:https?|wss?)://")


def addresses_in(config: Any, name: str = "") -> Iterator[str]:
    """Yield every text of a configuration that says where something is sent, as written.

    Args:
        config: Plain data.
        name: Name of the field it is in.
    """
    if isinstance(config, str):
        if config.strip() and (_FIELD.search(name) or _ADDRESS.match(config.strip())):
            yield config
    elif isinstance(config, Mapping):
        for key, value in config.items():
            yield from addresses_in(value, str(key))
    elif isinstance(config, list):
        for value in config:
            yield from addresses_in(value, name)


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address; all of it where it is no plain URL."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return redact_uri(address)
    if not parts.scheme or not host or not _is_plain(address):
        return redact_uri(address)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{shown.lower()}{'' if port is None else f':{port}'}"


def is_vendor(module: str, address: str) -> bool:
    """Whether an address is, over https, of the vendor whose provider a module is."""
    parts = _parts(address)
    if parts is None or parts[0] != "https":
        return False
    return any(
        parts[1] == host or parts[1].endswith(f".{host}") for host in VENDOR_HOSTS.get(module, ())
    )


def is_this_machine(address: str) -> bool:
    """Whether an address is of this machine itself."""
    parts = _parts(address)
    host = parts[1] if parts is not None else address.partition(":")[0].lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parts(address: str) -> tuple[str, str] | None:
    """Return scheme and host of an address that everybody reads the same way, or None."""
    if not _is_plain(address):
        return None
    try:
        parts = urlsplit(address)
        return (parts.scheme.lower(), parts.hostname.lower()) if parts.hostname else None
    except ValueError:
        return None


def _is_plain(address: str) -> bool:
    return (
        not any(mark in address for mark in "\\@")
        and address.isprintable()
        and (" " not in address)
    )
