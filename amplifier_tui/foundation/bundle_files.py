"""Where a bundle's entries stand: the files that contribute to it, and the lines in them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.loading import parse_text, read_bundle_text
from amplifier_tui.foundation.bundle.model import Bundle
from amplifier_tui.foundation.bundle.parsing import Keys
from amplifier_tui.foundation.bundle.provenance import is_settings_origin
from amplifier_tui.foundation.dicts.merge import module_key
from amplifier_tui.foundation.exceptions import BundleError


def bundle_files(bundle: Bundle) -> list[Path]:
    """Return the bundle files that contribute to a bundle, the one it was opened from first."""
    found = [bundle.source_file]
    for origins in bundle.origins.values():
        # What the user's settings contribute is no bundle file.
        found += [each.path for each in origins if not is_settings_origin(each)]
    return list(dict.fromkeys(path for path in found if path is not None))


def place_of(
    bundle: Bundle, origin_key: str, section: str, name: str
) -> tuple[Path | None, int | None]:
    """Find the file and line that have an entry, the last word about it first.

    Args:
        bundle: Composed.
        origin_key: Key of the entry in `Bundle.origins`.
        section: Section of the file, such as `tools`.
        name: Its module, id, name or reference.

    Returns:
        File and line; without a line, the file the bundle was opened from.
    """
    for origin in reversed(bundle.origins.get(origin_key, [])):
        line = None if origin.path is None else _line_in(origin.path, section, name)
        if line is not None:
            return origin.path, line
    return bundle.source_file, None


def _line_in(path: Path, section: str, name: str) -> int | None:
    try:
        text = read_bundle_text(path)
        keys = _keys_of(parse_text(text).get(section), name)
    except BundleError:
        return None
    return None if keys is None else text.line_of((section, *keys))


def _keys_of(value: Any, name: str) -> Keys | None:
    if isinstance(value, list):
        return _first((index,) for index, entry in enumerate(value) if _is_named(entry, name))
    if not isinstance(value, dict):
        return None
    if name in value:
        return (name,)
    included = _keys_of(value.get("include"), name)
    if included is not None:
        return ("include", *included)
    return _first((str(key),) for key, entry in value.items() if _is_named(entry, name))


def _is_named(entry: Any, name: str) -> bool:
    if isinstance(entry, dict):
        return name in (module_key(entry), entry.get("module"))
    return isinstance(entry, str) and entry.removeprefix("@") == name


def _first(found: Iterable[Keys]) -> Keys | None:
    return next(iter(found), None)
