"""`keys.env`: API keys, readable by their owner only; the environment wins over the file."""

import os
import re
from collections.abc import MutableMapping
from dataclasses import field
from pathlib import Path
from typing import Any

from amplifier_tui.base.files import locked, read_regular, write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.secrets import is_secret_name, is_secret_variable
from amplifier_tui.foundation.io import unreadable
from amplifier_tui.foundation.settings.settings import SettingsProblem

_MODE = 0o600
_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def without_secrets(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Take the secrets out of a provider's entry, which is not changed.

    Returns the entry with `${VAR}` in place of each secret, and the secrets by variable.
    """
    config = entry.get("config")
    if not isinstance(config, dict):
        return entry, {}
    secrets: dict[str, str] = {}
    public: dict[str, Any] = {}
    owner = str(entry.get("id") or entry.get("module") or "provider").removeprefix("provider-")
    for key, value in config.items():
        secret = is_secret_name(key) or is_secret_variable(key)
        if secret and isinstance(value, str) and value and "${" not in value:
            variable = re.sub(r"[^A-Z0-9]+", "_", f"{owner}_{key}".upper()).strip("_")
            variable = variable if not variable[:1].isdigit() else f"_{variable}"
            secrets[variable] = value
            value = f"${{{variable}}}"
        public[key] = value
    return {**entry, "config": public}, secrets


@dataclass
class KeysReport:
    """What loading `keys.env` did: names it put into the environment, names already there."""

    loaded: list[str] = field(default_factory=list)
    shadowed: list[str] = field(default_factory=list)
    problems: list[SettingsProblem] = field(default_factory=list)


def load_keys(home: Path, environ: MutableMapping[str, str]) -> KeysReport:
    """Put the keys of a home into an environment (usually `os.environ`) that does not have them
    yet.

    A file that others can read is made private first.
    """
    report = KeysReport()
    path = home / "keys.env"
    try:
        text = read_regular(path).decode("utf-8-sig")
        _make_private(path, report)
    except FileNotFoundError:
        return report
    except (OSError, UnicodeDecodeError) as error:
        report.problems.append(SettingsProblem(path, unreadable(error)))
        return report
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pair = _parse(line)
        if pair is None or "\0" in pair[1]:
            # The line is not shown: it may well contain a key.
            problem = SettingsProblem(path, 'Expected NAME="value"; the line is ignored', number)
            report.problems.append(problem)
        elif environ.get(pair[0]):
            report.shadowed.append(pair[0])
        else:
            environ[pair[0]] = pair[1]
            report.loaded.append(pair[0])
    return report


def stored_key(home: Path, name: str) -> str | None:
    """Return what `keys.env` has under a name; None where it has nothing, or can't be read."""
    try:
        text = read_regular(home / "keys.env").decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    pairs = (_parse(line) for line in text.split("\n"))
    return dict(pair for pair in pairs if pair is not None).get(name)


def pasted_value(name: str, text: str) -> str:
    """Return the value in what was pasted: `export NAME="…"`, in quotes, or as it is.

    Raises:
        ValueError: It is the line of another variable, or there is nothing in it.
    """
    text = text.strip()
    pair = _parse(text)
    if pair is not None and pair[0] != name and text.startswith("export "):
        raise ValueError(f"That is a line of another variable: paste the value of {name} alone")
    found, value = pair if pair is not None else ("", "")
    if found != name:
        value = (_parse(f"{name}={text}") or ("", ""))[1]
    if not value:
        raise ValueError(f"There is no value of {name} in what was pasted")
    return value


def set_key(home: Path, name: str, value: str) -> None:
    """Add or replace a key; other lines and comments stay.

    Raises:
        ValueError: The name is no variable name, or the value has a control character.
        OSError: The file cannot be written.
    """
    if not _NAME.match(name):
        raise ValueError(f"{name!r} is not a name for an environment variable")
    if any(not character.isprintable() for character in value):
        raise ValueError(f"The value of {name} has a line break or another control character")
    _rewrite(home, name, f'{name}="{value}"')


def remove_key(home: Path, name: str) -> bool:
    """Remove a key; whether it was there. Raises `OSError` when the file cannot be written."""
    return _rewrite(home, name, None)


def _rewrite(home: Path, name: str, line: str | None) -> bool:
    path = home / "keys.env"
    home.mkdir(parents=True, exist_ok=True)
    with locked(path):
        try:
            text = read_regular(path).decode("utf-8-sig").rstrip("\n")
        except FileNotFoundError:
            text = ""
        lines = text.split("\n") if text else []
        kept = [entry for entry in lines if (_parse(entry) or ("", ""))[0] != name]
        found = len(kept) != len(lines)
        if line is not None:
            kept.append(line)
        if line is not None or found:
            text = "\n".join((*kept, ""))
            write_atomic(path, text, mode=_MODE, durable=True, links="follow")
    return found


def _parse(line: str) -> tuple[str, str] | None:
    name, separator, value = line.strip().removeprefix("export ").partition("=")
    name, value = name.strip(), value.strip()
    if not separator or not _NAME.match(name):
        return None
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return name, value


def _make_private(path: Path, report: KeysReport) -> None:
    if os.name == "nt" or not path.stat().st_mode & 0o077:
        return
    try:
        path.chmod(_MODE)
        message = "Other users could read it; it is private now"
    except OSError as error:
        message = f"Other users can read it, and that cannot be changed: {error}"
    report.problems.append(SettingsProblem(path, message))
