"""Why an agent is left out or not called, and what its own lists of modules name and is none."""

from collections.abc import Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from amplifier_tui.base.nearest import nearest
from amplifier_tui.foundation.bundle.definitions import read_agent_file
from amplifier_tui.foundation.bundle.entries import entries_of
from amplifier_tui.foundation.bundle.loading import read_bundle_file
from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData
from amplifier_tui.foundation.checks.bundle_file import Problem, place_of, problem_of
from amplifier_tui.foundation.checks.module_settings import is_built_in
from amplifier_tui.foundation.checks.preview_modules import installed_modules, not_installed
from amplifier_tui.foundation.dicts import get_nested, module_key
from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.report import ReportItem

_DELEGATING: Final = frozenset({"tool-task", "tool-delegate"})


def uncalled_agents(bundle: BundleData) -> Iterator[Problem]:
    """Yield why agents are not called, though nothing is wrong with them.

    Any module of others may call agents, so where a bundle has one, nothing is said of that.
    """
    for name, agent in bundle.agents.items():
        described = isinstance(agent, dict) and agent.get("description")
        if not described and not why_left_out(bundle, name):
            path, line = place_in_agent(bundle, name, ("description",))
            message = f"The agent '{name}' has no description, by which the model chooses agents"
            remedy = "Say in `description` what it is for."
            yield Problem(message, "warning", path, line, remedy)
    modules = [each for each in entries_of(bundle) if not each.agent and each.section != "spawn"]
    others = (each.data.get("source") or not is_built_in(each.module) for each in modules)
    if not bundle.agents or any(others) or _DELEGATING & {each.module for each in modules}:
        return
    first, *more = bundle.agents
    which = f"'{first}' and {len(more)} more" if more else f"'{first}'"
    path, line = place_of(bundle, f"agent:{first}", "agents", first)
    message = f"No tool of the bundle calls its agents: {which}"
    remedy = "Add `tool-task` to its tools. As a part of another bundle it may need none."
    yield Problem(message, "warning", path, line, remedy)


def leave_out_unreadable(bundle: BundleData, plan: dict[str, Any]) -> list[ReportItem]:
    """Take the agents of which nobody knows what they may out of a bundle's mount plan, and say so.

    With all of the session's tools they would do what their authors did not mean. Blocking.
    """
    found = [
        (name, problem)
        for name in bundle.agents
        if name in plan.get("agents", {}) and (problem := why_left_out(bundle, name))
    ]
    if found:
        lost = {name for name, _ in found}
        plan["agents"] = {key: each for key, each in plan["agents"].items() if key not in lost}
    return [
        ReportItem(
            what=name,
            kind="failed",
            part="agent",
            why=problem.message,
            remedy=problem.remedy,
            asked_by=bundle.contributors(f"agent:{name}")[-1],
            where="" if problem.path is None else f"{problem.path}:{problem.line or 1}",
        )
        for name, problem in found
    ]


def why_left_out(bundle: BundleData, name: str) -> Problem | None:
    """Return why an agent is left out: its file is not there, or it or its `tools` can't be read.

    An agent that a bundle defines itself needs no file.
    """
    agent, file = bundle.agents[name], bundle.resolve_agent_path(name)
    if file is not None and (problem := _unreadable_file(bundle, name, file)):
        return problem
    if isinstance(agent, dict) and not agent.keys() - {"name"}:
        namespace, _, short = name.rpartition(":")
        remedy = f"Write agents/{short}.md next to the bundle."
        if namespace and bundle.folder_of(namespace) is None:
            remedy = f"Include the bundle '{namespace}', or take the agent out."
        place = place_of(bundle, f"agent:{name}", "agents", name)
        message = f"The agent '{name}' has no file and is left out"
        return Problem(message, "warning", *place, remedy)
    return _unreadable_tools(bundle, name)


def _unreadable_file(bundle: BundleData, name: str, path: Path) -> Problem | None:
    try:
        read_agent_file(path, name)
        return None
    except (OSError, ValueError, yaml.YAMLError) as error:
        said = str(error).removeprefix(f"{path}: ")
    try:
        read_bundle_file(path)
    except BundleError as error:  # It knows the line.
        problem = problem_of(error)
    else:  # The one value that is checked is whom it may call.
        problem = Problem(said, "error", *place_in_agent(bundle, name, ("agents",)))
    return replace(problem, message=f"{problem.message}; the agent is left out")


def _unreadable_tools(bundle: BundleData, name: str) -> Problem | None:
    """Return what is wrong with the `tools` of an agent, where nobody knows which are meant.

    Whoever writes `tool-...` means a module, be it there or not; names of tools say nothing here.
    """
    agent = bundle.agents[name]
    tools = agent.get("tools") if isinstance(agent, dict) else None
    if tools in (None, ""):
        return None
    known = _known(bundle)
    listed = tools if isinstance(tools, list) else []
    odd = [(index, each) for index, each in enumerate(listed) if not _is_module(each, known)]
    if isinstance(tools, list) and not odd:
        return None
    if not isinstance(tools, list):
        what, index = f"'tools' is no list, but {type(tools).__name__}", None
    elif texts := [_name(each) for _, each in odd if _name(each)]:
        verb = "is no module" if len(texts) == 1 else "are no modules"
        what, index = f"'tools': {', '.join(map(repr, texts))} {verb}", odd[0][0]
    else:
        what, index = f"'tools' has {type(odd[0][1]).__name__} in it", odd[0][0]
    near = (meant_module(_name(each), known, "tool-") for _, each in odd if _name(each))
    modules = list(dict.fromkeys(filter(None, near)))
    modules = modules or sorted(str(each.get("module")) for each in bundle.tools)[:3]
    given = ", ".join(modules) or "tool-..."
    remedy = f"Name modules: inherit_tools: [{given}] gives it only these of the session."
    path, line = place_in_agent(bundle, name, ("tools",) if index is None else ("tools", index))
    return Problem(f"{what}; the agent is left out", "error", path, line, remedy)


def missing_in_agent(bundle: BundleData, name: str) -> Iterator[Problem]:
    """Yield the modules of an agent's own that have no source and are nowhere installed."""
    agent = bundle.agents[name]
    known = _known(bundle)
    for section in SECTIONS if isinstance(agent, dict) else ():
        entries = agent.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            module = _name(entry)
            told = section == "tools" and not _is_module(entry, known)
            if not module or told or known & {module, module_key(entry)}:
                continue
            if problem := not_installed(module, installed_modules(), known):
                place = place_in_agent(bundle, name, (section, index))
                remedy = f"Until it is, the agent '{name}' goes without it."
                yield Problem(f"{module}: {problem}", "warning", *place, remedy)


def meant_module(name: str, known: Set[str], prefix: str) -> str | None:
    """Return the module that is meant by a name without its prefix, such as `bash`."""
    for each in (prefix + name.lower(), prefix + name.lower().replace("_", "-")):
        if each in known:
            return each
    return nearest(name, known)


def place_in_agent(bundle: BundleData, name: str, keys: Keys) -> tuple[Any, int | None]:
    """Return the file and line of a key of an agent, below `meta` or not."""
    path = bundle.resolve_agent_path(name)
    try:
        file = None if path is None else read_bundle_file(path)
    except BundleError:
        return path, None
    if file is None:
        return place_of(bundle, f"agent:{name}", "agents", name, keys)
    at_top = get_nested(file.data, (str(keys[0]),)) not in (None, "")
    return path, file.line_of(keys if at_top else ("meta", *keys))


def _name(entry: Any) -> str:
    """Return the module that an entry names and has no source for, or empty."""
    if not isinstance(entry, dict) or entry.get("source"):
        return ""
    name = entry.get("module")
    return name if isinstance(name, str) else ""


def _is_module(entry: Any, known: Set[str]) -> bool:
    if not isinstance(entry, dict):
        return False
    name = _name(entry)
    if not name or name.startswith("tool-") or known & {name, module_key(entry)}:
        return any(entry.get(key) for key in ("module", "id", "source"))
    return not not_installed(name, set(known))


def _known(bundle: BundleData) -> set[str]:
    """Return the modules that an agent may name without a source."""
    found = installed_modules()
    for each in entries_of(bundle):
        if not each.agent or each.data.get("source"):
            found |= {str(each.data[key]) for key in ("module", "id") if each.data.get(key)}
    return found
