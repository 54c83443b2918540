"""What is wrong with a bundle's files, and where in them an entry stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.loading import BundleFile, read_bundle_file
from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData, is_settings_origin
from amplifier_tui.foundation.bundle.parsing import MalformedSection, correct_format
from amplifier_tui.foundation.checks.known_keys import unknown_keys
from amplifier_tui.foundation.checks.validator import content_findings, unknown_entry_keys
from amplifier_tui.foundation.dicts import get_nested, module_key
from amplifier_tui.foundation.exceptions import BundleError, located
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.settings.expand import variables


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
    mistakes: list[MalformedSection] = []
    try:
        file = read_bundle_file(path)
        bundle = file.bundle(mistakes=mistakes)
    except BundleError as error:
        return [problem_of(error)]
    if named and file.document is None:
        message = "The file is a text, and no bundle: it has no frontmatter"
        remedy = "Begin it with a line `---`, then bundle: {name: <name>} and so on, then `---`."
        return [Problem(message, "error", file.path, 1, remedy)]
    problems = [
        Problem(wrong.message, "error", file.path, file.line_of(wrong.keys), wrong.remedy)
        for wrong in mistakes
    ]
    problems += [
        Problem(
            found.message,
            "warning" if found.warning and not strict else "error",
            file.path,
            file.line_of(_as_written(file.data, found.keys)),
            "" if found.warning else correct_format(found.keys),
        )
        for found in content_findings(bundle, named=named)
        if not any(found.keys[: len(wrong.keys)] == wrong.keys for wrong in mistakes)
    ]
    problems += [*_unknown_and_repeated(file), *_missing_template(file)]
    return sorted(problems, key=_by_line)


def _as_written(data: Any, keys: Keys) -> Keys:
    """Return the keys of a file of context, which may stand in a list `include`."""
    if len(keys) != 2 or keys[0] != "context":
        return keys
    section = data.get("context") if isinstance(data, dict) else None
    return next((("context", *each) for each in _keys_of(section, str(keys[1]))), keys)


def _missing_template(file: BundleFile) -> Iterator[Problem]:
    keys = ("session", "workspace", "template")
    template = get_nested(file.data, keys)
    if not isinstance(template, str) or not template or variables(template):
        return
    if not (file.path.parent / template).is_dir():
        message = f"session.workspace.template: there is no folder {template!r} beside the bundle"
        remedy = "Correct the path: until then sessions work in the user's own folder."
        yield Problem(message, "warning", file.path, file.line_of(keys), remedy)


def ignored_keys(path: Path, *, named: bool = False) -> list[Problem]:
    """Return, by line, the keys of a bundle file that do not count; none of one that is broken.

    Of one that should be `named`, also that it has no name.
    """
    try:
        file = read_bundle_file(path)
        bundle = file.bundle(mistakes=[])
    except BundleError:
        return []
    problems = [
        Problem(found.message, "warning", file.path, file.line_of(found.keys))
        for found in unknown_entry_keys(bundle)
    ]
    if named and not bundle.name:
        remedy = f"Write bundle: {{name: {path.stem}}}; for `bundle validate` it is an error."
        place = file.path, file.line_of(("bundle",))
        problems.append(Problem("Bundle must have a name", "warning", *place, remedy))
    return sorted([*problems, *_unknown_and_repeated(file)], key=_by_line)


def _unknown_and_repeated(file: BundleFile) -> Iterator[Problem]:
    for keys, message, remedy in unknown_keys(file.data):
        yield Problem(message, "warning", file.path, file.line_of(keys), remedy)
    for key, line in file.document.repeated_keys() if file.document is not None else ():
        message = f"'{key}' is there twice; only the last one counts"
        yield Problem(message, "warning", file.path, line)
    for section in SECTIONS:
        seen = set[str]()
        entries = file.data.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            key = module_key(entry) if isinstance(entry, dict) else ""
            if key and key in seen:
                message = f"'{key}' is there twice in {section}: they are one, and the later counts"
                place = file.path, file.line_of((section, index))
                yield Problem(message, "warning", *place, "To keep both, give one an id.")
            seen.add(key)


def _by_line(problem: Problem) -> int:
    return problem.line or 0


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
    origins = bundle.origins.get(origin_key, [])
    for path in [each.path for each in reversed(origins)] or [bundle.source_file]:
        line = None if path is None else line_in(path, section, name, inside)
        if line is not None:
            return path, line
    return place_of(bundle, origin_key, section, name) if inside else (bundle.source_file, None)


def line_in(path: Path, section: str, name: str, inside: Keys = ()) -> int | None:
    """Return the line of an entry in a bundle's, an agent's or a settings file; see `place_of`."""
    try:
        file = read_bundle_file(path)
    except BundleError:
        return None
    for start in ((section,), *_SETTINGS, ("modules", section)):
        for keys in _keys_of(get_nested(file.data, start), name):
            if _has(file.data, (*start, *keys, *inside)):
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


def _keys_of(value: Any, name: str) -> Iterator[Keys]:
    if isinstance(value, list):
        yield from ((index,) for index, entry in enumerate(value) if _is_named(entry, name))
    elif isinstance(value, dict):
        if name in value:
            yield (name,)
        yield from (("include", *keys) for keys in _keys_of(value.get("include"), name))
        yield from ((str(key),) for key, entry in value.items() if _is_named(entry, name))


def _is_named(entry: Any, name: str) -> bool:
    if isinstance(entry, dict):
        return name in (module_key(entry), entry.get("module"))
    return isinstance(entry, str) and entry.removeprefix("@") == name
