"""What a bundle's files say that does not count, though whoever wrote it meant something.

`bundle validate` tells it, and every opening, of the files of the user and the project: nobody can
correct a stranger's.
"""

import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.nearest import nearest
from amplifier_tui.foundation.bundle.loading import BundleFile, read_bundle_file
from amplifier_tui.foundation.bundle.model import BundleData, Origin, is_settings_origin
from amplifier_tui.foundation.checks.agent_modules import (
    meant_module,
    missing_in_agent,
    place_in_agent,
)
from amplifier_tui.foundation.checks.bundle_file import (
    Problem,
    check_bundle_file,
    ignored_keys,
    place_of,
)
from amplifier_tui.foundation.checks.known_keys import POLICY, unknown_agent_keys
from amplifier_tui.foundation.checks.module_settings import settings_problems
from amplifier_tui.foundation.checks.validator import lacks_for_a_session
from amplifier_tui.foundation.dicts import module_entries, texts_listed
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.trust.owners import Owner

_OWN: Final = (Owner.USER, Owner.PROJECT)
_MOST: Final = 3
_GIVE_IT: Final = "Write them below session, or include a bundle that has them, such as minimal."
_PREFIXES: Final = {"tools": "tool-", "hooks": "hooks-"}


def ignored_of(bundle: BundleData) -> Iterator[Problem]:
    """Yield what of a bundle, its settings applied, does not count; reads its files."""
    for path in _own_files(bundle):
        yield from ignored_keys(path, named=path == bundle.source_file)
    for name in bundle.agents:
        if _is_own(bundle.origins.get(f"agent:{name}", ())):
            yield from ignored_in_agent(bundle, name)
    yield from unknown_in_spawn(bundle, own=True)
    yield from settings_problems(bundle)


def ignored_in_agent(bundle: BundleData, name: str) -> Iterator[Problem]:
    """Yield what an agent says that does not count; of a file that can't be read, nothing."""
    yield from _unused_name(bundle, name)
    if (file := _agent_file(bundle, name)) is not None:
        for keys, message, remedy in unknown_agent_keys(file.data):
            yield Problem(message, "warning", file.path, file.line_of(keys), remedy)
    yield from _unknown_names(bundle, name)


def _unused_name(bundle: BundleData, name: str) -> Iterator[Problem]:
    """Yield the name that an agent gives itself, where the bundle lists it by another.

    In a list its namespace and the path of its file may stand before it.
    """
    file, agent = _agent_file(bundle, name), bundle.agents[name]
    parts = [agent] if file is None else [file.data, file.data.get("meta")]
    names = (part.get("name") for part in parts if isinstance(part, dict))
    said = next((str(each) for each in names if each not in (None, "")), name)
    listed = name.removeprefix("@").removesuffix(".md")
    short = re.split("[:/]", listed)[-1]
    if said in (name, listed, short):
        return
    message = f"The name '{said}' does not count: the model knows the agent as '{name}'"
    other = f"list it as {listed.removesuffix(short)}{said}"
    other = other if file is None else f"call the file {said}.md and {other}"
    remedy = f"Write name: {short}, or {other}."
    yield Problem(message, "warning", *place_in_agent(bundle, name, ("name",)), remedy)


def _agent_file(bundle: BundleData, name: str) -> BundleFile | None:
    path = bundle.resolve_agent_path(name)
    try:
        return None if path is None else read_bundle_file(path)
    except BundleError:
        return None


def _unknown_names(bundle: BundleData, name: str) -> Iterator[Problem]:
    """Yield what an agent would leave to another, inherit or mount, and is not there.

    A name that is like no known one may be meant for another bundle, and is left alone where it
    could be a module's.
    """
    agent = bundle.agents[name]
    for key, values in agent.items() if isinstance(agent, dict) else ():
        section = "agents" if key == "agents" else key.partition("_")[2]
        if key in POLICY and isinstance(values, str) and len(values.replace(",", " ").split()) > 1:
            continue  # It is told of as what it is: no list.
        values = texts_listed(values) if key in POLICY else values
        if key not in (*POLICY, "agents") or not isinstance(values, list):
            continue
        known = bundle.agents.keys() if key == "agents" else _modules(bundle, agent, section)
        for value, remedy in _misspelled(values, set(known), _PREFIXES.get(section, "")):
            message = f"{key} of the agent '{name}': there is no '{value}'"
            yield Problem(message, "warning", *place_in_agent(bundle, name, (key,)), remedy)
    yield from missing_in_agent(bundle, name)


def unknown_in_spawn(bundle: BundleData, *, own: bool = False) -> Iterator[Problem]:
    """Yield what a bundle's `spawn` keeps from every agent, and is in none of them.

    With `own` only what files of the user and the project say.
    """
    agents = [{}, *(each for each in bundle.agents.values() if isinstance(each, dict))]
    for key in POLICY:
        values, section = bundle.spawn.get(key), key.partition("_")[2]
        strange = own and not _is_own(bundle.origins.get(f"spawn:{key}", ()))
        if strange or not isinstance(values, list):
            continue
        known = set().union(*(_modules(bundle, agent, section) for agent in agents))
        for value, remedy in _misspelled(values, known, _PREFIXES[section]):
            message = f"spawn.{key}: there is no '{value}'"
            place = place_of(bundle, f"spawn:{key}", "spawn", key)
            yield Problem(message, "warning", *place, remedy)


def _misspelled(names: Iterable[Any], known: Set[str], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the names that are none of the known ones, each with a remedy.

    One that is like no known one is told only where it can be no module's, without the `prefix`.
    """
    for name in (each for each in names if isinstance(each, str)):
        if name in known:
            continue
        bare = bool(prefix) and not name.startswith(prefix)
        near = (meant_module(name, known, prefix) if bare else None) or _nearest(name, known)
        if near is not None:
            yield name, f"Did you mean '{near}'?"
        elif bare:
            yield name, f"Name modules, as {', '.join(sorted(known)[:_MOST]) or prefix + '...'}."


def _modules(bundle: BundleData, agent: dict[str, Any], section: str) -> set[str]:
    """Return the names by which modules of a section are inherited or left out."""
    every = (getattr(bundle, section), agent.get(section), bundle.spawn.get(section))
    entries = [entry for entries in every for entry in module_entries(entries)]
    return {str(entry[key]) for entry in entries for key in ("module", "id") if entry.get(key)}


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that is meant; what `tool-` and the like begin with makes none alike."""
    start, dash, _ = name.partition("-")
    same = {
        each.removeprefix(start + dash): each for each in known if each.startswith(start + dash)
    }
    near = nearest(name.removeprefix(start + dash), same) if dash else nearest(name, known)
    return same.get(near, near) if near is not None else None


def why_no_session(bundle: BundleData) -> str:
    """Return why no session can be opened with a composed bundle; empty when one can.

    What is wrong with its own file may be why: it is said as well, or else what helps.
    """
    lacking = lacks_for_a_session(bundle)
    if not lacking or bundle.source_file is None:
        return lacking
    found = [
        f"{each.message}{f' (line {each.line})' if each.line else ''}. {each.remedy}".rstrip()
        for each in check_bundle_file(bundle.source_file)[:_MOST]
    ]
    if not found and not bundle.skipped:
        found = [_GIVE_IT]
    return " ".join([f"{lacking.rstrip('.')}.", *found]) if found else lacking


def _own_files(bundle: BundleData) -> Iterator[Path]:
    by_path: dict[Path, list[Origin]] = {}
    if bundle.source_file is not None:
        by_path[bundle.source_file] = []
    for origins in bundle.origins.values():
        for each in origins:
            if each.path is not None and not is_settings_origin(each):
                by_path.setdefault(each.path, []).append(each)
    yield from (path for path, origins in by_path.items() if _is_own(origins))


def _is_own(origins: Iterable[Origin]) -> bool:
    return all(each.owner in _OWN for each in origins)
