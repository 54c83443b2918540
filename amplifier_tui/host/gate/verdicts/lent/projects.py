"""What uv and poetry take in and build for the project around, by its settings and locks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.text import one_line
from amplifier_tui.host.gate.verdicts.lent.of_registry import is_address, is_of_registry
from amplifier_tui.host.gate.verdicts.lent.package_scripts import nearest
from amplifier_tui.kernel.mounting.packages.finding import parsed_toml

BUILDS: Final = "builds a project of this disk and runs its code"
SETTINGS: Final = "pyproject.toml"
_MOST_TEXT: Final = 80
_OF_PROJECTS: Final = frozenset(
    {"dev-dependencies", "sources", "workspace", "package", "managed", "default-groups"}
    | {"dependency-groups", "build-backend", "environments", "required-environments", "conflicts"}
)
"""Settings of uv that say nothing of packages that are named."""
_REQUIRED: Final = frozenset(
    {"constraint-dependencies", "override-dependencies", "dev-dependencies"}
    | {"build-constraint-dependencies"}
)
_ADDRESSES: Final = frozenset(
    {"url", "git", "registry", "index-url", "extra-index-url", "find-links"}
)
_PLACES: Final = frozenset({"path", "file", "directory", "editable", "workspace"})
_HARMLESS: Final = frozenset(
    {"required-version", "python-preference", "python-downloads", "resolution", "prerelease"}
    | {"link-mode", "compile-bytecode", "exclude-newer", "index-strategy", "native-tls", "upgrade"}
    | {"fork-strategy", "no-build", "no-binary", "no-build-package", "no-binary-package", "name"}
    | {"explicit", "default", "authenticate", "publish-url", "format", "add-bounds", "marker"}
    | {"tag", "branch", "rev", "subdirectory", "extra", "group", "cache-keys", "reinstall"}
    | {"package", "managed", "default-groups", "dependency-groups", "build-backend", "conflicts"}
    | {"environments", "required-environments", "preview", "universal", "python-version"}
)
_OF_POETRY: Final = ("dependencies", "dev-dependencies", "group", "source", "requires-plugins")


def by_way_of(value: str, named_in: str = "") -> str:
    """Return that something may be code of the workspace, and how it is taken in."""
    within = f" in {one_line(named_in, _MOST_TEXT)}" if named_in else ""
    return f"may run code that was written here, by way of `{one_line(value, _MOST_TEXT)}`{within},"


def settings_of_uv(folder: Path, root: Path, *, project: bool) -> str:
    """Return what uv's settings would have it run of the workspace; empty for nothing. Blocking.

    Args:
        folder: Where it runs; it looks in those above, too.
        root: The workspace.
        project: It takes in what the project does.
    """
    for name in ("uv.toml", SETTINGS):
        for at in nearest(folder, root, name):
            data = _toml(at / name)
            if data is None:
                return by_way_of("all of it", name)
            told = data if name == "uv.toml" else _table(data, "tool", "uv")
            for value in _unsure_settings(told, project=project):
                return by_way_of(value, name)
    return ""


def project_of(program: str, words: tuple[str, ...], folder: Path, root: Path) -> str:
    """Return what uv or poetry would run of the project around; empty for nothing. Blocking.

    Args:
        program: Which of them.
        words: Behind it.
        folder: Where it runs.
        root: The workspace.
    """
    near = list(nearest(folder, root, SETTINGS))
    tables = [_toml(at / SETTINGS) for at in near]
    if not tables:
        # One above has the workspace in it, and builds it.
        return BUILDS if any((at / SETTINGS).is_file() for at in root.parents) else ""
    if tables[0] is None:
        return BUILDS
    data = tables[0]
    uv, poetry = _table(data, "tool", "uv"), _table(data, "tool", "poetry")
    if program == "poetry":
        left_out = poetry.get("package-mode") is False or "--no-root" in words
        built = "install" in words and not left_out
    else:
        packaged = uv.get("package", "build-system" in data)
        own = _table(data, "project")
        # What a table does not say, uv asks the backend for.
        told = "version" in own and "dynamic" not in own and not poetry
        built = not told or (packaged is not False and "--no-install-project" not in words)
    members = (_table(each or {}, "tool", "uv", "workspace") for each in tables)
    if built or any(members):
        return BUILDS
    for value in _strings([_table(data, "project").get("dependencies"), *_groups(data)]):
        if not is_of_registry(value):
            return by_way_of(value, SETTINGS)
    for value in _not_fetched([poetry.get(name) for name in _OF_POETRY]):
        return by_way_of(value, SETTINGS)
    lock = f"{program}.lock"
    for at in near:
        locked = _toml(at / lock)
        if locked is None:
            return by_way_of("all of it", lock)
        for value in _not_fetched(locked):
            return by_way_of(value, lock)
    return ""


def _groups(data: dict[str, Any]) -> Iterator[Any]:
    yield from _table(data, "project", "optional-dependencies").values()
    for group in _table(data, "dependency-groups").values():
        # The others are names of groups.
        yield [each for each in group if isinstance(each, str)] if isinstance(group, list) else ""


def _unsure_settings(told: dict[str, Any], *, project: bool) -> Iterator[str]:
    for name, value in told.items():
        if not project and name in _OF_PROJECTS:
            continue
        if name in _REQUIRED:
            yield from (each for each in _strings(value) if not is_of_registry(each))
        elif name in _ADDRESSES:
            yield from (each for each in _strings(value) if not is_address(each))
        elif name == "sources":
            for each in _tables(list(value.values()) if isinstance(value, dict) else [value]):
                # A name of an index is one of its own settings.
                rest = {key: each[key] for key in each if key != "index"}
                yield from _unsure_settings(rest, project=project)
        elif name in ("pip", "index"):
            for each in _tables([value]):
                yield from _unsure_settings(each, project=project)
        elif name not in _HARMLESS:
            yield value if isinstance(value, str) else name


def _tables(left: list[Any]) -> Iterator[dict[str, Any]]:
    left = list(left)
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            yield value


def _not_fetched(data: object) -> Iterator[str]:
    """Yield what tables of dependencies, or of a lock, take in that is of no other machine."""
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        for name, each in value.items() if isinstance(value, dict) else ():
            if not isinstance(each, str):
                left.append(each)
            elif name in _ADDRESSES and not is_address(each):
                yield each
            elif name in _PLACES and each != ".":
                # Whether the project itself is built was looked at.
                yield each


def _strings(value: object) -> Iterator[str]:
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif value is not None:
            yield str(value)


def _toml(file: Path) -> dict[str, Any] | None:
    try:
        return parsed_toml(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def _table(data: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        found = data.get(name)
        data = found if isinstance(found, dict) else {}
    return data
