"""Changing settings files without losing what people wrote into them."""

from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.dicts import set_nested
from amplifier_tui.foundation.io import (
    dump_yaml,
    load_yaml,
)
from amplifier_tui.foundation.settings.keys import set_key, without_secrets
from amplifier_tui.foundation.settings.settings import (
    Scope,
    SettingsFileError,
    SettingsFiles,
    load_settings_file,
    merge_entries,
)


def edited(text: str, keys: list[str], value: Any, wanted: dict[str, Any]) -> str | None:
    """Return a YAML text in which the value at a path of keys is set, and nothing else changed.

    A scalar is replaced where it stands; a missing key is put before the first key of the mapping
    it belongs to. None where that cannot give `wanted`, the data that the result has to mean, or
    where the value is removed: then the document has to be written anew.
    """
    if value is None:
        return None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        result = _edit(text, node, keys, value)
        return result if result is not None and load_yaml(result) == wanted else None
    except yaml.YAMLError:
        return None


def _edit(text: str, node: Any, keys: list[str], value: Any) -> str | None:
    depth = 0
    while isinstance(node, yaml.MappingNode):
        found = next((pair[1] for pair in node.value if pair[0].value == keys[depth]), None)
        if found is None:
            return _insert(text, node, keys[depth:], value)
        depth += 1
        if depth == len(keys):
            return _replace(text, found, value)
        node = found
    return None if node is not None else text + _lines(keys, value, "")


def _replace(text: str, node: Any, value: Any) -> str | None:
    if not isinstance(node, yaml.ScalarNode) or isinstance(value, dict | list):
        return None
    start, end = node.start_mark.index, node.end_mark.index
    return text[:start] + _scalar(value) + text[end:] if end > start else None


def _insert(text: str, node: Any, keys: list[str], value: Any) -> str | None:
    if node.flow_style or not node.value:
        return None
    mark = node.value[0][0].start_mark
    start = mark.index - mark.column
    indent = text[start : mark.index]
    if indent.strip():
        return None
    return text[:start] + _lines(keys, value, indent) + text[start:]


def _lines(keys: list[str], value: Any, indent: str) -> str:
    for key in reversed(keys):
        value = {key: value}
    return "".join(f"{indent}{line}\n" for line in dump_yaml(value).splitlines())


def _scalar(value: Any) -> str:
    return dump_yaml({"v": value}).removeprefix("v:").strip()


def write_setting(files: SettingsFiles, scope: Scope, path: str, value: Any) -> Path:
    """Set or remove one setting, e.g. `bundle.active`; None removes it.

    The file is replaced atomically; comments survive where only a value changes.

    Raises:
        SettingsFileError: The scope is not available, or its file is broken.
        OSError: The file cannot be written.
    """
    file = files.path(scope)
    if file is None:
        raise SettingsFileError(
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
    text = edited(text, keys, value, wanted) or dump_yaml(wanted)
    write_atomic(file, text, durable=True, links="follow")
    return file


def write_provider(files: SettingsFiles, scope: Scope, entry: dict[str, Any]) -> Path:
    """Add a provider to `config.providers`, or merge it into the one of the same id or module.

    Secrets go to `keys.env`; the settings refer to them as `${VAR}`. Raises as `write_setting`
    does.
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
        document = load_settings_file(file)
    except FileNotFoundError:
        return "", {}
    return document.text, document.data or {}


def _remove(data: dict[str, Any], keys: list[str]) -> None:
    for key in keys[:-1]:
        inner = data.get(key)
        if not isinstance(inner, dict):
            return
        data = inner
    data.pop(keys[-1], None)
