"""What a bundle may say about the shell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_tui.modules.tool_bash.denials import CATASTROPHIC, Denial


@dataclass(frozen=True)
class Settings:
    """The module's configuration; see the package's docstring."""

    timeout: float = 120.0
    max_timeout: float = 600.0
    max_output_chars: int = 30_000
    shell: str = "bash"
    denials: tuple[Denial, ...] = CATASTROPHIC
    keep_env: tuple[str, ...] = ()
    pass_secrets: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    working_dir: str | None = None


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Check a module's config.

    Args:
        config: The ``config`` of the mount plan's entry. Unknown keys are left alone.

    Raises:
        ValueError: A value makes no sense, or there is no shell.
    """
    defaults = Settings()
    timeout = _number(config, "timeout", defaults.timeout, 0.1)
    env = config.get("env") or {}
    if not isinstance(env, Mapping):
        raise ValueError(f"`env` of tool-bash must map names to values, not {env!r}")
    folder = config.get("working_dir")
    builtin = CATASTROPHIC if _flag(config, "builtin_denials", True) else ()
    return Settings(
        timeout=timeout,
        max_timeout=max(timeout, _number(config, "max_timeout", defaults.max_timeout, 0.1)),
        max_output_chars=int(_number(config, "max_output_chars", defaults.max_output_chars, 1_000)),
        shell=_shell(config.get("shell")),
        denials=(*builtin, *_denials(config)),
        keep_env=tuple(_texts(config, "keep_env")),
        pass_secrets=_flag(config, "pass_secrets", False),
        env={str(name): str(value) for name, value in env.items()},
        working_dir=None if folder is None else str(folder),
    )


def _shell(wanted: Any) -> str:
    names = [str(wanted)] if wanted else ["bash", "sh"]
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    raise ValueError(f"tool-bash finds no shell ({' or '.join(names)}): install it, or set `shell`")


def _denials(config: Mapping[str, Any]) -> list[Denial]:
    denials = []
    for text in _texts(config, "denied_commands"):
        try:
            denials.append(Denial(re.compile(text), f"it matches the denied pattern {text}"))
        except re.error as error:
            raise ValueError(f"`denied_commands` of tool-bash: {text!r}: {error}") from error
    return denials


def _texts(config: Mapping[str, Any], name: str) -> list[str]:
    value = config.get(name)
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"`{name}` of tool-bash must be a list of texts, not {value!r}")
    return list(value)


def _number(config: Mapping[str, Any], name: str, default: float, least: float) -> float:
    value = config.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ValueError(f"`{name}` of tool-bash must be a number from {least:g} up, not {value!r}")
    return value


def _flag(config: Mapping[str, Any], name: str, default: bool) -> bool:
    value = config.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` of tool-bash must be true or false, not {value!r}")
    return value
