"""A file that a setting names: in the folder of the session, or beside one of its bundles."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def find_beside(wanted: str, resolver: Any, folder: Path) -> tuple[Path | None, list[Path]]:
    """Return the file, or None where it is not there, and the places it was looked for.

    Args:
        wanted: Absolute, `~`, `@namespace:path`, or relative.
        resolver: Of mentions, or None. Where it does not let a path out of a bundle's folder, the
            file is taken from `folder` all the same.
        folder: In which the session works.
    """
    path = Path(os.path.expanduser(wanted))
    if path.is_absolute():
        return (path if os.path.exists(path) else None), [path]
    name = wanted.removeprefix("@")
    known = getattr(resolver, "bundles", None)
    # The bundle that is opened comes last among those it is made of.
    names = [*reversed(list(known))] if isinstance(known, Mapping) and ":" not in name else []
    for mention in (name, *(f"{each}:{name}" for each in names)) if resolver is not None else ():
        found = resolver.resolve(f"@{mention}")
        if found is not None:
            return Path(found), []
    here = Path(os.path.normpath(folder / path))
    bases = [getattr(known[each], "base_path", None) for each in names] if known else []
    beside = [Path(os.path.normpath(base / path)) for base in bases if base is not None]
    top = folder.resolve()
    there = (each for each in beside if os.path.exists(each))
    inside = (each for each in there if each.resolve().is_relative_to(top))
    found = here if os.path.exists(here) else next(inside, None)
    return found, list(dict.fromkeys((here, *beside)))
