"""What one file of a project or a stranger says, without what must not count.

Every file is looked at before it is merged with others, so that no merging hides whose a setting
is.
"""

import json
import unicodedata
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.capabilities import mcp
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.secrets import (
    find_secrets,
    is_secret_name,
    is_secret_variable,
)
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import BundleFile, read_bundle_file
from amplifier_tui.foundation.bundle.model import SECTIONS
from amplifier_tui.foundation.bundle.parsing import absolute_source
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.mentions.secrets import NO_MODEL
from amplifier_tui.foundation.paths import home_expanded, is_there
from amplifier_tui.foundation.registry.includes import is_path
from amplifier_tui.foundation.settings.expand import variables, without_variables
from amplifier_tui.foundation.settings.settings import (
    Settings,
    SettingsFileError,
    load_settings_file,
    merge_settings,
)
from amplifier_tui.foundation.trust.code import CodeSource, is_remote, source_of
from amplifier_tui.foundation.trust.confining import allowed_mentions, confine, plain_examples
from amplifier_tui.foundation.trust.file_review import FileReview
from amplifier_tui.foundation.trust.keys.addresses import KNOWN_KEYS, addresses_in
from amplifier_tui.foundation.trust.owners import Owner, weakest
from amplifier_tui.foundation.trust.review import TrustReview
from amplifier_tui.foundation.trust.servers.own import SERVER_KEYS, SERVERS_MODULE, users_servers

GUARDS: Final = frozenset(
    {
        *("hooks-approval", "hooks-redaction", "hooks-logging", "hooks-checkpoint"),
        *("tool-bash", "tool-filesystem", "tool-search", "tool-web", "tool-mcp"),
        "tool-apply-patch",
    }
)
"""Modules that guard the user, or that the user has to be guarded from: who sets them has power."""

_POWERS: Final = ("mode", "approval", "approvals", "gate", "rules", "sandbox", "permissions")
"""Settings of the guard itself."""
_LIMITS: Final = ("pricing",)
"""Settings of any module by which the user's limit of cost is counted."""
_LOADS: Final = " · what else it loads from here may change without a question"
_NOT_AUTO: Final = "mode can't be auto: choose it in the session, with /mode"
_APPROVAL: Final = "hooks-approval"
_HOOKS_OF_AGENTS: Final = ("exclude_hooks", "inherit_hooks")
_CAREFUL: Final = ("careful", "standard", "plan", "ask")


def plain_id(module: Any) -> str:
    """Return a module's id as every spelling of it that loads the same module."""
    return unicodedata.normalize("NFKC", str(module)).strip().casefold().replace("_", "-")


@dataclass(frozen=True)
class Layer(FileReview):
    """What a file says, key by key.

    Attributes:
        nulls_count: Whether null takes the place of what others said; in settings it does not.
    """

    nulls_count: bool = True

    # --- whole files -----------------------------------------------------------------------

    def bundle(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a bundle's mapping without what must not count."""
        result: dict[str, Any] = copy_plain(data)
        self._sections(result, ())
        for name, definition in _mapping(result.get("agents")).items():
            if isinstance(definition, dict):
                self.agent(definition, ("agents", str(name)))
        self._entries(_mapping(result.get("spawn")).get("tools"), ("spawn", "tools"))
        return result

    def agent(self, definition: dict[str, Any], keys: Keys = ()) -> dict[str, Any]:
        """Take what must not count out of an agent's definition, in place."""
        for entry in _listed(definition.get("hooks")):
            if plain_id(_mapping(entry).get("module")) == _APPROVAL and entry.pop("config", None):
                what = f"hooks-approval of agent {keys[-1] if keys else self.name}"
                self.leave_out("power", what, keys, "the gate of the session holds for its agents")
        self._sections(definition, keys)
        for key in _HOOKS_OF_AGENTS:
            if definition.get(key) is not None:
                self._power(definition, key, keys, f"agent {keys[-1] if keys else self.name}")
        return definition

    def chosen(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mapping of a bundle of the program that a project or stranger includes.

        Its settings are the program's; but which of its modes holds is the user's choice.
        """
        result: dict[str, Any] = copy_plain(data)
        for index, entry in enumerate(_listed(result.get("hooks"))):
            config = _mapping(_mapping(entry).get("config"))
            policy = config.get("policy")
            if policy is not None and policy not in _CAREFUL:
                self._power(config, "policy", ("hooks", index, "config"), str(entry.get("module")))
        session = _mapping(result.get("session"))
        if session.get("mode", "ask") not in _CAREFUL:
            self._power(session, "mode", ("session",), "session")
        return result

    def settings(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a scope's settings without what must not count."""
        result: dict[str, Any] = copy_plain(data)
        for key in list(result):
            if plain_id(key) in _POWERS:
                self._power(result, key, (), "settings")
        self._bundles(_mapping(result.get("bundle")))
        for section, entries in _mapping(result.get("modules")).items():
            self._entries(entries, ("modules", str(section)))
        self._entries(_mapping(result.get("config")).get("providers"), ("config", "providers"))
        overrides = _mapping(result.get("overrides"))
        for module, entry in list(overrides.items()):
            if module != plain_id(module) in GUARDS:
                why = f"no module has that name; one is {plain_id(module)}"
                self.leave_out("power", f"overrides of {module}", ("overrides", module), why)
                del overrides[module]
            elif isinstance(entry, dict):
                self._entry({**entry, "module": module}, ("overrides", str(module)), entry)
                self._drop_source(entry, "source", module, ("overrides", str(module)))
        sources = _mapping(result.get("sources"))
        chosen = _mapping(sources.get("modules"))
        for module in list(chosen):
            self._drop_source(chosen, module, module, ("sources", "modules"))
        redirects = _mapping(sources.get("bundles"))
        for part in list(redirects):
            self._power(redirects, part, ("sources", "bundles"), "include instead of")
        return result

    def _bundles(self, section: dict[str, Any]) -> None:
        """Drop bundles that are files from elsewhere, unless they may be read."""
        added = _mapping(section.get("added"))
        for name, uri in list(added.items()):
            if not self._may_name(uri, ("bundle", "added", str(name))):
                del added[name]
        listed = section.get("app")
        if isinstance(listed, list):
            section["app"] = [uri for uri in listed if self._may_name(uri, ("bundle", "app"))]

    def _may_name(self, uri: Any, keys: Keys) -> bool:
        text = str(uri)
        if is_remote(text) or (is_path(text) and not self.leads_out(text)):
            return True  # asked about as code, or its content is
        shown = text + self.ends([text])
        allowed = self.allowed("files", shown, (*keys, text), shown, "a bundle for your sessions")
        # What includes it by that name means the same file.
        place = self.path.parent / home_expanded(text)
        if is_there(place):
            self.review.named[place.resolve()] = allowed
        return allowed

    # --- their parts -----------------------------------------------------------------------

    def _sections(self, holder: dict[str, Any], keys: Keys) -> None:
        for section in SECTIONS:
            self._entries(holder.get(section), (*keys, section))
        session = _mapping(holder.get("session"))
        for part, entry in list(session.items()):
            here = (*keys, "session", part)
            if part == "mode":
                self._power(session, part, here[:-1], "session")
            elif part not in ("orchestrator", "context"):
                self._keys(session, part, here[:-1], "the session")
                if part == "examples":
                    session[part] = plain_examples(self, session[part], here)
            elif isinstance(entry, dict):
                self._entry(entry, here, entry)
            elif isinstance(entry, str):
                source = session.get(f"{part}_source")
                self._announce(entry, source, (*keys, "session", f"{part}_source"))

    def _entries(self, entries: Any, keys: Keys) -> None:
        for index, entry in enumerate(_listed(entries)[:]):
            if isinstance(entry, dict):
                self._entry(entry, (*keys, index), entry)
                if not self._keeps_guard(entry, (*keys, index)):
                    entries.remove(entry)

    def _keeps_guard(self, entry: dict[str, Any], keys: Keys) -> bool:
        """Whether an entry may take the place of a guard by bearing its name as `id`."""
        own, module = entry.get("id"), entry.get("module")
        if not own or not module or plain_id(own) == plain_id(module):
            return True
        if plain_id(own) not in GUARDS:
            return True
        shown = f"{module} in the place of {own}"
        return self.allowed("power", shown, (*keys, "id"), shown, f"id: {own}")

    def _entry(self, entry: Mapping[str, Any], keys: Keys, holder: dict[str, Any]) -> None:
        """Look at a module's entry; what must not count is taken out of `holder`."""
        module = plain_id(entry.get("module") or entry.get("id") or "")
        self._announce(module, entry.get("source"), (*keys, "source"))
        names = {plain_id(entry.get(key)) for key in ("module", "id") if entry.get(key)}
        config, here = holder.get("config"), (*keys, "config")
        if not isinstance(config, dict):
            if "config" in holder and names & GUARDS and (self.nulls_count or config is not None):
                # Nothing in the place of what others configured.
                self._power(holder, "config", keys, str(entry.get("module") or module))
            return
        for key, value in list(config.items()):
            if module == SERVERS_MODULE and key in SERVER_KEYS and isinstance(value, dict):
                self.servers(value, (*here, key))
                continue
            if (
                module in self.review.kept_home
                and not self.nulls_count
                and any(addresses_in(value, str(key)))
            ):
                del config[key]
                continue
            # All of it is looked at, whatever is refused of it: it is asked about at once.
            self._keys(config, key, here, module)
            if names & GUARDS or key in _LIMITS:
                self._power(config, key, here, str(entry.get("module") or module), value)
            else:
                self._files(config, key, here, module, value)

    def servers(self, servers: dict[str, Any], keys: Keys) -> None:
        """Drop servers that may not be used; each is one thing to ask about."""
        taken = users_servers(self.review.places.home)
        for name, entry in list(servers.items()):
            if str(name) in taken:
                why = "you have one of that name yourself, which is used"
                self.leave_out("power", f"{mcp.TITLE} {name}", (*keys, name), why)
                del servers[name]
                continue
            self._keys(servers, name, keys, SERVERS_MODULE)
            given = servers[name]
            runs = self._runs(given)
            self._power(servers, name, keys, mcp.TITLE, entry, runs)
            # Where a callback answers (`--trust`) it would say yes to what has changed, too.
            if name in servers and self.review.collects:
                changed = partial(self._is_changed, name, entry, given, keys, runs)
                self.review.changed[self.path, (*keys, str(name))] = changed

    def _runs(self, server: Any) -> str:
        """Return what is shown of the files that a server runs."""
        given = _mapping(server)
        texts = _texts([given.get("command"), given.get("args")])
        folder = home_expanded(self.expanded(str(given.get("cwd") or "")))
        runs = self.programs(texts, folder)
        runs += self.ends(texts, folder) if folder else ""
        runs += _LOADS if texts else ""
        return runs + self.ends(_texts(server))

    def _is_changed(self, name: Any, server: Any, given: Any, keys: Keys, allowed: str) -> bool:
        """Whether a server runs other files than were allowed, which would be asked about.

        Args:
            given: The server without the keys that it does not get.
        """
        runs = self._runs(given)
        if runs == allowed:
            return False
        shown = _written(server) + runs
        title, detail = f"{mcp.TITLE} · {name}", f"{name}: {shown}"
        return not self.review.was_allowed(self.item("power", title, (*keys, name), shown, detail))

    def _power(
        self,
        holder: dict[str, Any],
        key: Any,
        keys: Keys,
        of: str,
        value: Any = None,
        runs: str = "",
    ) -> None:
        """Drop a setting that concerns the guard, unless it may count; `runs` is shown as well."""
        value = holder[key] if value is None else value
        if key == "mode" and value == "auto":
            # Nobody's settings begin a session so: there is nothing to ask.
            self.leave_out("power", f"{of} · {key}", (*keys, key), _NOT_AUTO)
            del holder[key]
            return
        shown = _written(value) + (runs or self.ends(_texts(value)))
        if not self.allowed("power", f"{of} · {key}", (*keys, key), shown, f"{key}: {shown}"):
            del holder[key]

    def _files(self, config: dict[str, Any], key: Any, keys: Keys, module: str, value: Any) -> None:
        """Drop a setting with a path that leads out of what its owner brings."""
        paths = [text for text in _texts(value) if self.leads_out(text)]
        if not paths:
            return
        if any(map(self.leads_to_secrets, paths)):
            self.leave_out("files", f"{key} of {module}", (*keys, key), NO_MODEL)
            del config[key]
            return
        ends = self.ends(paths)
        shown = json.dumps(paths, ensure_ascii=False) + ends
        title = ", ".join(paths) + ends
        if not self.allowed("files", title, (*keys, key), shown, f"{key} of {module}"):
            del config[key]

    def _keys(self, config: dict[str, Any], key: Any, keys: Keys, module: str) -> None:
        """Take the user's keys out of a setting, unless they may be given."""
        environ = self.review.environ
        names = [
            name
            for name in variables(config[key])
            if environ.get(name)
            and name not in KNOWN_KEYS.get(module, ())
            and (_is_secret(name) or find_secrets(environ[name]))
        ]
        if not names:
            return
        title = f"{' and '.join(names)} into {module} · {key}"
        if not self.allowed("keys", title, (*keys, key), json.dumps(names), f"{key} of {module}"):
            config[key] = without_variables(config[key], names)

    def _announce(self, module: str, source: Any, keys: Keys) -> CodeSource | None:
        if not isinstance(source, str) or not source:
            return None
        absolute = str(absolute_source(source, self.path.parent))
        found = CodeSource(source_of(absolute), (module,), (self.name,), self.where(keys))
        self.review.announce(found, self.owner, self.path)
        return found

    def _drop_source(self, holder: dict[str, Any], key: Any, module: Any, keys: Keys) -> None:
        """Drop a setting that has a module come from elsewhere, unless that may be run."""
        source = holder.get(key)
        found = self._announce(str(module), source, (*keys, key))
        if found is not None and not self.review.allows_source(str(source), {}):
            del holder[key]


def _written(value: Any) -> str:
    """Return all of a setting, mappings with their keys in one order where they have one."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except TypeError:
        return repr(value)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_secret(name: str) -> bool:
    return is_secret_name(name) or is_secret_variable(name)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def read_layer(
    file: BundleFile, review: TrustReview, chosen_by: Owner = Owner.USER, uri: str = ""
) -> Bundle:
    """Return the bundle of a file without what must not count.

    Args:
        chosen_by: The owner of what includes it.
        uri: Where it was fetched from.
    """
    meta = file.data.get("bundle")
    name = str(meta.get("name") if isinstance(meta, dict) else "") or file.path.stem
    owner = review.places.owner_of(file.path)
    layer = Layer(review, weakest(owner, chosen_by), file.path, file.line_of, name, uri)
    if layer.owner.is_trusted:
        bundle = file.bundle()
    elif owner is Owner.PROGRAM:
        bundle = file.bundle(layer.chosen(file.data))
    else:
        bundle = file.bundle(layer.bundle(file.data))
        if not owner.is_trusted:
            confine(layer, bundle)
    bundle.owner = owner if owner is Owner.PROGRAM else layer.owner
    return bundle


def review_agent(
    definition: dict[str, Any], path: Path, review: TrustReview, granted: list[Path]
) -> dict[str, Any]:
    """Return what counts of an agent's file; `granted` gets files it mentions that may be read."""
    owner = review.places.owner_of(path)
    if owner.is_trusted:
        return definition

    def line_of(keys: Keys) -> int | None:
        file = read_bundle_file(path)
        below = keys[:1] and keys[0] not in file.data and isinstance(file.data.get("meta"), dict)
        return file.line_of(("meta", *keys) if below else keys)

    layer = Layer(review, owner, path, line_of, path.stem)
    granted += allowed_mentions(layer, definition.get("instruction"), f"agent {path.stem}")
    return layer.agent(definition)


def review_settings(settings: Settings, review: TrustReview) -> Settings:
    """Return what counts of the settings of all scopes."""
    result = Settings(settings.files, problems=settings.problems)
    for scope, data in settings.by_scope.items():
        path = settings.files.path(scope)
        owner = Owner.STRANGER if path is None else review.places.owner_of(path)
        if path is not None and not owner.is_trusted:
            line_of = partial(_line_in_settings, path)
            layer = Layer(review, owner, path, line_of, path.name, nulls_count=False)
            data = layer.settings(data)
        result.by_scope[scope] = data
        result.data = merge_settings(result.data, data)
    return result


def _line_in_settings(path: Path, keys: Keys) -> int | None:
    try:
        return load_settings_file(path).line_of(keys)
    except (OSError, SettingsFileError):
        return None
