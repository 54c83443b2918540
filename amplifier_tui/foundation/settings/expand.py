"""`${VAR}` and `${VAR:default}` in configuration."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from amplifier_tui.foundation.io import Keys

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}")

_CONFIGURATION = ("session", "orchestrator", "providers", "tools", "hooks")
_NAMES = ("module", "source", "id", "instance_id")


def expand_variables(value: Any, environ: Mapping[str, str]) -> Any:
    """Return a copy of plain data with every variable replaced.

    A variable that is unset or empty becomes its default, without one the empty text. What a
    variable contains is not expanded again.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: environ.get(match[1]) or match[2] or "", value)
    if isinstance(value, dict):
        return {key: expand_variables(item, environ) for key, item in value.items()}
    if isinstance(value, list):
        return [expand_variables(item, environ) for item in value]
    return value


def expand_plan(plan: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of a mount plan with the variables in its configuration replaced.

    What names a module stays as it was judged and fetched: a variable would make another one of it.
    The texts of agents are left as they are: they are prose, and a variable in them would put
    whatever it contains into a prompt.
    """
    result = {
        key: _expand_section(key, value, environ) if key in _CONFIGURATION else value
        for key, value in plan.items()
    }
    agents = plan.get("agents")
    if isinstance(agents, dict):
        result["agents"] = {
            name: expand_plan(agent, environ) if isinstance(agent, dict) else agent
            for name, agent in agents.items()
        }
    return result


def _expand_section(name: str, value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_expand_entry(entry, environ) for entry in value]
    if name != "session" or not isinstance(value, dict):
        return _expand_entry(value, environ)
    parts = ("orchestrator", "context")
    kept = {f"{part}_source" for part in parts}
    return {
        key: _expand_entry(item, environ)
        if key in parts
        else (item if key in kept else expand_variables(item, environ))
        for key, item in value.items()
    }


def _expand_entry(entry: Any, environ: Mapping[str, str]) -> Any:
    if not isinstance(entry, dict):
        return entry  # The name of a module alone.
    return {
        key: item if key in _NAMES else expand_variables(item, environ)
        for key, item in entry.items()
    }


def without_variables(value: Any, names: Collection[str]) -> Any:
    """Return a copy of plain data with some variables replaced as if they were not set."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: match[2] or "" if match[1] in names else match[0], value)
    if isinstance(value, dict):
        return {key: without_variables(item, names) for key, item in value.items()}
    return [without_variables(item, names) for item in value] if isinstance(value, list) else value


def variables(value: Any) -> list[str]:
    """Return the variables that plain data refers to, each once."""
    if isinstance(value, str):
        return list(dict.fromkeys(match[1] for match in _VARIABLE.finditer(value)))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return list(dict.fromkeys(name for item in items for name in variables(item)))


def only_variable(text: str) -> str | None:
    """Return the variable a text consists of, or None where there is more or something else."""
    match = _VARIABLE.fullmatch(text.strip())
    return None if match is None else match[1]


def missing_variables(value: Any, environ: Mapping[str, str]) -> list[str]:
    """Return the variables in plain data that have neither value nor default, each once."""
    return list(dict.fromkeys(name for name, _ in missing_places(value, environ)))


def missing_places(
    value: Any, environ: Mapping[str, str], keys: Keys = ()
) -> Iterator[tuple[str, Keys]]:
    """Yield the same as often as they are there, each with the keys to it after `keys`."""
    if isinstance(value, str):
        for match in _VARIABLE.finditer(value):
            if match[2] is None and not environ.get(match[1]):
                yield match[1], keys
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from missing_places(item, environ, (*keys, key))
