"""Secrets in provider configuration: the settings file refers to them, `keys.env` has them."""

import re
from typing import Any

_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password)$", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether a field or variable of this name holds a secret, such as `OPENAI_API_KEY`."""
    return _SECRET.search(name) is not None


def without_secrets(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Take the secrets out of a provider's entry.

    Args:
        entry: A module entry; not changed.

    Returns:
        The entry with `${VAR}` in place of each secret, and the secrets by variable.
    """
    config = entry.get("config")
    if not isinstance(config, dict):
        return entry, {}
    secrets: dict[str, str] = {}
    public: dict[str, Any] = {}
    owner = str(entry.get("id") or entry.get("module") or "provider").removeprefix("provider-")
    for key, value in config.items():
        if isinstance(value, str) and value and _SECRET.search(key) and "${" not in value:
            variable = re.sub(r"[^A-Z0-9]+", "_", f"{owner}_{key}".upper()).strip("_")
            variable = variable if not variable[:1].isdigit() else f"_{variable}"
            secrets[variable] = value
            value = f"${{{variable}}}"
        public[key] = value
    return {**entry, "config": public}, secrets
