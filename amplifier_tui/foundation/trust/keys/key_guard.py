"""No API key of the user goes to a server that only a bundle names.

Providers look for their key in the environment themselves, and a bundle may refer to any variable
as `${VAR}`. So an untrusted bundle could have a key sent wherever its `base_url` points. A
key goes without a question to

* the vendor of the provider, over https,
* an address from the user's own settings (global or of the session) or environment,
* whatever an entry says to which only the program's own bundles, those in the user's Amplifier home
  and the user's own settings have contributed.

For any other address the trust callback is asked (`connect`), for one of this machine too: another
user may listen there, or a proxy lead out. A provider that gets no key of the user's still gets all
that is said, as does a context manager that keeps it elsewhere: their addresses are asked about as
well, unless they are of this machine. Without consent the module is left out of the mount plan.
Settings in a project are not the user's own: they come with it.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.entries import ModuleEntry, entries_of
from amplifier_tui.foundation.bundle.model import (
    SECTIONS,
    BundleData,
    ModuleKind,
    is_settings_origin,
)
from amplifier_tui.foundation.dicts import module_key
from amplifier_tui.foundation.settings.expand import expand_variables, only_variable, variables
from amplifier_tui.foundation.settings.settings import Scope, Settings
from amplifier_tui.foundation.trust.gate import TrustGate, TrustRequest
from amplifier_tui.foundation.trust.keys.addresses import (
    KNOWN_KEYS,
    addresses_in,
    is_this_machine,
    is_vendor,
    origin_of,
)
from amplifier_tui.foundation.trust.owners import Owner, Ownership
from amplifier_tui.foundation.trust.refusing import RefusedModule, remove_entry
from amplifier_tui.foundation.trust.review import WHEN_ASKED

_OWN_SCOPES = (Scope.GLOBAL, Scope.SESSION)
_HEARING: tuple[ModuleKind, ...] = ("provider", "context")
"""Modules that get all that is said and read, whoever pays for it."""
_SECRET = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_ADDRESS_VARIABLE = re.compile(r"(?i)(?:^|_)(?:URL|URI|HOST|ENDPOINT|BASE)$")


@dataclass(frozen=True, slots=True)
class KeyDestination:
    """A server that would get a key or the conversation, and that is not trusted yet.

    Attributes:
        instance: The entry's own `id`, if it has one.
        agent: The agent whose module it is; empty for the session's own.
        url: Scheme and host of the server; of several all.
        keys: Variables with the keys; empty where a provider would get what is said without one.
        included_by: The bundles that contributed to the entry.
        project: The project's folder, where it contributed to the entry: its bundles and settings
            have names that others have as well.
        by_settings: Whether the project's settings contributed to it.
    """

    module_id: str
    kind: ModuleKind
    instance: str
    agent: str
    url: str
    keys: tuple[str, ...]
    included_by: tuple[str, ...]
    project: Path | None = None
    by_settings: bool = False

    @property
    def sends(self) -> str:
        """What it would get."""
        return " and ".join(self.keys) or "this conversation"

    def request(self) -> TrustRequest:
        """Return the question about it."""
        return TrustRequest(
            "connect",
            self.url,
            subject=self.module_id,
            included_by=self.included_by,
            detail=f"{self.sends} would be sent to {self.url}",
            project=self.project,
        )


class KeyGuard:
    """Looks where the keys of an effective bundle's modules would go.

    Variables in the bundle are not expanded yet; `environ` has the keys.
    """

    def __init__(
        self,
        bundle: BundleData,
        settings: Settings,
        environ: Mapping[str, str],
        places: Ownership,
    ) -> None:
        self._bundle = bundle
        self._settings = settings
        self._environ = environ
        self._masked = {
            name: "redacted" if _SECRET.search(name) else value for name, value in environ.items()
        }
        self._places = places

    def destinations(self) -> list[KeyDestination]:
        """Return every server that would get a key and must be asked about."""
        return [found for found in map(self._destination, entries_of(self._bundle)) if found]

    async def apply(self, plan: dict[str, Any], gate: TrustGate) -> list[RefusedModule]:
        """Ask about every server, and take out of the bundle's mount plan what may not have its
        key.

        The plan is changed in place.
        """
        refused: list[RefusedModule] = []
        for entry in list(entries_of(self._bundle)):
            destination = self._destination(entry)
            if destination is None or await gate.allows(destination.request()):
                continue
            remove_entry(plan, entry)
            refused.append(_refusal(entry, self._bundle, destination))
        return refused

    def _destination(self, found: ModuleEntry) -> KeyDestination | None:
        entry, module = found.data, found.module
        config = entry.get("config")
        if not isinstance(config, Mapping):
            return None
        keys = self._keys(found, module, config)
        owners = self._owners(found)
        trusted = bool(owners) and all(owner.is_trusted for owner in owners)
        if trusted or not (keys or found.kind in _HEARING):
            return None
        own = self._own_addresses(module, module_key(entry))
        servers: dict[str, None] = {}
        for raw in addresses_in(config):
            address = _expanded(raw, self._environ)
            if not address or self._is_own_variable(raw) or origin_of(address) in own:
                continue
            if not is_vendor(module, address) and (keys or not is_this_machine(address)):
                # Not a key itself, should the address contain one.
                servers[origin_of(_expanded(raw, self._masked))] = None
        if not servers:
            return None
        return KeyDestination(
            module_id=module,
            kind=found.kind,
            instance=str(entry.get("id") or ""),
            agent=found.agent,
            url=" and ".join(servers),
            keys=keys,
            included_by=self._bundle.contributors(found.origin),
            project=self._places.project.resolve() if Owner.PROJECT in owners else None,
            by_settings=any(
                is_settings_origin(each) and each.owner is Owner.PROJECT
                for each in self._bundle.origins.get(found.origin, ())
            ),
        )

    def _keys(self, found: ModuleEntry, module: str, config: Mapping[str, Any]) -> tuple[str, ...]:
        """The user's keys that the module would have: those it refers to, and its usual one."""
        names = [name for name in variables(config) if _SECRET.search(name)]
        if found.kind == "provider" and not self._has_own_key(found, config):
            names += KNOWN_KEYS.get(module, ())
        present = dict.fromkeys(name for name in names if self._environ.get(name))
        if found.kind == "provider" and not present and self._sets_key(module):
            return (f"the key in your settings for {module}",)
        return tuple(present)

    def _has_own_key(self, found: ModuleEntry, config: Mapping[str, Any]) -> bool:
        """Whether the bundle brings a key itself, so that the user's is not used."""
        key = config.get("api_key")
        written = isinstance(key, str) and bool(key.strip()) and not variables(key)
        # An agent's entry is laid over the session's, which may have more than this one shows.
        return written and not found.agent and not self._sets_key(found.module)

    def _sets_key(self, module: str) -> bool:
        scopes = self._settings.by_scope
        configs = (config for scope in scopes for config in self._configs(scope, module, module))
        return any(_SECRET.search(str(name)) for config in configs for name in config)

    def _own_addresses(self, module: str, key: str) -> set[str]:
        configs = (each for scope in _OWN_SCOPES for each in self._configs(scope, module, key))
        found = (raw for config in configs for raw in addresses_in(config))
        addresses = {origin_of(_expanded(raw, self._environ)) for raw in found}
        return addresses - {""}

    def _configs(self, scope: Scope, module: str, key: str) -> Iterator[Mapping[str, Any]]:
        settings = self._settings
        for path in ("config.providers", *(f"modules.{section}" for section in SECTIONS)):
            for entry in settings.entries(scope, path):
                config = entry.get("config")
                if module_key(entry) in (module, key) and isinstance(config, Mapping):
                    yield config
        override = (settings.by_scope.get(scope, {}).get("overrides") or {}).get(module) or {}
        if isinstance(override.get("config"), Mapping):
            yield override["config"]

    def _is_own_variable(self, raw: str) -> bool:
        name = only_variable(raw) or ""
        return bool(self._environ.get(name) and _ADDRESS_VARIABLE.search(name))

    def _owners(self, found: ModuleEntry) -> list[Owner]:
        """Return the owners of the files that contributed to an entry."""
        files = [each.path for each in self._bundle.origins.get(found.origin, [])]
        if found.agent:
            # Another bundle's file may have taken the place of the one that was meant.
            own = self._bundle.resolve_agent_path(found.agent)
            files += [own] if own is not None else []
        return [Owner.STRANGER if file is None else self._places.owner_of(file) for file in files]


def _expanded(address: str, environ: Mapping[str, str]) -> str:
    return str(expand_variables(address, environ)).strip()


def _refusal(entry: ModuleEntry, bundle: BundleData, destination: KeyDestination) -> RefusedModule:
    by = " and ".join(destination.included_by)
    reason = (
        f"{destination.sends} would be sent to {destination.url}, which {by} names "
        "and you have not allowed"
    )
    remedy = (
        f"{WHEN_ASKED}, or make the address your own: put it under "
        f"`overrides.{destination.module_id}.config` in your global settings.yaml."
    )
    return RefusedModule.of(entry, bundle, reason, remedy)
