"""Loading the settings of all scopes; what is broken is reported, never fatal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.foundation.dicts.nested import get_nested
from amplifier_tui.foundation.io.yaml import line_of, load_yaml, problem_line, problem_text
from amplifier_tui.foundation.paths.resolution import without_fragment
from amplifier_tui.foundation.registry.includes import namespace_of
from amplifier_tui.foundation.settings.merging import merge_settings
from amplifier_tui.foundation.settings.schema import without_wrong
from amplifier_tui.foundation.settings.scopes import Scope, SettingsFiles


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """Something in a settings file that does not count.

    Attributes:
        path: The file.
        message: What is wrong.
        line: Counted from 1, where known.
        scope: Whose file it is.
    """

    path: Path
    message: str
    line: int | None = None
    scope: Scope | None = None

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        return f"{where}: {self.message}"


@dataclass
class Settings:
    """The settings of all scopes.

    Attributes:
        files: Where they come from.
        data: Merged.
        by_scope: What each scope's file says, for those that have one.
        problems: What does not count, and why.
    """

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
        """`bundle.added`: URIs by name."""
        return _texts(self.get("bundle.added"))

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
        """`sources.modules`: URIs by module id."""
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
    seen: set[Path] = set()
    for scope in Scope:
        path = files.path(scope)
        if path is None or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        data = read_settings_file(path, scope, settings.problems)
        if data is not None:
            settings.by_scope[scope] = data
            settings.data = merge_settings(settings.data, data)
    return settings


def read_settings_file(
    path: Path, scope: Scope, problems: list[SettingsProblem]
) -> dict[str, Any] | None:
    """Read one file.

    Args:
        path: The file; a missing one is no problem.
        scope: Whose it is.
        problems: Filled with what does not count.

    Returns:
        What counts; None when there is no file or nothing of it can be read.
    """

    def problem(message: str, line: int | None = None) -> None:
        problems.append(SettingsProblem(path, message, line, scope))

    try:
        text = path.read_text(encoding="utf-8-sig")
        data = load_yaml(text)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        problem("Not UTF-8 text; the file is ignored")
        return None
    except OSError as error:
        problem(f"Cannot be read: {error.strerror or error}")
        return None
    except yaml.YAMLError as error:
        line = problem_line(error, text)
        problem(
            f"Not valid YAML, the file is ignored: {problem_text(error)}",
            None if line is None else line + 1,
        )
        return None
    if data is None:
        return {}
    if not isinstance(data, dict):
        problem(f"Expected a mapping, got {type(data).__name__}; the file is ignored", 1)
        return None
    kept, wrong = without_wrong(data)
    for entry in wrong:
        problem(f"{entry.message}; it is ignored", line_of(text, entry.keys))
    return kept


def _texts(value: Any) -> dict[str, str]:
    return {str(key): text for key, text in (value or {}).items() if text}
