"""What is wrong with a bundle's files, and where in them an entry stands."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.loading import BundleFile, read_bundle_file
from amplifier_tui.foundation.bundle.model import BundleData, is_settings_origin
from amplifier_tui.foundation.bundle.parsing import correct_format
from amplifier_tui.foundation.checks.validator import content_findings
from amplifier_tui.foundation.dicts import get_nested, module_key
from amplifier_tui.foundation.exceptions import BundleError, located
from amplifier_tui.foundation.io import Keys

_KNOWN_KEYS = (
    *("bundle", "includes", "session", "providers", "tools", "hooks", "agents", "context", "spawn"),
    *("meta", "mode", "model_role", "provider_preferences"),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding, where it is, and what to do about it.

    An `error` keeps the bundle from loading or running. Lines are counted from 1.
    """

    message: str
    severity: Literal["error", "warning"] = "error"
    path: Path | None = None
    line: int | None = None
    remedy: str = ""

    def __str__(self) -> str:
        return located(self.message, self.path, self.line)


def check_bundle_file(path: Path, *, strict: bool = False, named: bool = True) -> list[Problem]:
    """Check one bundle file (or a folder's) by itself, without includes; returns findings by line.

    With `strict`, warnings about its content are errors; one that is only included need not be
    `named`.
    """
    try:
        file = read_bundle_file(path)
        bundle = file.bundle()
    except BundleError as error:
        return [problem_of(error)]
    problems = [
        Problem(
            found.message,
            "warning" if found.warning and not strict else "error",
            file.path,
            file.line_of(found.keys),
            "" if found.warning else correct_format(found.keys),
        )
        for found in content_findings(bundle, named=named)
    ]
    problems += _unknown_keys(file)
    for key, line in file.document.repeated_keys() if file.document is not None else ():
        message = f"'{key}' is there twice; only the last one counts"
        problems.append(Problem(message, "warning", file.path, line))
    return sorted(problems, key=lambda problem: problem.line or 0)


def problem_of(error: BundleError) -> Problem:
    """Return an error as a finding."""
    return Problem(error.message, "error", error.path, error.line, error.remedy)


def check_files_of(bundle: BundleData, *, strict: bool = False) -> Iterator[Problem]:
    """Check every file that contributes to a bundle; see `check_bundle_file`."""
    found = [bundle.source_file]
    for origins in bundle.origins.values():
        # What the user's settings contribute is no bundle file.
        found += [each.path for each in origins if not is_settings_origin(each)]
    for path in dict.fromkeys(path for path in found if path is not None):
        yield from check_bundle_file(path, strict=strict, named=path == bundle.source_file)


def place_of(
    bundle: BundleData, origin_key: str, section: str, name: str, inside: Keys = ()
) -> tuple[Path | None, int | None]:
    """Find the file and line that have an entry, the last word about it first.

    The entry has a key in `Bundle.origins`; in its section it is known by module, id, name or
    reference. A file that has `inside`, a path of keys within the entry, is preferred.
    """
    for origin in reversed(bundle.origins.get(origin_key, [])):
        line = None if origin.path is None else line_in(origin.path, section, name, inside)
        if line is not None:
            return origin.path, line
    return place_of(bundle, origin_key, section, name) if inside else (bundle.source_file, None)


def line_in(path: Path, section: str, name: str, inside: Keys = ()) -> int | None:
    """Return the line of an entry in a bundle's, an agent's or a settings file; see `place_of`."""
    try:
        file = read_bundle_file(path)
    except BundleError:
        return None
    for start in ((section,), *_SETTINGS, ("modules", section)):
        keys = _keys_of(get_nested(file.data, start), name)
        if keys is not None and _has(file.data, (*start, *keys, *inside)):
            return file.line_of((*start, *keys, *inside))
    return None


_SETTINGS = (("overrides",), ("config", "providers"))
"""Where settings files have entries, beside `modules`."""


def _has(data: Any, keys: Keys) -> bool:
    try:
        for key in keys:
            data = data[key]
    except (KeyError, IndexError, TypeError):
        return False
    return True


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


def _unknown_keys(file: BundleFile) -> Iterator[Problem]:
    for key in file.data:
        close = difflib.get_close_matches(str(key), _KNOWN_KEYS, n=1)
        if close and key not in _KNOWN_KEYS:
            message = f"'{key}' is not a section of a bundle and is ignored"
            remedy = f"Did you mean '{close[0]}'?"
            yield Problem(message, "warning", file.path, file.line_of((str(key),)), remedy)
