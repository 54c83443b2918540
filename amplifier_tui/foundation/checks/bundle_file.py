"""Checking a bundle file for the person who writes it: every finding with its line."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import (
    BundleText,
    load_bundle_path,
    parse_text,
    read_bundle_text,
)
from amplifier_tui.foundation.bundle.model import is_settings_origin
from amplifier_tui.foundation.bundle.parsing import Keys
from amplifier_tui.foundation.checks.validator import BundleValidator
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.io import duplicate_keys


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


_KNOWN_KEYS = (
    "bundle",
    "includes",
    "session",
    "providers",
    "tools",
    "hooks",
    "agents",
    "context",
    "spawn",
    "meta",
    "mode",
    "model_role",
    "provider_preferences",
)
_PLACE = re.compile(r"^([a-z_]+)(?:\[(\d+)\])?(?:\.([^:]+))?:")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    Attributes:
        message: What is wrong.
        severity: `error` keeps the bundle from loading or running.
        path: The file.
        line: Counted from 1, where known.
        remedy: What to do, where there is more to say.
    """

    message: str
    severity: Literal["error", "warning"] = "error"
    path: Path | None = None
    line: int | None = None
    remedy: str = ""

    def __str__(self) -> str:
        where = "" if self.path is None else f"{self.path}: "
        if self.path is not None and self.line is not None:
            where = f"{self.path}:{self.line}: "
        return f"{where}{self.message}"


def check_bundle_file(path: Path, *, strict: bool = False) -> list[Problem]:
    """Check one bundle file by itself; includes are not loaded, nothing is executed.

    Args:
        path: The file, or a folder with one.
        strict: Warnings of the validator are errors.

    Returns:
        Everything found, in the order of the lines; empty when all is well.
    """
    try:
        text = read_bundle_text(path)
        data = parse_text(text)
        bundle = load_bundle_path(path)
    except BundleError as error:
        return [problem_of(error)]
    result = BundleValidator(strict).validate(bundle)
    problems = [_located(message, "error", text) for message in result.errors]
    problems += [_located(message, "warning", text) for message in result.warnings]
    problems += _unknown_keys(data, text)
    for key, line in duplicate_keys(text.yaml or ""):
        message = f"'{key}' is there twice; only the last one counts"
        problems.append(Problem(message, "warning", text.path, line + text.first_line))
    return sorted(problems, key=lambda problem: problem.line or 0)


def problem_of(error: BundleError) -> Problem:
    """Return an error as a finding."""
    return Problem(error.message, "error", error.path, error.line, error.remedy)


def _located(message: str, severity: Literal["error", "warning"], text: BundleText) -> Problem:
    keys: Keys = ("bundle",)
    match = _PLACE.match(message)
    if match:
        index = () if match[2] is None else (int(match[2]),)
        config = ("config",) if "'config'" in message else ()
        keys = (match[1], *index, *filter(None, (match[3],)), *config)
    return Problem(message, severity, text.path, text.line_of(keys))


def _unknown_keys(data: dict[str, object], text: BundleText) -> list[Problem]:
    problems: list[Problem] = []
    for key in data:
        if key in _KNOWN_KEYS:
            continue
        close = difflib.get_close_matches(str(key), _KNOWN_KEYS, n=1)
        if close:
            line = text.line_of((str(key),))
            message = f"'{key}' is not a section of a bundle and is ignored"
            remedy = f"Did you mean '{close[0]}'?"
            problems.append(Problem(message, "warning", text.path, line, remedy))
    return problems
