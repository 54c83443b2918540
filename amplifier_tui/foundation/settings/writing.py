"""Changing settings files without losing what people wrote into them."""

from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.foundation.dicts.merge import copy_plain
from amplifier_tui.foundation.dicts.nested import set_nested
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.io.files import write_atomically
from amplifier_tui.foundation.io.yaml import dump_yaml, load_yaml, problem_line, problem_text
from amplifier_tui.foundation.settings.edit import edited
from amplifier_tui.foundation.settings.keys import set_key
from amplifier_tui.foundation.settings.merging import merge_entries
from amplifier_tui.foundation.settings.scopes import Scope, SettingsFiles
from amplifier_tui.foundation.settings.secrets import without_secrets


class SettingsError(BundleError):
    """A settings file cannot be changed."""


def write_setting(files: SettingsFiles, scope: Scope, path: str, value: Any) -> Path:
    """Set or remove one setting, atomically; comments survive where only a value changes.

    Args:
        files: Where the scopes' files are.
        scope: Which of them.
        path: Dotted, e.g. `bundle.active`.
        value: Plain data; None removes the setting.

    Returns:
        The file that was written.

    Raises:
        SettingsError: The scope is not available, or its file is broken and must be mended first.
        OSError: The file cannot be written.
    """
    file = files.path(scope)
    if file is None:
        raise SettingsError(
            f"There are no {scope} settings here", remedy="Start in a project's folder."
        )
    text, data = _read(file)
    keys = path.split(".")
    wanted = copy_plain(data)
    if value is None:
        _remove(wanted, keys)
    else:
        set_nested(wanted, keys, copy_plain(value))
    if wanted == data:
        return file
    write_atomically(file, edited(text, keys, value, wanted) or dump_yaml(wanted))
    return file


def write_provider(files: SettingsFiles, scope: Scope, entry: dict[str, Any]) -> Path:
    """Add a provider to `config.providers`, or merge it into the one of the same id or module.

    Secrets go to `keys.env`; the settings refer to them as `${VAR}`.

    Raises:
        SettingsError: See `write_setting`.
        OSError: A file cannot be written.
    """
    public, secrets = without_secrets(entry)
    file = files.path(scope)
    data = {} if file is None else _read(file)[1]
    config = data.get("config")
    listed = config.get("providers") if isinstance(config, dict) else None
    present = [old for old in listed if isinstance(old, dict)] if isinstance(listed, list) else []
    written = write_setting(files, scope, "config.providers", merge_entries(present, [public]))
    for name, secret in secrets.items():
        set_key(files.home, name, secret)
    return written


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return "", {}
    except UnicodeDecodeError as error:
        raise SettingsError("Not UTF-8 text", path=file, remedy="Mend the file first.") from error
    try:
        data = load_yaml(text)
    except yaml.YAMLError as error:
        line = problem_line(error, text)
        raise SettingsError(
            f"Not valid YAML: {problem_text(error)}",
            path=file,
            line=None if line is None else line + 1,
            remedy="Mend the file first; nothing was written.",
        ) from error
    if data is None:
        return text, {}
    if not isinstance(data, dict):
        raise SettingsError("Expected a mapping", path=file, remedy="Mend the file first.")
    return text, data


def _remove(data: dict[str, Any], keys: list[str]) -> None:
    for key in keys[:-1]:
        inner = data.get(key)
        if not isinstance(inner, dict):
            return
        data = inner
    data.pop(keys[-1], None)
