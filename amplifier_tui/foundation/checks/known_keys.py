"""Which keys of a bundle's or an agent's file mean nothing, though much like one that does."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from amplifier_tui.base.nearest import did_you_mean, nearest
from amplifier_tui.foundation.bundle.model import SECTIONS
from amplifier_tui.foundation.dicts import get_nested, texts_listed
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.settings.expand import variables

_SESSION: Final = (
    *("orchestrator", "context", "orchestrator_source", "context_source"),
    *("examples", "mode", "workspace", "raw", "metadata"),
)
POLICY: Final = ("inherit_tools", "exclude_tools", "inherit_hooks", "exclude_hooks")
"""What an agent, or a bundle's `spawn`, says of the modules that an agent gets."""
_BUNDLE: Final[dict[Keys, tuple[str, ...]]] = {
    (): (
        *("bundle", "includes", "session", "providers", "tools", "hooks", "agents", "context"),
        *("spawn", "meta", "mode", "model_role", "provider_preferences"),
    ),
    ("bundle",): ("name", "version", "description", "namespace_root"),
    ("session",): _SESSION,
    ("session", "workspace"): ("template",),
    ("spawn",): ("tools", *POLICY),
}
_AGENT: Final = (
    *("name", "description", "tools", "hooks", "providers", "session", "agents", "context"),
    *("provider_preferences", "model_role", "mode", "bundle", "meta", *POLICY),
)
_LISTS: Final[dict[str, tuple[Any, str]]] = {
    **dict.fromkeys(SECTIONS, (str | dict, "{module: <id>}")),
    **dict.fromkeys(POLICY, (str, "<module>")),
    "provider_preferences": (dict, "{provider: <name>, model: <name>}"),
}
"""Lists of an agent: what their items are, and how one is written."""
_ENTRY: Final = ("module", "source", "config", "id", "instance_id")
_REMARKS: Final = ("name", "description")
"""What an entry may say of itself to who reads the file; it means nothing."""
MODES: Final = ("plan", "ask", "edits")
"""In which modes a session may begin."""


def unknown_keys(data: Mapping[str, Any]) -> Iterator[tuple[Keys, str, str]]:
    """Yield, for a bundle's file, the path to a key, what is wrong with it, and the remedy.

    A key that is like no known one may be meant for somebody else, and is left alone; beside the
    `module` of an entry it is most likely one of that module's settings.
    """
    for keys, known in _BUNDLE.items():
        what = "section of a bundle" if not keys else f"key of `{'.'.join(map(str, keys))}`"
        yield from _unlike(data, keys, known, what)
    session = data.get("session")
    examples = session.get("examples") if isinstance(session, dict) else None
    if not isinstance(examples, list | None):
        found = f"'examples' is no list, but {type(examples).__name__}, and is ignored"
        remedy = "Write each example on a line of its own below `examples:`, after a `- `."
        yield ("session", "examples"), found, remedy
    includes = data.get("includes")
    for index, item in enumerate(includes) if isinstance(includes, list) else ():
        named = item.get("bundle") if isinstance(item, dict) else item
        if not isinstance(named, str) or not named.strip():
            found = f"includes[{index}] names no bundle, and is ignored"
            yield ("includes", index), found, "Write - <name or uri>."
    raw = session.get("raw") if isinstance(session, dict) else None
    if not isinstance(raw, bool | None) and not variables(raw):
        yield ("session", "raw"), f"'raw' is neither true nor false, but {raw!r}", ""
    for keys, entry in _entries_in(data):
        yield from _odd_entry(entry, keys)
    yield from _misshapen(data.get("spawn"), ("spawn",))
    agents = data.get("agents")
    names = [agents] if isinstance(agents, str) else agents if isinstance(agents, list) else []
    if named := [name for name in names if isinstance(name, str) and name not in ("all", "none")]:
        # It says to whom a bundle that runs as an agent may delegate.
        found = f"'agents' is no mapping, but {type(agents).__name__}, and brings no agents"
        yield ("agents",), found, f"Write agents: {{include: [{', '.join(named)}]}}."
    for name, value in agents.items() if isinstance(agents, dict) else ():
        if name == "include":
            continue
        if isinstance(value, dict):
            for keys in (("agents", str(name)), ("agents", str(name), "meta")):
                yield from _unlike(data, keys, _AGENT, "key of an agent")
            yield from _misshapen(value, ("agents", str(name)))
        elif value is not None:
            found = f"'{name}' is no agent, but {type(value).__name__}, and is ignored"
            hint = did_you_mean(str(name), ("include",)).removeprefix("; ").capitalize()
            remedy = hint or "An agent is a mapping, or a name in the list `include`."
            yield ("agents", str(name)), found, remedy


def unknown_agent_keys(data: Mapping[str, Any]) -> Iterator[tuple[Keys, str, str]]:
    """Do the same for an agent's file."""
    for keys, part in (((), data), (("meta",), data.get("meta"))):
        yield from _unlike(data, keys, _AGENT, "key of an agent")
        yield from _misshapen(part, keys)


def unknown_in_entry(entry: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys of a module's entry that are none, each with what is wrong."""
    for key in map(str, entry):
        if key not in (*_ENTRY, *_REMARKS):
            meant = did_you_mean(key, (each for each in _ENTRY if each not in entry))
            belongs = meant or "; settings belong below `config`"
            yield key, f"'{key}' is no key of an entry{belongs}"


def unknown_mode(session: Mapping[str, Any]) -> str:
    """Return what is wrong with the mode a session begins with; empty when it is one."""
    mode = session.get("mode")
    return "" if variables(mode) else mode_problem("session.mode", mode)


def mode_problem(setting: str, mode: Any) -> str:
    """Return what is wrong with a setting that says in which mode a session begins, or empty."""
    if mode is None or mode in MODES:
        return ""
    if mode == "auto":
        return f"{setting} can't be auto: choose it in the session, with /mode"
    said = f"{setting}: {mode!r} is none of {', '.join(MODES)}"
    return f"{said}{did_you_mean(mode, MODES)}" if isinstance(mode, str) else said


def _misshapen(data: Any, keys: Keys) -> Iterator[tuple[Keys, str, str]]:
    """Yield what of an agent, or of `spawn`, has the wrong type and so means nothing.

    The tools of an agent are looked at with the whole bundle: they mean its modules.
    """
    if not isinstance(data, Mapping):
        return
    if not isinstance(data.get("session"), dict | None):
        got = type(data["session"]).__name__
        yield (*keys, "session"), f"'session' is no mapping, but {got}, and is ignored", ""
    role = data.get("model_role")
    roles = role if isinstance(role, list) else [role]
    if role is not None and not all(isinstance(each, str) for each in roles):
        yield (*keys, "model_role"), "'model_role' is neither a name nor a list of names", ""
    for key, (kinds, form) in _LISTS.items():
        if key == "tools" and keys != ("spawn",):
            continue
        value, here = data.get(key), (*keys, key)
        if key in POLICY:
            if isinstance(value, str) and len(names := value.replace(",", " ").split()) > 1:
                found = f"'{key}' is no list, but str: all of it counts as one name"
                yield here, found, f"Write {key}: [{', '.join(names)}]."
            value = texts_listed(value)
        if not isinstance(value, list | None):
            found = f"'{key}' is no list, but {type(value).__name__}, and is ignored"
            yield here, found, f"Write {key}: [{form}]."
        for index, item in enumerate(value) if isinstance(value, list) else ():
            if not isinstance(item, kinds):
                found = f"'{key}' has {type(item).__name__} in it, which is ignored"
                yield (*here, index), found, f"Write {key}: [{form}]."
    for here, entry in _entries_in(data):
        yield from _odd_entry(entry, (*keys, *here))
        for key, problem in unknown_in_entry(entry):
            yield (*keys, *here, key), f"{entry.get('module')}: {problem}", ""
        if not isinstance(entry.get("config"), dict | None):
            got = type(entry["config"]).__name__
            found = f"'config' of {entry.get('module')} is no mapping, but {got}"
            yield (*keys, *here, "config"), found, "Write {<setting>: <value>}."
    wishes = data.get("provider_preferences")
    for index, wish in enumerate(wishes) if isinstance(wishes, list) else ():
        if isinstance(wish, dict) and not (wish.get("provider") and wish.get("model")):
            found = f"provider_preferences[{index}] needs a provider and a model"
            yield (*keys, "provider_preferences", index), found, ""


def _entries_in(data: Mapping[str, Any]) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield the module entries of a bundle, an agent or `spawn`, each with the path to it."""
    session = data.get("session")
    session = session if isinstance(session, dict) else {}
    for part in ("orchestrator", "context"):
        if isinstance(entry := session.get(part), dict):
            yield ("session", part), entry
    for section in SECTIONS:
        entries = data.get(section)
        for index, entry in enumerate(entries) if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield (section, index), entry


def _odd_entry(entry: Mapping[str, Any], keys: Keys) -> Iterator[tuple[Keys, str, str]]:
    for key in ("module", "source", "id", "instance_id"):
        value = entry.get(key)
        # A number may name an instance.
        if not isinstance(value, str | None) and not (isinstance(value, int) and "id" in key):
            found = f"'{key}' of an entry must be a text, not {type(value).__name__}"
            yield (
                (*keys, key),
                found,
                "Write a path or uri." if key == "source" else "Write a name.",
            )


def _unlike(
    data: Mapping[str, Any], keys: Keys, known: tuple[str, ...], what: str
) -> Iterator[tuple[Keys, str, str]]:
    section = get_nested(dict(data), [str(key) for key in keys]) if keys else data
    for key in section if isinstance(section, Mapping) else ():
        near = nearest(str(key), known)
        if key == "model" and known is _AGENT:
            wanted = section[key] if isinstance(section[key], str) else "<name>"
            found = "'model' is not a key of an agent and is ignored"
            form = f'[{{provider: <name>, model: "*{wanted}*"}}]'
            yield (*keys, key), found, f"Write provider_preferences: {form}, or model_role."
        elif near and key not in known:
            found = f"'{key}' is not a {what} and is ignored"
            yield (*keys, str(key)), found, f"Did you mean '{near}'?"
