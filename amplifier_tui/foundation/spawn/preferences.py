"""Which provider and model a spawned session gets."""

import fnmatch
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.plain import copy_plain
from amplifier_tui.base.python import awaited

_log = logging.getLogger(__name__)

_PROTECTED = {
    *("api_key", "auth", "credentials", "password", "secret", "token"),
    *("api_base", "azure_endpoint", "base_url", "endpoint", "host", "url"),
    *("ca_bundle", "cert", "proxies", "proxy", "tls", "verify", "verify_ssl"),
    *("default_headers", "headers", "organization", "project", "tenant", "tenant_id"),
}
"""Where requests go and who pays for them is the user's to say, not an agent's."""


@dataclass(frozen=True)
class ProviderPreference:
    """One wish: a model (or a glob pattern such as `claude-haiku-*`) of a provider, and
    configuration.

    The provider is a module id, with or without `provider-`, or an entry's `id`. Keys of `config`
    that decide where requests go are ignored.
    """

    provider: str
    model: str
    config: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the preference as plain data; `config` only when there is any."""
        data: dict[str, Any] = {"provider": self.provider, "model": self.model}
        if self.config:
            data["config"] = dict(self.config)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ProviderPreference":
        """Read a preference; raises `ValueError` when `provider` or `model` is missing."""
        for key in ("provider", "model"):
            if not data.get(key):
                raise ValueError(f"A provider preference needs {key!r}: {dict(data)!r}")
        return cls(str(data["provider"]), str(data["model"]), dict(data.get("config") or {}))


@dataclass(frozen=True)
class ModelResolutionResult:
    """What a model pattern resolved to; None when no model of the provider matches.

    `matched_models` are the oldest first.
    """

    resolved_model: str | None
    pattern: str
    available_models: list[str] = field(default_factory=list)
    matched_models: list[str] = field(default_factory=list)


def is_glob_pattern(text: str) -> bool:
    """Whether a model name is a pattern."""
    return any(character in text for character in "*?[")


async def resolve_model_pattern(
    pattern: str, provider: str | None, coordinator: Any
) -> ModelResolutionResult:
    """Find the newest model of a provider that matches a glob pattern; case does not matter.

    A provider without a name of its own means every mounted instance of its module.

    The newest is the last in alphabetical order. A plain name, or a pattern without a provider, is
    returned as it is. `coordinator` has the mounted providers.
    """
    if not provider or not is_glob_pattern(pattern):
        return ModelResolutionResult(pattern, pattern)
    available = await _models(provider, coordinator)
    matched = sorted(
        model for model in available if fnmatch.fnmatchcase(model.lower(), pattern.lower())
    )
    return ModelResolutionResult(matched[-1] if matched else None, pattern, available, matched)


def apply_provider_preferences(
    mount_plan: dict[str, Any], preferences: Sequence[ProviderPreference]
) -> dict[str, Any]:
    """Return a plan in which the first preference that has a provider is that provider's.

    `mount_plan` is not changed: in a copy of it the provider has priority 0 and the model. When no
    preference has a provider, it is returned as it is, with a warning in the log.
    """
    for preference in preferences:
        index = _find_provider(mount_plan, preference.provider)
        if index is not None:
            return _with_preference(mount_plan, index, preference)
    if preferences:
        wanted = ", ".join(preference.provider for preference in preferences)
        _log.warning("None of the preferred providers is in the plan: %s", wanted)
    return mount_plan


async def apply_provider_preferences_with_resolution(
    mount_plan: dict[str, Any], preferences: Sequence[ProviderPreference], coordinator: Any
) -> dict[str, Any]:
    """Do as `apply_provider_preferences`, with patterns resolved to models that exist.

    A preference whose pattern matches no model is passed over: a pattern never reaches a provider.
    """
    for preference in preferences:
        index = _find_provider(mount_plan, preference.provider)
        if index is None:
            continue
        entry = mount_plan["providers"][index]
        mounted = str(entry.get("instance_id") or entry.get("id") or entry["module"])
        result = await resolve_model_pattern(preference.model, mounted, coordinator)
        if result.resolved_model is not None:
            resolved = ProviderPreference(
                preference.provider, result.resolved_model, preference.config
            )
            return _with_preference(mount_plan, index, resolved)
        _log.warning("No model of %s matches %s", preference.provider, preference.model)
    if preferences:
        _log.warning("None of the provider preferences can be met")
    return mount_plan


def _find_provider(mount_plan: Mapping[str, Any], name: str) -> int | None:
    names = _spellings(name)
    for index, entry in enumerate(mount_plan.get("providers") or ()):
        if isinstance(entry, dict) and (
            name in (entry.get("id"), entry.get("instance_id")) or str(entry.get("module")) in names
        ):
            return index
    return None


def _with_preference(
    mount_plan: dict[str, Any], index: int, preference: ProviderPreference
) -> dict[str, Any]:
    providers = list(mount_plan["providers"])
    entry = dict(providers[index])
    config = copy_plain(entry.get("config") or {})
    config.update(
        (key, value) for key, value in preference.config.items() if not _is_protected(key)
    )
    config.update(priority=0, default_model=preference.model)
    providers[index] = {**entry, "config": config}
    return {**mount_plan, "providers": providers}


def _is_protected(key: str) -> bool:
    name = key.lower()
    return name in _PROTECTED or name.endswith(("_key", "_token", "_secret", "_url"))


async def _models(provider: str, coordinator: Any) -> list[str]:
    mounted = coordinator.get("providers") or {}
    named = [name for name in _spellings(provider) if name in mounted][:1]
    models: dict[str, None] = {}
    for name in named or _instances(provider, mounted, coordinator):
        try:
            listed = await awaited(mounted[name].list_models())
            models.update(dict.fromkeys(str(getattr(model, "id", model)) for model in listed))
        except Exception as error:  # a provider's code: whatever it raises, the next wish is tried
            _log.warning("The models of %s cannot be listed: %s", name, error)
    return list(models)


def _instances(provider: str, mounted: Mapping[str, Any], coordinator: Any) -> list[str]:
    """Return the names under which instances of a provider's module are mounted."""
    config = getattr(coordinator, "config", None)
    entries = config.get("providers") if isinstance(config, Mapping) else None
    listed = entries if isinstance(entries, list) else []
    names = (
        str(entry.get("instance_id") or entry.get("id"))
        for entry in listed
        if isinstance(entry, Mapping) and entry.get("module") in _spellings(provider)
    )
    return [name for name in names if name in mounted]


def _spellings(name: str) -> tuple[str, ...]:
    bare = name.removeprefix("provider-")
    return (name, bare, f"provider-{bare}")
