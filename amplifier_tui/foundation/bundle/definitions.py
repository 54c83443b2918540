"""Agent and mode files: Markdown with a frontmatter."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.base.files import read_regular
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.parsing import absolute_part
from amplifier_tui.foundation.io import (
    frontmatter_fault,
    parse_frontmatter,
    split_frontmatter,
    yaml_problem,
)

_log = logging.getLogger(__name__)


def read_agent_file(path: Path, name: str) -> dict[str, Any]:
    """Read an agent's definition; `name` is its name where the file gives none.

    Returns every key of the frontmatter and of its `meta`, of which the frontmatter's own counts
    where both have one, `name`, `description`, and `instruction` with the body. What is null counts
    as absent. Raises `ValueError` for a definition of the wrong shape, `OSError` and
    `yaml.YAMLError`.
    """
    data, body = _parsed(path)
    if not isinstance(data, dict):
        raise ValueError(f"{path}: the frontmatter is no mapping, but {type(data).__name__}")
    meta = data.pop("meta", None)
    agent: dict[str, Any] = {"name": name, "description": ""}
    for part in (meta if isinstance(meta, dict) else {}, data):
        agent.update((key, value) for key, value in part.items() if value not in (None, ""))
    for key, value in agent.items():
        agent[key] = absolute_part(key, value, path.parent)
    allowed = _delegation(agent.pop("agents", None), path)
    if allowed is not None:
        agent["agents"] = allowed
    if body.strip():
        agent["instruction"] = body.strip()
    return agent


def _parsed(path: Path) -> tuple[Any, str]:
    """Return frontmatter and body; raises `ValueError` for a frontmatter that is no such.

    Nothing it says of tools would count, and whoever wrote it would not know.
    """
    text = read_regular(path).decode("utf-8-sig")
    if fault := frontmatter_fault(text):
        raise ValueError(f"line {fault.line}: {fault.message}. {fault.remedy}")
    return parse_frontmatter(text)


def fill_agents(
    bundle: BundleData, counts: Callable[[dict[str, Any], Path], dict[str, Any]] | None = None
) -> None:
    """Fill missing or empty keys of every agent that has a file, in place; failures are logged.

    Args:
        counts: Gets what a file says, and the file; returns what of it counts.
    """
    for name, definition in bundle.agents.items():
        path = bundle.resolve_agent_path(name)
        if path is None:
            continue
        try:
            found = read_agent_file(path, name)
            if counts is not None:
                found = counts(found, path)
        except Exception as error:  # a broken file of one agent must not cost the others
            _log.warning("Agent %s: cannot read %s: %s", name, path, error)
            continue
        for key, value in found.items():
            if not definition.get(key):
                definition[key] = value


def _delegation(value: Any, path: Path) -> str | list[Any] | None:
    if value is None or isinstance(value, dict):
        return None
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value in ("all", "none"):
        return value
    raise ValueError(f"{path}: 'agents' must be 'all', 'none' or a list of names, not {value!r}")


_CONTRIBUTIONS = ("agents", "context", "skills")


def read_mode_file(path: Path) -> dict[str, Any]:
    """Read a mode's definition.

    Returns `name` (else the file's stem), `description`, `advertised` (else True), `contributes`,
    the other keys of `mode`, and `instruction` with the body. Raises `ValueError` for a definition
    of the wrong shape, `OSError` and `yaml.YAMLError`.
    """
    data, body = _parsed(path)
    mode = data.get("mode") if isinstance(data, dict) else data
    mode = {} if mode is None else mode
    if not isinstance(mode, dict):
        raise ValueError(f"'mode' must be a mapping, not {type(mode).__name__}")
    defaults = {"name": path.stem, "description": "", "advertised": True, "contributes": {}}
    given = {key: value for key, value in mode.items() if value is not None}
    return {**defaults, **given, "instruction": body.strip()}


def load_modes(bundle: BundleData) -> dict[str, dict[str, Any]]:
    """Return every readable mode of a bundle by name; those of `base_path` win."""
    modes: dict[str, dict[str, Any]] = {}
    for path in mode_files(bundle):
        try:
            mode = read_mode_file(path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            _log.warning("Mode %s", _unreadable(path, error))
            continue
        modes.setdefault(str(mode["name"]), mode)
    return modes


def validate_modes(bundle: BundleData) -> list[str]:
    """Check every mode file of a bundle; each warning is logged and returned."""
    warnings: list[str] = []
    for path in mode_files(bundle):
        try:
            mode = read_mode_file(path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            warnings.append(_unreadable(path, error))
            continue
        warnings.extend(f"{path}: {text}" for text in _contribution_problems(mode["contributes"]))
    for warning in warnings:
        _log.warning("Mode %s", warning)
    return warnings


def _unreadable(path: Path, error: Exception) -> str:
    """Say why a mode file can't be read, after its path and, where it is known, the line."""
    problem, line = str(error), None
    if isinstance(error, yaml.YAMLError):
        frontmatter = split_frontmatter(read_regular(path).decode("utf-8-sig"))
        sentence, line = yaml_problem(error, frontmatter.yaml or "", frontmatter.yaml_line)
        problem = f"Not valid YAML: {sentence}"
    return f"{path}{f':{line}' if line else ''}: cannot be read: {problem}"


def mode_files(bundle: BundleData) -> list[Path]:
    """Return the mode files of a bundle and of the namespaces it is composed of."""
    found: dict[Path, None] = {}
    for folder in bundle.folders():
        found.update(dict.fromkeys(sorted((folder / "modes").glob("*.md"))))
    return list(found)


def _contribution_problems(contributes: Any) -> list[str]:
    if not isinstance(contributes, dict):
        return [f"'contributes' must be a mapping, not {type(contributes).__name__}"]
    problems = [
        f"unknown key 'contributes.{key}' (known: {', '.join(_CONTRIBUTIONS)})"
        for key in contributes
        if key not in _CONTRIBUTIONS
    ]
    agents = contributes.get("agents")
    if agents is not None and not (
        isinstance(agents, dict) and all(isinstance(value, dict) for value in agents.values())
    ):
        problems.append("'contributes.agents' must map names to mappings")
    for key in ("context", "skills"):
        value = contributes.get(key)
        if value is not None and not (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
        ):
            problems.append(f"'contributes.{key}' must be a list of texts")
    return problems
