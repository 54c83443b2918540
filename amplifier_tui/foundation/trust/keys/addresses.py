"""Where a module sends its key, and which key it needs, told from its configuration."""

import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.settings.expand import expand_variables, missing_variables, variables

KNOWN_KEYS: dict[str, tuple[str, ...]] = {
    "provider-anthropic": ("ANTHROPIC_API_KEY",),
    "provider-azure-openai": ("AZURE_OPENAI_API_KEY",),
    "provider-gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "provider-openai": ("OPENAI_API_KEY",),
}
"""Variables in which the ecosystem's providers look for their key; any one will do."""

VENDOR_HOSTS: dict[str, tuple[str, ...]] = {
    "provider-anthropic": ("api.anthropic.com",),
    "provider-gemini": ("generativelanguage.googleapis.com",),
    "provider-openai": ("api.openai.com",),
}
"""Hosts, and those below them, of the vendors whose keys `KNOWN_KEYS` names."""

_BASE_URLS = {"provider-openai": "OPENAI_BASE_URL", "provider-anthropic": "ANTHROPIC_BASE_URL"}
_NEVER_WITHOUT = frozenset({"provider-anthropic"})
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal")


def missing_keys(provider: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Return the variables that a provider's entry needs and `environ` lacks.

    An OpenAI-compatible server on this machine needs no key.
    """
    config = provider.get("config")
    config = config if isinstance(config, Mapping) else {}
    module = str(provider.get("module"))
    if module not in _NEVER_WITHOUT and _is_local(_base_url(module, config, environ)):
        return [name for name in missing_variables(dict(config), environ) if "KEY" not in name]
    missing = missing_variables(dict(config), environ)
    names = KNOWN_KEYS.get(module, ())
    given = expand_variables(config.get("api_key") or "", environ)
    if names and not given and not any(environ.get(name) for name in names):
        missing.append(names[0])
    return list(dict.fromkeys(missing))


def reads_variable(provider: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether a provider's entry, as written, takes its key or a setting from one of `names`."""
    return not set(names).isdisjoint(_read_variables(provider))


def key_variables(
    providers: Collection[Mapping[str, Any]], name: str, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the variables that are set and hold the key of a provider.

    Args:
        providers: The entries, as written.
        name: What the provider calls itself. If no module is named after it, all entries count.
    """
    asked = [each for each in providers if each.get("module") == f"provider-{name}"] or providers
    read = dict.fromkeys(variable for each in asked for variable in _read_variables(each))
    return tuple(
        variable
        for variable in read
        if ("KEY" in variable or "TOKEN" in variable) and environ.get(variable)
    )


def _read_variables(provider: Mapping[str, Any]) -> list[str]:
    config = provider.get("config")
    config = config if isinstance(config, Mapping) else {}
    known = () if config.get("api_key") else KNOWN_KEYS.get(str(provider.get("module")), ())
    return [*variables(dict(config)), *known]


def is_spare(provider: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether a provider's entry lacks its vendor's key and nothing else.

    Beside a provider that has its key, such a one is no mistake: a bundle may offer several, so
    that it works with whichever there is a key for.
    """
    module, config = str(provider.get("module")), provider.get("config")
    config = config if isinstance(config, Mapping) else {}
    if module not in KNOWN_KEYS or _base_url(module, config, environ):
        return False
    rest = {name: value for name, value in config.items() if name != "api_key"}
    return bool(missing_keys(provider, environ)) and not missing_variables(rest, environ)


def _base_url(module: str, config: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    given = str(expand_variables(config.get("base_url") or "", environ))
    return given or environ.get(_BASE_URLS.get(module, ""), "")


def _is_local(url: str) -> bool:
    if not url:
        return False
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in _LOCAL_HOSTS or host.endswith(".local")


_FIELD = re.compile(r"(?i)(?:^|_)(?:url|uri|host|endpoint|base|proxy|proxies|server)$")
_ADDRESS = re.compile(r"(?i)^(?:https?|wss?)://")


def addresses_in(config: Any, name: str = "") -> Iterator[str]:
    """Yield every text of a configuration that says where something is sent, as written.

    `name` is that of the field the configuration is in.
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
    """Whether an address is of this machine itself; published name."""
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
