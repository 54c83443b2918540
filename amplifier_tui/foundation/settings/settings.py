"""The settings of all scopes; what is broken is reported, never fatal."""

import os
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, Final

import yaml

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.dicts import get_nested, module_key, texts_listed, united
from amplifier_tui.foundation.exceptions import BundleError, located
from amplifier_tui.foundation.io import YamlDocument, unreadable, yaml_problem
from amplifier_tui.foundation.paths import (
    absolute_in_home,
    get_amplifier_home,
    home_expanded,
    without_fragment,
)
from amplifier_tui.foundation.registry.includes import namespace_of
from amplifier_tui.foundation.settings.schema import misspelled, without_wrong

_REMEDY = "Mend the file first; nothing was written."


class SettingsFileError(BundleError):
    """A settings file is broken, or cannot be changed."""


BUILT_IN: Final = "built-in"
"""As a source: the module of that id that comes with the program."""


class Scope(StrEnum):
    """Where a setting is made; later ones win."""

    GLOBAL = "global"
    """`<home>/settings.yaml`: every project of this user."""
    PROJECT = "project"
    """`<project>/.amplifier/settings.yaml`: everybody who works on the project."""
    LOCAL = "local"
    """`<project>/.amplifier/settings.local.yaml`: this user in this project."""
    SESSION = "session"
    """`settings.yaml` in the folder of one session."""


PROJECT_SCOPES = frozenset((Scope.PROJECT, Scope.LOCAL))
"""Scopes whose files lie in the project: they come with what was cloned."""


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """Where the scopes' files are: in the Amplifier home, a project's and a session's folder."""

    home: Path
    project: Path | None = None
    session: Path | None = None

    @classmethod
    def for_project(
        cls, project: Path, *, home: Path | None = None, session: Path | None = None
    ) -> "SettingsFiles":
        """Return the files of a project in the user's Amplifier home."""
        return cls(home or get_amplifier_home(), project, session)

    def path(self, scope: Scope) -> Path | None:
        """Return a scope's file, which may not exist; None when the scope is not available.

        The project scopes are not available in the user's home folder, where their file would be
        the global one, or would make the whole home a project.
        """
        if scope is Scope.GLOBAL:
            return self.home / "settings.yaml"
        if scope is Scope.SESSION:
            return None if self.session is None else self.session / "settings.yaml"
        if self.project is None:
            return None
        folder = self.project / ".amplifier"
        if self.project.resolve() == user_home().resolve() and not folder.is_dir():
            return None
        if scope is Scope.LOCAL:
            return folder / "settings.local.yaml"
        return None if folder.resolve() == self.home.resolve() else folder / "settings.yaml"


UNITED = ("allowed_read_paths", "allowed_write_paths", "denied_write_paths")
"""Lists of which every scope's entries count, whatever tool has them."""


def merge_settings(
    low: Mapping[str, Any], high: Mapping[str, Any], path: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Lay the settings of a higher scope over those of a lower one; neither is changed.

    Mappings merge deeply and lists are replaced, except for module lists, which merge by id or
    module, and the lists named in `UNITED`. Null is absent. `path` leads to the two.
    """
    result = {key: copy_plain(value) for key, value in low.items() if value is not None}
    for key, value in high.items():
        if value is None:
            continue
        here = (*path, str(key))
        old: Any = result.get(key)
        if key in UNITED:
            old, value = texts_listed(old), texts_listed(value)
        lists = isinstance(old, list) and isinstance(value, list)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = merge_settings(old, value, here)
        elif lists and key in UNITED:
            result[key] = united(old, value)
        elif lists and (here == ("config", "providers") or here[:-1] == ("modules",)):
            result[key] = merge_entries(old, value)
        else:
            result[key] = copy_plain(value)
    return result


def merge_entries(low: list[Any], high: list[Any]) -> list[dict[str, Any]]:
    """Merge two lists of module entries by id or module, with the rules of settings."""
    merged = {module_key(entry): copy_plain(entry) for entry in low}
    for entry in high:
        key = module_key(entry)
        merged[key] = merge_settings(merged.get(key, {}), entry)
    merged.pop("", None)
    return list(merged.values())


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """Something in a scope's settings file (lines counted from 1) that does not count.

    With `whole` nothing of the file does.
    """

    path: Path
    message: str
    line: int | None = None
    scope: Scope | None = None
    whole: bool = False

    def __str__(self) -> str:
        end = "; the file is ignored" if self.whole else ""
        return located(f"{self.message}{end}", self.path, self.line)


@dataclass
class Settings:
    """The settings of all scopes: merged, by scope, and what of the files does not count."""

    files: SettingsFiles
    data: dict[str, Any] = field(default_factory=dict)
    by_scope: dict[Scope, dict[str, Any]] = field(default_factory=dict)
    problems: list[SettingsProblem] = field(default_factory=list)

    def get(self, path: str, default: Any = None) -> Any:
        """Return the value at a dotted path."""
        return get_nested(self.data, path, default)

    def scope_of(self, path: str) -> Scope | None:
        """Return the scope that has the last word on a dotted path, or None."""
        missing = object()
        for scope in reversed(Scope):
            if get_nested(self.by_scope.get(scope, {}), path, missing) is not missing:
                return scope
        return None

    @property
    def active_bundle(self) -> str | None:
        """`bundle.active`: a name or URI."""
        value: str | None = self.get("bundle.active")
        return value or None

    @property
    def app_bundles(self) -> list[str]:
        """`bundle.app`: URIs composed onto every session, after everything else."""
        return list(self.get("bundle.app") or [])

    @property
    def added_bundles(self) -> dict[str, str]:
        """`bundle.added`: URIs by name; of a path in a home, the path itself."""
        added = _texts(self.get("bundle.added"))
        return {name: home_expanded(uri) for name, uri in added.items()}

    @property
    def added_by_user(self) -> dict[str, str]:
        """`bundle.added` without what the project's own settings say."""
        added: dict[str, Any] = {}
        for scope, data in self.by_scope.items():
            if scope not in PROJECT_SCOPES:
                added |= get_nested(data, "bundle.added", None) or {}
        return {name: home_expanded(uri) for name, uri in _texts(added).items()}

    @property
    def providers(self) -> list[dict[str, Any]]:
        """`config.providers`: module entries."""
        return list(self.get("config.providers") or [])

    def entries(self, scope: Scope, path: str) -> list[dict[str, Any]]:
        """Return the module entries that one scope's file has at a dotted path."""
        return list(get_nested(self.by_scope.get(scope, {}), path, None) or [])

    def modules(self, section: str) -> list[dict[str, Any]]:
        """Return `modules.<section>`: module entries."""
        return list(self.get(f"modules.{section}") or [])

    @property
    def overrides(self) -> dict[str, dict[str, Any]]:
        """`overrides`: `source` and `config` by module id."""
        value: Mapping[str, Any] = self.get("overrides") or {}
        return {module: entry for module, entry in value.items() if entry}

    @property
    def module_sources(self) -> dict[str, str]:
        """`sources.modules`: URIs, or `BUILT_IN`, by module id."""
        return _texts(self.get("sources.modules"))

    @property
    def bundle_sources(self) -> dict[str, str]:
        """`sources.bundles`: URIs by a part of the include they replace."""
        return _texts(self.get("sources.bundles"))

    def redirect_include(self, source: str) -> str | None:
        """Return what `sources.bundles` puts in an include's place, or None.

        A `ns:path` is never redirected, and a `#fragment` is kept. The longest match wins.
        """
        if namespace_of(source) is not None:
            return None
        matches = [part for part in self.bundle_sources if part and part in source]
        if not matches:
            return None
        target = self.bundle_sources[max(matches, key=len)]
        fragment = source[len(without_fragment(source)) :]
        return target if "#" in target else target + fragment


def load_settings(files: SettingsFiles) -> Settings:
    """Read every scope's file and merge them; problems are in the result, never raised."""
    settings = Settings(files)
    seen: set[str] = set()
    for scope in Scope:
        path = files.path(scope)
        if path is None or (place := os.path.realpath(path)) in seen:
            continue
        seen.add(place)
        data = read_settings_file(path, scope, settings.problems)
        if data is not None:
            settings.by_scope[scope] = data
            settings.data = merge_settings(settings.data, data)
    return settings


def read_settings_file(
    path: Path, scope: Scope, problems: list[SettingsProblem]
) -> dict[str, Any] | None:
    """Return what counts of one scope's file; None when it is missing or nothing of it can be read.

    What does not count is added to `problems`; a missing file is no problem.
    """

    def problem(message: str, line: int | None = None, *, whole: bool = False) -> None:
        problems.append(SettingsProblem(path, message, line, scope, whole))

    try:
        document = load_settings_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem(unreadable(error), whole=True)
        return None
    except SettingsFileError as error:
        problem(error.message, error.line, whole=True)
        return None
    for entry in misspelled(document.data or {}):
        problem(entry.message, document.line_of(entry.keys))
    kept, wrong = without_wrong(document.data or {})
    for entry in wrong:
        problem(f"{entry.message}; it is ignored", document.line_of(entry.keys))
    _find_home(kept)
    return kept


def _find_home(data: dict[str, Any]) -> None:
    """Make the sources of modules that are in the home absolute, before anything judges them."""
    sources = get_nested(data, "sources.modules", None) or {}
    sources.update({module: absolute_in_home(source) for module, source in sources.items()})
    lists = [get_nested(data, "config.providers", None), *(data.get("modules") or {}).values()]
    entries = [*(data.get("overrides") or {}).values(), *chain.from_iterable(filter(None, lists))]
    for entry in entries:
        if entry and "source" in entry:
            entry["source"] = absolute_in_home(entry["source"])


def load_settings_file(path: Path) -> YamlDocument:
    """Read and parse a settings file; raises `SettingsFileError` or `OSError`."""
    try:
        text = read_regular(path).decode("utf-8-sig")
        document = YamlDocument(text)
    except UnicodeDecodeError as error:
        raise SettingsFileError("Not UTF-8 text", path=path, remedy=_REMEDY) from error
    except yaml.YAMLError as error:
        sentence, line = yaml_problem(error, text)
        message = f"Not valid YAML: {sentence}"
        raise SettingsFileError(message, path=path, line=line, remedy=_REMEDY) from error
    if not isinstance(document.data, dict | None):
        message = f"Expected a mapping, got {type(document.data).__name__}"
        raise SettingsFileError(message, path=path, line=1, remedy=_REMEDY)
    return document


def _texts(value: Any) -> dict[str, str]:
    return {str(key): text for key, text in (value or {}).items() if text}
