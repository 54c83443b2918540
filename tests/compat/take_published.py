"""Take names and signatures of a published package, as `published_core.json` has them.

    unzip amplifier_core-*.whl -d FOLDER
    PYTHONPATH=FOLDER python tests/compat/take_published.py amplifier_core 2.0.2 > NEW.json

The same functions take them from this program's packages, so that both can be compared.
"""

import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

RULES = ("field_validators", "model_validators", "field_serializers", "model_serializers")


def surface(package: str) -> dict[str, dict[str, Any]]:
    """Return what each public module of a package offers by name, with signatures."""
    return {name: offered(importlib.import_module(name)) for name in sorted(_modules(package))}


def offered(module: ModuleType) -> dict[str, Any]:
    """Return the public names of a module: `__all__`, else what is defined in it."""
    listed = getattr(module, "__all__", None)
    names = [
        name
        for name in listed or vars(module)
        if listed or (not name.startswith("_") and _belongs(vars(module)[name], module))
    ]
    return {name: described(getattr(module, name)) for name in sorted(names)}


def described(value: Any) -> Any:
    """Return a function's parameters, a class's by method (`()` for the call), else None."""
    if inspect.isclass(value):
        members = {
            name: _parameters(getattr(value, name), is_method=_gets_self(value, name))
            for name in sorted(dir(value))
            if not name.startswith("_") and _is_own(value, name)
        }
        members = {name: None if name[:5] == "test_" else it for name, it in members.items()}
        return {"()": _parameters(value), **members}
    # What pytest calls gets its arguments by name, whichever they are.
    if (
        type(value).__module__ == "_pytest.fixtures"
        or getattr(value, "__name__", "")[:7] == "pytest_"
    ):
        return None
    return _parameters(value) if inspect.isroutine(value) else None


def _modules(package: str) -> Iterator[str]:
    found = importlib.import_module(package)
    yield package
    for info in pkgutil.walk_packages(found.__path__, f"{package}."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield info.name


def _belongs(value: Any, module: ModuleType) -> bool:
    if inspect.ismodule(value):
        return False
    home = getattr(value, "__module__", None)
    if isinstance(value, bool):
        return False
    return isinstance(value, str | int | list | tuple | frozenset | set) or home == module.__name__


def _is_own(owner: type, name: str) -> bool:
    """Whether a class got a member from its own package, and not from what it is built on.

    What only pydantic calls does not count.
    """
    decorated = getattr(owner, "__pydantic_decorators__", None)
    if name == "model_post_init" or any(name in getattr(decorated, each, ()) for each in RULES):
        return False
    for base in owner.__mro__:
        if name in vars(base):
            return base.__module__.startswith(("amplifier_", "builtins"))
    return False


def _gets_self(owner: type, name: str) -> bool:
    return not isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod)


def _parameters(value: Any, *, is_method: bool = False) -> str | None:
    """Return parameters as in a `def`, with `name=` for one that has a default."""
    fields = getattr(value, "model_fields", None)
    if fields is not None:
        # By field: the signature has the aliases.
        named = (f"{name}{'' if field.is_required() else '='}" for name, field in fields.items())
        return ", ".join(("*", *named))
    try:
        given = [*inspect.signature(value).parameters.values()][is_method:]
    except (TypeError, ValueError):
        return None
    found, star = [], False
    for parameter in given:
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            found.append("*")
        star = star or parameter.kind in (parameter.VAR_POSITIONAL, parameter.KEYWORD_ONLY)
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else "="
        found.append(f"{mark}{parameter.name}{default}")
    return ", ".join(found)


if __name__ == "__main__":
    package, version = sys.argv[1:]
    data = {"package": package, "version": version, "modules": surface(package)}
    json.dump(data, sys.stdout, indent=1)
    sys.stdout.write("\n")
