"""Which shapes the settings we read must have; anything else in the files is left alone."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A setting with the wrong shape.

    Attributes:
        keys: Path to it.
        message: What is wrong.
    """

    keys: Keys
    message: str


def without_wrong(data: dict[str, Any]) -> tuple[dict[str, Any], list[Wrong]]:
    """Return settings without what has the wrong shape, and what that was.

    Args:
        data: One file's content; the mappings on the way to a wrong value are changed.
    """
    wrong = list(_check(data))
    # Of several entries of one list the last goes first, so that the indexes stay true.
    for entry in sorted(wrong, key=lambda entry: [*map(_order, entry.keys)], reverse=True):
        _remove(data, entry.keys)
    return data, wrong


def _check(data: dict[str, Any]) -> Iterator[Wrong]:
    bundle = yield from _mapping(data, ("bundle",))
    yield from _typed(bundle, ("bundle", "active"), str)
    yield from _texts_by_name(bundle, ("bundle", "added"))
    yield from _list_of(bundle, ("bundle", "app"), str)
    config = yield from _mapping(data, ("config",))
    yield from _module_list(config, ("config", "providers"))
    modules = yield from _mapping(data, ("modules",))
    for section in modules:
        yield from _module_list(modules, ("modules", str(section)))
    overrides = yield from _mapping(data, ("overrides",))
    for module, override in overrides.items():
        keys = ("overrides", str(module))
        if override is None:
            continue
        if not isinstance(override, dict):
            yield _expected("mapping", override, keys)
            continue
        yield from _typed(override, (*keys, "source"), str)
        yield from _typed(override, (*keys, "config"), dict)
    sources = yield from _mapping(data, ("sources",))
    yield from _texts_by_name(sources, ("sources", "modules"))
    yield from _texts_by_name(sources, ("sources", "bundles"))
    yield from _typed(data, ("routing",), dict)


def _mapping(parent: dict[str, Any], keys: Keys) -> Generator[Wrong, None, dict[str, Any]]:
    value = parent.get(str(keys[-1]))
    if value is not None and not isinstance(value, dict):
        yield _expected("mapping", value, keys)
    return value if isinstance(value, dict) else {}


def _typed(parent: dict[str, Any], keys: Keys, kind: type) -> Iterator[Wrong]:
    value = parent.get(str(keys[-1]))
    if value is not None and not isinstance(value, kind):
        yield _expected("mapping" if kind is dict else "text", value, keys)


def _texts_by_name(parent: dict[str, Any], keys: Keys) -> Iterator[Wrong]:
    mapping = yield from _mapping(parent, keys)
    for name, value in mapping.items():
        if value is not None and not isinstance(value, str):
            yield _expected("text", value, (*keys, str(name)))


def _list_of(parent: dict[str, Any], keys: Keys, kind: type) -> Iterator[Wrong]:
    value = parent.get(str(keys[-1]))
    if value is not None and not isinstance(value, list):
        yield _expected("list", value, keys)
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(item, kind):
            yield _expected("text" if kind is str else "mapping", item, (*keys, index))


def _module_list(parent: dict[str, Any], keys: Keys) -> Iterator[Wrong]:
    yield from _list_of(parent, keys, dict)
    value = parent.get(str(keys[-1]))
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, dict):
            continue
        here = (*keys, index)
        if not isinstance(entry.get("module"), str):
            yield Wrong(here, "an entry needs a 'module' with the module's id")
        elif not isinstance(entry.get("config"), dict | None):
            yield _expected("mapping", entry["config"], (*here, "config"))


def _expected(kind: str, value: Any, keys: Keys) -> Wrong:
    name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
    return Wrong(keys, f"'{name}' must be a {kind}, not {type(value).__name__}")


def _order(key: str | int) -> tuple[int, str]:
    return (key, "") if isinstance(key, int) else (0, key)


def _remove(data: Any, keys: Keys) -> None:
    for key in keys[:-1]:
        data = data[key]
    del data[keys[-1]]
