"""How the scopes' settings become one (foundation reference g.1)."""

from collections.abc import Mapping
from typing import Any

from amplifier_tui.foundation.dicts.merge import copy_plain, module_key

UNITED = ("allowed_read_paths", "allowed_write_paths", "denied_write_paths")
"""Lists of which every scope's entries count, whatever tool has them."""
_MODULE_LISTS = {("config", "providers")}


def merge_settings(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the settings of a higher scope over those of a lower one; neither is changed.

    Mappings merge deeply and lists are replaced, except for `config.providers` and the lists of
    `modules`, which merge by id or module, and the lists named in `UNITED`. Null is absent.
    """
    return _merge(low, high, ())


def merge_entries(low: list[Any], high: list[Any]) -> list[dict[str, Any]]:
    """Merge two lists of module entries by id or module, with the rules of settings."""
    merged = {module_key(entry): copy_plain(entry) for entry in low}
    for entry in high:
        key = module_key(entry)
        merged[key] = merge_settings(merged.get(key, {}), entry)
    merged.pop("", None)
    return list(merged.values())


def _merge(
    low: Mapping[str, Any], high: Mapping[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    result = {key: copy_plain(value) for key, value in low.items() if value is not None}
    for key, value in high.items():
        if value is None:
            continue
        here = (*path, str(key))
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merge(old, value, here)
        elif isinstance(old, list) and isinstance(value, list) and key in UNITED:
            result[key] = list(dict.fromkeys((*old, *value)))
        elif isinstance(old, list) and isinstance(value, list) and _is_module_list(here):
            result[key] = merge_entries(old, value)
        else:
            result[key] = copy_plain(value)
    return result


def _is_module_list(path: tuple[str, ...]) -> bool:
    return path in _MODULE_LISTS or (len(path) == 2 and path[0] == "modules")
