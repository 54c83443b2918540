"""What a child session inherits of its parent's plan; pure functions."""

from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.foundation.bundle.model import SECTIONS
from amplifier_tui.foundation.dicts import deep_merge, module_entries, module_key, texts_listed

_OWN = ("session", *SECTIONS)


def child_plan(
    parent: Mapping[str, Any],
    agent: Mapping[str, Any] | None,
    *,
    agents: Mapping[str, Any] | None = None,
    tool_inheritance: Mapping[str, Any] | None = None,
    hook_inheritance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the mount plan of a child: tools and hooks the agent declares itself are always in it.

    Args:
        parent: The parent's plan; not changed.
        agent: The agent's definition; None for a child that is the parent again (`self`). Its
            own `inherit_tools`, `exclude_tools`, `inherit_hooks` and `exclude_hooks` hold for
            every call.
        agents: Further agents the child may know of, beside those in the plan.
        tool_inheritance: `exclude_tools` or `inherit_tools` of this call.
        hook_inheritance: `exclude_hooks` or `inherit_hooks` of this call.
    """
    plan: dict[str, Any] = copy_plain(dict(parent))
    _apply_policy(plan)
    _filter(plan, "tools", tool_inheritance)
    _filter(plan, "hooks", hook_inheritance)
    if agent is not None:
        _filter(plan, "tools", agent)
        _filter(plan, "hooks", agent)
        plan = overlay(plan, {key: agent[key] for key in _OWN if agent.get(key)})
    allowed = None if agent is None else agent.get("agents")
    known = {**copy_plain(dict(plan.get("agents") or {})), **copy_plain(dict(agents or {}))}
    plan["agents"] = _allowed_agents(known, allowed)
    return plan


def module_lists(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the module lists of a plan."""
    lists: dict[str, Any] = copy_plain({section: plan.get(section) for section in SECTIONS})
    return lists


def follow_parent(
    plan: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a child's plan after its parent's modules changed.

    A module the child has just as the parent had it is as the parent has it now, or gone; all
    others stay, and none is added.

    Args:
        before: The parent's module lists when the child's plan was made.
        now: The parent's plan as it is now.
    """
    result = dict(plan)
    for section in SECTIONS:
        old, new = (
            {module_key(entry): entry for entry in module_entries(each.get(section))}
            for each in (before, now)
        )
        kept = []
        for entry in module_entries(plan.get(section)):
            key = module_key(entry)
            if entry != old.get(key):
                kept.append(entry)
            elif key in new:
                kept.append(copy_plain(new[key]))
        result[section] = kept
    return result


def overlay(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Lay an agent's configuration over a plan.

    Module lists merge by id or module, mappings merge deeply; other lists and values are replaced.
    """
    result = _over(base, {key: value for key, value in top.items() if key not in SECTIONS})
    for section in SECTIONS:
        if section in top:
            old = base.get(section)
            result[section] = _overlay_modules(old if isinstance(old, list) else [], top[section])
    return result


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = dict(base)
    for key, value in top.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _over(old, value)
        else:
            result[key] = copy_plain(value)
    return result


def _overlay_modules(base: list[Any], top: Any) -> list[dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {module_key(entry): entry for entry in module_entries(base)}
    for entry in module_entries(top):
        key = module_key(entry)
        merged[key] = _over(merged.get(key, {}), entry)
    merged.pop("", None)
    return list(merged.values())


def _apply_policy(plan: dict[str, Any]) -> None:
    """Apply the plan's own `spawn`: `tools` replaces the list, else `exclude_tools` shortens it."""
    policy = plan.get("spawn")
    if not isinstance(policy, dict):
        return
    if isinstance(policy.get("tools"), list):
        present = {module_key(entry): entry for entry in module_entries(plan.get("tools"))}
        plan["tools"] = [
            deep_merge(present.get(module_key(entry)), entry)
            for entry in module_entries(policy["tools"])
        ]
    elif isinstance(exclude := texts_listed(policy.get("exclude_tools")), list):
        _remove(plan, "tools", exclude)


def _filter(plan: dict[str, Any], section: str, rule: Mapping[str, Any] | None) -> None:
    if not rule:
        return
    inherit, exclude = (
        texts_listed(rule.get(f"{key}_{section}")) for key in ("inherit", "exclude")
    )
    if isinstance(inherit, list):
        kept = [entry for entry in module_entries(plan.get(section)) if _named(entry, inherit)]
        plan[section] = kept
    elif isinstance(exclude, list):
        _remove(plan, section, exclude)


def _remove(plan: dict[str, Any], section: str, names: Iterable[Any]) -> None:
    listed = list(names)
    plan[section] = [
        entry for entry in module_entries(plan.get(section)) if not _named(entry, listed)
    ]


def _named(entry: Mapping[str, Any], names: Iterable[Any]) -> bool:
    return any(name in (entry.get("module"), entry.get("id")) for name in names if name)


def _allowed_agents(known: dict[str, Any], allowed: Any) -> dict[str, Any]:
    if allowed == "none":
        return {}
    if isinstance(allowed, list):
        return {name: definition for name, definition in known.items() if name in allowed}
    return known
