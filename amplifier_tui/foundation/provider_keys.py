"""Whether a provider has the key it needs, told from its configuration alone."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from amplifier_tui.foundation.settings.expand import expand_variables, missing_variables

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

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal")


def missing_keys(
    provider: Mapping[str, Any],
    environ: Mapping[str, str],
    known: Mapping[str, tuple[str, ...]] = KNOWN_KEYS,
) -> list[str]:
    """Return the variables a provider's entry needs and does not find.

    Args:
        provider: A module entry; its configuration may refer to variables as `${VAR}`.
        environ: The environment, with the keys of `keys.env` in it.
        known: Variables by module id, of providers that look for a key themselves.

    Returns:
        Empty when it has everything, and for a server on this machine, which needs no key.
    """
    config = provider.get("config")
    config = config if isinstance(config, Mapping) else {}
    base_url = str(expand_variables(config.get("base_url") or "", environ))
    if base_url and _is_local(base_url):
        return [name for name in missing_variables(dict(config), environ) if "KEY" not in name]
    missing = missing_variables(dict(config), environ)
    names = known.get(str(provider.get("module")), ())
    given = expand_variables(config.get("api_key") or "", environ)
    if names and not given and not any(environ.get(name) for name in names):
        missing.append(names[0])
    return list(dict.fromkeys(missing))


def _is_local(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in _LOCAL_HOSTS or host.endswith(".local")
