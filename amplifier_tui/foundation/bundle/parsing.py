"""From the mapping in a bundle file to the parts of a `Bundle`."""

from pathlib import Path
from typing import Any

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.model import SECTIONS
from amplifier_tui.foundation.exceptions import BundleValidationError
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.paths import absolute_in_home, construct_context_path, is_relative

_FORMATS = {
    "includes": "includes: [{bundle: <name or uri>}]",
    "session": "session: {orchestrator: {module: <id>}, context: {module: <id>}}",
    "agents": "agents: {include: [<name>]}",
    "context": "context: {include: [<path>]}",
    "spawn": "spawn: {exclude_tools: [<tool module>]}",
    "bundle": "bundle: {name: <name>, version: <version>}",
} | {section: f"{section}: [{{module: <id>, source: <uri>}}]" for section in SECTIONS}


def correct_format(keys: Keys) -> str:
    """Return how the section, or the config, is written that a path of keys leads into.

    It is a remedy.
    """
    if "config" in keys[1:]:
        return "Correct format: config: {<setting>: <value>}"
    return f"Correct format: {_FORMATS.get(str(keys[0]) if keys else 'bundle', '')}"


class MalformedSection(BundleValidationError):
    """A section has the wrong shape; `keys` lead to the wrong value."""

    def __init__(self, message: str, keys: Keys) -> None:
        super().__init__(message, remedy=correct_format(keys))
        self.keys = keys


def parse_bundle(
    data: Any, base_path: Path | None, mistakes: list[MalformedSection] | None = None
) -> dict[str, Any]:
    """Check a bundle's mapping and return keyword arguments of `BundleData` that share nothing with
    it.

    Null means absent everywhere. Raises `MalformedSection` for what has the wrong shape; where
    there are `mistakes`, it is added to them and counts as absent.
    """
    if not isinstance(data, dict):
        text = f"Bundle '{base_path or ''}' is no mapping: {type(data).__name__}"
        raise MalformedSection(text, ())
    return _Parser(base_path, mistakes).parse(copy_plain(data))


def absolute_source(source: Any, base_path: Path | None) -> Any:
    """Make a source that is a path from here or home (`.`, `./x`, `../x`, `~/x`) absolute.

    Others stay.
    """
    if base_path is None or not isinstance(source, str):
        return source
    if not is_relative(source):
        return absolute_in_home(source)
    try:
        return str((base_path / source).resolve())
    except (OSError, ValueError, RuntimeError):
        return source  # not a path; using it reports that


def with_absolute_sources(entries: Any, base_path: Path | None) -> Any:
    """Make the relative sources of a list of module entries absolute, on copies."""
    if not isinstance(entries, list):
        return entries
    return [
        {**entry, "source": absolute_source(entry["source"], base_path)}
        if isinstance(entry, dict) and "source" in entry
        else entry
        for entry in entries
    ]


def absolute_part(key: str, part: Any, base_path: Path | None) -> Any:
    """Make the relative sources of one section of a bundle, or of an agent, absolute."""
    if key in SECTIONS:
        return with_absolute_sources(part, base_path)
    if not isinstance(part, dict):
        return part
    part = dict(part)
    if key == "spawn" and "tools" in part:
        part["tools"] = with_absolute_sources(part["tools"], base_path)
    for name in ("orchestrator", "context") if key == "session" else ():
        if isinstance(part.get(name), dict):
            (part[name],) = with_absolute_sources([part[name]], base_path)
        if f"{name}_source" in part:
            part[f"{name}_source"] = absolute_source(part[f"{name}_source"], base_path)
    return part


class _Parser:
    def __init__(self, base_path: Path | None, mistakes: list[MalformedSection] | None) -> None:
        self._base = base_path
        self._mistakes = mistakes
        self._label = str(base_path or "")

    def parse(self, data: dict[str, Any]) -> dict[str, Any]:
        meta = self._get(data, "bundle", dict)
        name = self._text(meta, "name")
        self._label = name or self._label
        context, pending = self._context(data.get("context"))
        version = meta.get("version")
        return {
            "name": name,
            "version": "1.0.0" if version is None else version,
            "description": self._text(meta, "description"),
            "namespace_root": self._text(meta, "namespace_root") or None,
            "includes": self._get(data, "includes", list),
            "session": absolute_part("session", self._get(data, "session", dict), self._base),
            **{section: self._modules(data, section) for section in SECTIONS},
            "spawn": absolute_part("spawn", self._get(data, "spawn", dict), self._base),
            "agents": self._agents(data.get("agents")),
            "context": context,
            "_pending_context": pending,
            "base_path": self._base,
        }

    def _modules(self, data: dict[str, Any], section: str) -> list[dict[str, Any]]:
        entries = self._get(data, section, list)
        for index, entry in enumerate(entries):
            if not isinstance(entry, dict):
                expected, got = "dict with 'module' and 'source' keys", f" {entry!r:.60}"
                self._refuse(expected, entry, (section, index), got)
                entries[index] = {}  # The others keep their places.
        result: list[dict[str, Any]] = with_absolute_sources(entries, self._base)
        return result

    def _agents(self, value: Any) -> dict[str, dict[str, Any]]:
        if value is None or isinstance(value, str | list):
            # A text or a list says which agents this one may delegate to; it is no roster.
            return {}
        if not isinstance(value, dict):
            self._refuse("mapping", value, ("agents",))
            return {}
        names = self._names(value.get("include"), ("agents", "include"))
        agents: dict[str, dict[str, Any]] = {name: {"name": name} for name in names}
        for name, definition in value.items():
            if name != "include" and isinstance(definition, dict):
                agents[str(name)] = {
                    key: absolute_part(key, part, self._base) for key, part in definition.items()
                }
        return agents

    def _context(self, value: Any) -> tuple[dict[str, Path], dict[str, str]]:
        context: dict[str, Path] = {}
        pending: dict[str, str] = {}

        def add(name: str, reference: str) -> None:
            reference = reference.removeprefix("@")
            if ":" in reference:
                pending[name] = reference
            elif self._base is not None and reference.strip("/"):
                context[name] = construct_context_path(self._base, reference)

        keys: Keys = ("context",) if isinstance(value, list) else ("context", "include")
        value = {"include": value} if isinstance(value, list) else {} if value is None else value
        if not isinstance(value, dict):
            self._refuse("mapping or list", value, ("context",))
            value = {}
        for entry in self._names(value.get("include"), keys):
            add(entry.removeprefix("@").lstrip("/"), entry)
        for name, reference in value.items():
            if name == "include" or reference is None:
                continue
            if isinstance(reference, str):
                add(str(name), reference)
            else:
                self._refuse("path", reference, ("context", str(name)))
        return context, pending

    def _get(self, data: dict[str, Any], key: str, kind: type) -> Any:
        value = data.get(key)
        if not isinstance(value, kind | None):
            self._refuse("mapping" if kind is dict else "list", value, (key,))
            value = None
        return kind() if value is None else value

    def _names(self, value: Any, keys: Keys) -> list[str]:
        if not isinstance(value, list | None):
            self._refuse("list", value, keys)
            value = None
        for index, entry in enumerate(value or ()):
            if not isinstance(entry, str):
                self._refuse("str", entry, (*keys, index))
        return [entry for entry in value or () if isinstance(entry, str)]

    def _text(self, meta: dict[str, Any], key: str) -> str:
        value = meta.get(key)
        if not isinstance(value, str | None):
            self._refuse("str", value, ("bundle", key))
            value = None
        return (value or "").strip()

    def _refuse(self, expected: str, value: Any, keys: Keys, shown: str | None = None) -> None:
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]
        got = f"{type(value).__name__}{'.' if shown is None else shown}"
        message = f"Bundle '{self._label}' has malformed {where}: expected {expected}, got {got}"
        wrong = MalformedSection(message, keys)
        if self._mistakes is None:
            raise wrong
        self._mistakes.append(wrong)
