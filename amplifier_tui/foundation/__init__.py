"""Bundles to mount plans. Public API as `amplifier_foundation`.

Names are imported when they are first used, so that importing this package costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.model import Bundle as Bundle
    from amplifier_tui.foundation.bundle.module_resolver import (
        BundleModuleResolver as BundleModuleResolver,
    )
    from amplifier_tui.foundation.bundle.module_resolver import (
        BundleModuleSource as BundleModuleSource,
    )
    from amplifier_tui.foundation.bundle.prepared import PreparedBundle as PreparedBundle
    from amplifier_tui.foundation.cache import DiskCache as DiskCache
    from amplifier_tui.foundation.cache import SimpleCache as SimpleCache
    from amplifier_tui.foundation.costs import bridge_child_cost as bridge_child_cost
    from amplifier_tui.foundation.costs import sum_cost_usd as sum_cost_usd
    from amplifier_tui.foundation.dicts.merge import deep_merge as deep_merge
    from amplifier_tui.foundation.dicts.merge import merge_module_lists as merge_module_lists
    from amplifier_tui.foundation.dicts.nested import get_nested as get_nested
    from amplifier_tui.foundation.dicts.nested import set_nested as set_nested
    from amplifier_tui.foundation.exceptions import BundleDependencyError as BundleDependencyError
    from amplifier_tui.foundation.exceptions import BundleError as BundleError
    from amplifier_tui.foundation.exceptions import BundleLoadError as BundleLoadError
    from amplifier_tui.foundation.exceptions import BundleNotFoundError as BundleNotFoundError
    from amplifier_tui.foundation.exceptions import BundleValidationError as BundleValidationError
    from amplifier_tui.foundation.io.files import read_with_retry as read_with_retry
    from amplifier_tui.foundation.io.files import write_with_backup as write_with_backup
    from amplifier_tui.foundation.io.files import write_with_retry as write_with_retry
    from amplifier_tui.foundation.io.frontmatter import parse_frontmatter as parse_frontmatter
    from amplifier_tui.foundation.io.yaml import read_yaml as read_yaml
    from amplifier_tui.foundation.io.yaml import write_yaml as write_yaml
    from amplifier_tui.foundation.mentions.context_block import (
        expand_mentions_in_instruction as expand_mentions_in_instruction,
    )
    from amplifier_tui.foundation.mentions.deduplicator import (
        ContentDeduplicator as ContentDeduplicator,
    )
    from amplifier_tui.foundation.mentions.loader import load_mentions as load_mentions
    from amplifier_tui.foundation.mentions.models import ContextFile as ContextFile
    from amplifier_tui.foundation.mentions.models import MentionResult as MentionResult
    from amplifier_tui.foundation.mentions.parser import parse_mentions as parse_mentions
    from amplifier_tui.foundation.mentions.resolver import (
        BaseMentionResolver as BaseMentionResolver,
    )
    from amplifier_tui.foundation.paths.construction import (
        construct_agent_path as construct_agent_path,
    )
    from amplifier_tui.foundation.paths.construction import (
        construct_context_path as construct_context_path,
    )
    from amplifier_tui.foundation.paths.discovery import find_bundle_root as find_bundle_root
    from amplifier_tui.foundation.paths.discovery import find_files as find_files
    from amplifier_tui.foundation.paths.resolution import ParsedURI as ParsedURI
    from amplifier_tui.foundation.paths.resolution import normalize_path as normalize_path
    from amplifier_tui.foundation.paths.resolution import parse_uri as parse_uri
    from amplifier_tui.foundation.protocols import CacheProviderProtocol as CacheProviderProtocol
    from amplifier_tui.foundation.protocols import (
        MentionResolverProtocol as MentionResolverProtocol,
    )
    from amplifier_tui.foundation.protocols import SourceHandlerProtocol as SourceHandlerProtocol
    from amplifier_tui.foundation.protocols import (
        SourceHandlerWithStatusProtocol as SourceHandlerWithStatusProtocol,
    )
    from amplifier_tui.foundation.protocols import SourceResolverProtocol as SourceResolverProtocol
    from amplifier_tui.foundation.registry.registry import BundleRegistry as BundleRegistry
    from amplifier_tui.foundation.registry.registry import load_bundle as load_bundle
    from amplifier_tui.foundation.registry.state import BundleState as BundleState
    from amplifier_tui.foundation.registry.state import UpdateInfo as UpdateInfo
    from amplifier_tui.foundation.serialization import sanitize_for_json as sanitize_for_json
    from amplifier_tui.foundation.serialization import sanitize_message as sanitize_message
    from amplifier_tui.foundation.session_events import (
        inject_additional_events as inject_additional_events,
    )
    from amplifier_tui.foundation.sources.resolver import (
        SimpleSourceResolver as SimpleSourceResolver,
    )
    from amplifier_tui.foundation.sources.status import SourceStatus as SourceStatus
    from amplifier_tui.foundation.spawn_utils import ModelResolutionResult as ModelResolutionResult
    from amplifier_tui.foundation.spawn_utils import ProviderPreference as ProviderPreference
    from amplifier_tui.foundation.spawn_utils import (
        apply_provider_preferences as apply_provider_preferences,
    )
    from amplifier_tui.foundation.spawn_utils import (
        apply_provider_preferences_with_resolution as apply_provider_preferences_with_resolution,
    )
    from amplifier_tui.foundation.spawn_utils import is_glob_pattern as is_glob_pattern
    from amplifier_tui.foundation.spawn_utils import resolve_model_pattern as resolve_model_pattern
    from amplifier_tui.foundation.tracing import generate_sub_session_id as generate_sub_session_id
    from amplifier_tui.foundation.updates import BundleStatus as BundleStatus
    from amplifier_tui.foundation.updates import check_bundle_status as check_bundle_status
    from amplifier_tui.foundation.updates import update_bundle as update_bundle
    from amplifier_tui.foundation.validator import BundleValidator as BundleValidator
    from amplifier_tui.foundation.validator import ValidationResult as ValidationResult
    from amplifier_tui.foundation.validator import validate_bundle as validate_bundle
    from amplifier_tui.foundation.validator import (
        validate_bundle_or_raise as validate_bundle_or_raise,
    )
    from amplifier_tui.foundation.working_dir import (
        WORKING_DIR_CAPABILITY as WORKING_DIR_CAPABILITY,
    )
    from amplifier_tui.foundation.working_dir import get_working_dir as get_working_dir
    from amplifier_tui.foundation.working_dir import set_working_dir as set_working_dir

_HOMES = {
    "BaseMentionResolver": "mentions.resolver",
    "Bundle": "bundle.model",
    "BundleDependencyError": "exceptions",
    "BundleError": "exceptions",
    "BundleLoadError": "exceptions",
    "BundleModuleResolver": "bundle.module_resolver",
    "BundleModuleSource": "bundle.module_resolver",
    "BundleNotFoundError": "exceptions",
    "BundleRegistry": "registry.registry",
    "BundleState": "registry.state",
    "BundleStatus": "updates",
    "BundleValidationError": "exceptions",
    "BundleValidator": "validator",
    "CacheProviderProtocol": "protocols",
    "ContentDeduplicator": "mentions.deduplicator",
    "ContextFile": "mentions.models",
    "DiskCache": "cache",
    "MentionResolverProtocol": "protocols",
    "MentionResult": "mentions.models",
    "ModelResolutionResult": "spawn_utils",
    "ParsedURI": "paths.resolution",
    "PreparedBundle": "bundle.prepared",
    "ProviderPreference": "spawn_utils",
    "SimpleCache": "cache",
    "SimpleSourceResolver": "sources.resolver",
    "SourceHandlerProtocol": "protocols",
    "SourceHandlerWithStatusProtocol": "protocols",
    "SourceResolverProtocol": "protocols",
    "SourceStatus": "sources.status",
    "UpdateInfo": "registry.state",
    "ValidationResult": "validator",
    "WORKING_DIR_CAPABILITY": "working_dir",
    "apply_provider_preferences": "spawn_utils",
    "apply_provider_preferences_with_resolution": "spawn_utils",
    "bridge_child_cost": "costs",
    "check_bundle_status": "updates",
    "construct_agent_path": "paths.construction",
    "construct_context_path": "paths.construction",
    "deep_merge": "dicts.merge",
    "expand_mentions_in_instruction": "mentions.context_block",
    "find_bundle_root": "paths.discovery",
    "find_files": "paths.discovery",
    "generate_sub_session_id": "tracing",
    "get_nested": "dicts.nested",
    "get_working_dir": "working_dir",
    "inject_additional_events": "session_events",
    "is_glob_pattern": "spawn_utils",
    "load_bundle": "registry.registry",
    "load_mentions": "mentions.loader",
    "merge_module_lists": "dicts.merge",
    "normalize_path": "paths.resolution",
    "parse_frontmatter": "io.frontmatter",
    "parse_mentions": "mentions.parser",
    "parse_uri": "paths.resolution",
    "read_with_retry": "io.files",
    "read_yaml": "io.yaml",
    "resolve_model_pattern": "spawn_utils",
    "sanitize_for_json": "serialization",
    "sanitize_message": "serialization",
    "set_nested": "dicts.nested",
    "set_working_dir": "working_dir",
    "sum_cost_usd": "costs",
    "update_bundle": "updates",
    "validate_bundle": "validator",
    "validate_bundle_or_raise": "validator",
    "write_with_backup": "io.files",
    "write_with_retry": "io.files",
    "write_yaml": "io.yaml",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
