"""What one file of a project or a stranger says, without what must not count.

Every file is looked at before it is merged with others, so that no merging hides whose a setting
is.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.secrets import (
    find_secrets,
    is_secret_name,
    is_secret_variable,
    replace_secrets,
)
from amplifier_tui.base.text import shortened
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.loading import BundleFile, read_bundle_file
from amplifier_tui.foundation.bundle.model import SECTIONS, BundleData
from amplifier_tui.foundation.bundle.parsing import absolute_source
from amplifier_tui.foundation.io import Keys
from amplifier_tui.foundation.mentions.loading import parse_mentions
from amplifier_tui.foundation.mentions.resolver import existing_mention
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.foundation.paths import enclosing_bundle_folder, is_there, is_within
from amplifier_tui.foundation.registry.includes import is_path
from amplifier_tui.foundation.settings.expand import expand_variables, variables
from amplifier_tui.foundation.settings.settings import (
    Settings,
    SettingsFileError,
    load_settings_file,
    merge_settings,
)
from amplifier_tui.foundation.trust.addresses import KNOWN_KEYS
from amplifier_tui.foundation.trust.code import CodeSource, is_remote, publisher, source_of
from amplifier_tui.foundation.trust.items import TrustGroup, make_item
from amplifier_tui.foundation.trust.owners import Owner, weakest
from amplifier_tui.foundation.trust.review import TrustReview

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
_HOOKS_OF_AGENTS: Final = ("exclude_hooks", "inherit_hooks")
_CAREFUL: Final = ("careful", "standard", "plan", "ask")
_LONGEST_PATH: Final = 4_096
_SHOWN: Final = 1_000
"""Characters of a setting that are shown; an answer is for all of them."""


def plain_id(module: Any) -> str:
    """Return a module's id as every spelling of it that loads the same module."""
    return unicodedata.normalize("NFKC", str(module)).strip().casefold().replace("_", "-")


@dataclass(frozen=True)
class Layer:
    """One file whose owner is not trusted, under review.

    Attributes:
        owner: The weakest of the file's owner and of those who chose it.
        path: The file.
        line_of: Gives the line of a path of keys.
        name: What the file is called: the bundle's name.
        uri: Where it was fetched from; empty for a file of this machine.
    """

    review: TrustReview
    owner: Owner
    path: Path
    line_of: Callable[[Keys], int | None]
    name: str = ""
    uri: str = ""

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
        hooks = result.get("hooks")
        for index, entry in enumerate(hooks if isinstance(hooks, list) else ()):
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
        for module, entry in _mapping(result.get("overrides")).items():
            if isinstance(entry, dict):
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
        return self._allowed("files", text, (*keys, text), text, "a bundle for your sessions")

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
            elif isinstance(entry, dict):
                self._entry(entry, here, entry)
            elif isinstance(entry, str):
                source = session.get(f"{part}_source")
                self._announce(entry, source, (*keys, "session", f"{part}_source"))

    def _entries(self, entries: Any, keys: Keys) -> None:
        for index, entry in enumerate(entries[:] if isinstance(entries, list) else ()):
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
        return self._allowed("power", shown, (*keys, "id"), shown, f"id: {own}")

    def _entry(self, entry: Mapping[str, Any], keys: Keys, holder: dict[str, Any]) -> None:
        """Look at a module's entry; what must not count is taken out of `holder`."""
        module = plain_id(entry.get("module") or entry.get("id") or "")
        self._announce(module, entry.get("source"), (*keys, "source"))
        names = {plain_id(entry.get(key)) for key in ("module", "id") if entry.get(key)}
        config, here = holder.get("config"), (*keys, "config")
        if not isinstance(config, dict):
            if "config" in holder and names & GUARDS:
                # Nothing in the place of what others configured.
                self._power(holder, "config", keys, str(entry.get("module") or module))
            return
        for key, value in list(config.items()):
            # All of it is looked at, whatever is refused of it: it is asked about at once.
            self._keys(config, key, here, module)
            if names & GUARDS:
                self._power(config, key, here, str(entry.get("module") or module), value)
            else:
                self._files(config, key, here, module, value)

    def _power(
        self, holder: dict[str, Any], key: Any, keys: Keys, of: str, value: Any = None
    ) -> None:
        """Drop a setting that concerns the guard, unless it may count."""
        value = holder[key] if value is None else value
        shown = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
        if not self._allowed("power", f"{of} · {key}", (*keys, key), shown, f"{key}: {shown}"):
            del holder[key]

    def _files(self, config: dict[str, Any], key: Any, keys: Keys, module: str, value: Any) -> None:
        """Drop a setting with a path that leads out of what its owner brings."""
        paths = [text for text in _texts(value) if self.leads_out(text)]
        if not paths:
            return
        shown = json.dumps(paths, ensure_ascii=False)
        title = ", ".join(paths)
        if not self._allowed("files", title, (*keys, key), shown, f"{key} of {module}"):
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
        if not self._allowed("keys", title, (*keys, key), json.dumps(names), f"{key} of {module}"):
            hidden = {name: value for name, value in environ.items() if name not in names}
            kept = {name: f"${{{name}}}" for name in hidden}
            config[key] = expand_variables(config[key], kept)

    def _announce(self, module: str, source: Any, keys: Keys) -> CodeSource | None:
        if not isinstance(source, str) or not source:
            return None
        absolute = str(absolute_source(source, self.path.parent))
        found = CodeSource(source_of(absolute), (module,), (self.name,), self._where(keys))
        self.review.announce(found, self.owner)
        return found

    def _drop_source(self, holder: dict[str, Any], key: Any, module: Any, keys: Keys) -> None:
        """Drop a setting that has a module come from elsewhere, unless that may be run."""
        source = holder.get(key)
        found = self._announce(str(module), source, (*keys, key))
        if found is not None and not self.review.allows_source(str(source), {}):
            del holder[key]

    # --- files -----------------------------------------------------------------------------

    def confine(self, bundle: BundleData) -> None:
        """Keep a bundle within what its owner brings, but for the files that may be read."""
        root = self.root
        bundle.confined_roots = bundle.confined_roots or (root,)
        granted: list[Path] = []
        for name, path in list(bundle.context.items()):
            if self.is_own(path):
                continue
            if self.file_allowed(path, f"context file of {self.name}", ("context",)):
                granted.append(path)
            else:
                del bundle.context[name]
        for mention in parse_mentions(bundle.instruction or ""):
            found = self._mentioned(mention.removeprefix("@"))
            if found is not None and self.file_allowed(found, f"{mention} in {self.name}"):
                granted.append(found)
        bundle.granted = tuple(dict.fromkeys((*bundle.granted, *granted)))

    def _mentioned(self, text: str) -> Path | None:
        """Return the file outside that a mention names, if there is one."""
        if ":" in text:
            return None  # of a namespace, which no mention leaves
        try:
            path = Path(text).expanduser()
        except RuntimeError:
            return None
        for base in (self.review.places.project, self.path.parent):
            found = existing_mention(base / path)
            if found is not None:
                return None if self.is_own(found) else found
        return None

    # --- questions -------------------------------------------------------------------------

    def file_allowed(self, path: Path, why: str, keys: Keys = ()) -> bool:
        """Whether a file outside of what the owner brings may be read."""
        if holds_users_secrets(path) or not is_there(path):
            return False
        return self._allowed("files", str(path), (*keys, str(path)), str(path), why)

    def may_read(self, why: str) -> bool:
        """Whether the file itself may be read, which somebody with less power chose."""
        owner = self.review.places.owner_of(self.path)
        return not owner.is_trusted or owner is Owner.PROGRAM or self.file_allowed(self.path, why)

    def leads_out(self, text: str) -> bool:
        """Whether a text is a path that leads out of what the owner brings."""
        if len(text) > _LONGEST_PATH or "\n" in text or "\0" in text:
            return False
        if "://" in text or text.startswith("//"):  # an address
            return False
        expanded = str(expand_variables(text, self.review.environ))
        if expanded.startswith("$") and "/" in expanded:
            return True
        path = Path(expanded)
        written = expanded.startswith(("~", "/", "\\")) or ".." in path.parts
        if expanded.startswith("~"):
            return True
        base = self.path.parent
        candidates = [base / path, self.review.places.project / path]
        if not written:
            candidates = [each for each in candidates if is_there(each)]
        return bool(candidates) and not any(map(self.is_own, candidates))

    def is_own(self, path: Path) -> bool:
        """Whether a file belongs to what the owner brings itself."""
        return is_within(path, self.root)

    @property
    def root(self) -> Path:
        """The folder that holds what the owner brings: the project, or what was fetched."""
        places = self.review.places
        if self.owner is Owner.PROJECT:
            return places.project
        folder, cache = self.path.resolve().parent, (places.home / "cache").resolve()
        if folder != cache and folder.is_relative_to(cache):
            return cache / folder.relative_to(cache).parts[0]
        return enclosing_bundle_folder(folder) or folder

    def _allowed(
        self, group: TrustGroup, title: str, keys: Keys, content: str, detail: str
    ) -> bool:
        return self.review.allows(
            make_item(
                group,
                title,
                subject=(str(self.path), *_identity(keys), title if group == "power" else ""),
                content=content,
                owner=publisher(self.uri) if self.uri else str(self.root),
                detail=shortened(replace_secrets(detail, lambda secret, kind: "…"), _SHOWN),
                where=self._where(keys),
            )
        )

    def _where(self, keys: Keys) -> str:
        line = self.line_of(keys)
        return str(self.path) if line is None else f"{self.path}:{line}"


def _identity(keys: Keys) -> tuple[str, ...]:
    """A path of keys by which a setting is known; its place in a list may change."""
    return tuple(str(key) for key in keys if not isinstance(key, int))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
            layer.confine(bundle)
    bundle.owner = owner if owner is Owner.PROGRAM else layer.owner
    return bundle


def review_agent(definition: dict[str, Any], path: Path, review: TrustReview) -> dict[str, Any]:
    """Return what counts of an agent's file."""
    owner = review.places.owner_of(path)
    if owner.is_trusted:
        return definition

    def line_of(keys: Keys) -> int | None:
        file = read_bundle_file(path)
        below = keys[:1] and keys[0] not in file.data and isinstance(file.data.get("meta"), dict)
        return file.line_of(("meta", *keys) if below else keys)

    return Layer(review, owner, path, line_of, path.stem).agent(definition)


def review_settings(settings: Settings, review: TrustReview) -> Settings:
    """Return what counts of the settings of all scopes."""
    result = Settings(settings.files, problems=settings.problems)
    for scope, data in settings.by_scope.items():
        path = settings.files.path(scope)
        owner = Owner.STRANGER if path is None else review.places.owner_of(path)
        if path is not None and not owner.is_trusted:
            line_of = partial(_line_in_settings, path)
            data = Layer(review, owner, path, line_of, path.name).settings(data)
        result.by_scope[scope] = data
        result.data = merge_settings(result.data, data)
    return result


def _line_in_settings(path: Path, keys: Keys) -> int | None:
    try:
        return load_settings_file(path).line_of(keys)
    except (OSError, SettingsFileError):
        return None
