"""Where the modules are that third parties import under a path of the published packages.

A module that is not listed is at the same path below `ALIASES`.
"""

from typing import Final

MOVED: Final = {
    "amplifier_core._collect_helper": "amplifier_tui.kernel.mounting.callbacks",
    "amplifier_core._session_exec": "amplifier_tui.kernel.session",
    "amplifier_core._session_init": "amplifier_tui.kernel.session",
    "amplifier_core.approval": "amplifier_tui.kernel.hooks.frontend",
    "amplifier_core.content_models": "amplifier_tui.kernel.models.content",
    "amplifier_core.discovery": "amplifier_tui.kernel.mounting.discovery",
    "amplifier_core.display": "amplifier_tui.kernel.hooks.frontend",
    "amplifier_core.module_sources": "amplifier_tui.kernel.mounting.sources",
    "amplifier_core.utils.continuation": "amplifier_tui.kernel.utils.llm_calls",
    "amplifier_core.utils.http_errors": "amplifier_tui.kernel.utils.retry",
    "amplifier_core.utils.pricing": "amplifier_tui.kernel.utils.llm_calls",
    "amplifier_core.validation.behavioral": "amplifier_tui.kernel.validation.suites",
    "amplifier_core.validation.callables": "amplifier_tui.kernel.mounting.callbacks",
    "amplifier_core.validation.context": "amplifier_tui.kernel.validation.kinds",
    "amplifier_core.validation.details": "amplifier_tui.kernel.validation.base",
    "amplifier_core.validation.dispatch": "amplifier_tui.kernel.validation.kinds",
    "amplifier_core.validation.hook": "amplifier_tui.kernel.validation.kinds",
    "amplifier_core.validation.importing": "amplifier_tui.kernel.mounting.packages.importing",
    "amplifier_core.validation.module_shape": "amplifier_tui.kernel.validation.base",
    "amplifier_core.validation.orchestrator": "amplifier_tui.kernel.validation.kinds",
    "amplifier_core.validation.proto_schema": "amplifier_tui.kernel.validation.base",
    "amplifier_core.validation.provider": "amplifier_tui.kernel.validation.kinds",
    "amplifier_core.validation.structural": "amplifier_tui.kernel.validation.suites",
    "amplifier_core.validation.tool": "amplifier_tui.kernel.validation.kinds",
    "amplifier_foundation.addresses": "amplifier_tui.foundation.trust.keys.addresses",
    "amplifier_foundation.bundle.model": "amplifier_tui.foundation.bundle.bundle",
    "amplifier_foundation.bundle.compose": "amplifier_tui.foundation.bundle.composing",
    "amplifier_foundation.bundle.agents": "amplifier_tui.foundation.bundle.definitions",
    "amplifier_foundation.bundle.modes": "amplifier_tui.foundation.bundle.definitions",
    "amplifier_foundation.mentions.context_block": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.bundle.module_resolver": "amplifier_tui.foundation.modules.resolver",
    "amplifier_foundation.bundle.opening": "amplifier_tui.foundation.bundle.session",
    "amplifier_foundation.bundle.provenance": (
        "amplifier_tui.foundation.bundle.composing amplifier_tui.foundation.bundle.model"
    ),
    "amplifier_foundation.bundle.spawning": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.bundle_files": "amplifier_tui.foundation.checks.bundle_file",
    "amplifier_foundation.bundle_findings": "amplifier_tui.foundation.checks.findings",
    "amplifier_foundation.cache.disk": "amplifier_tui.foundation.cache",
    "amplifier_foundation.cache.protocol": "amplifier_tui.foundation.protocols",
    "amplifier_foundation.cache.simple": "amplifier_tui.foundation.cache",
    "amplifier_foundation.checking": "amplifier_tui.foundation.checks.bundle_file",
    "amplifier_foundation.costs": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.dicts.merge": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.dicts.navigation": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.dicts.nested": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.discovery": (
        "amplifier_tui.foundation.paths amplifier_tui.foundation.catalog"
    ),
    "amplifier_foundation.io.files": "amplifier_tui.foundation.io",
    "amplifier_foundation.io.frontmatter": "amplifier_tui.foundation.io",
    "amplifier_foundation.io.yaml": "amplifier_tui.foundation.io",
    "amplifier_foundation.key_guard": "amplifier_tui.foundation.trust.keys.key_guard",
    "amplifier_foundation.lockfile": "amplifier_tui.foundation.sources.lockfile",
    "amplifier_foundation.mentions.deduplicator": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.loader": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.models": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.parser": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.protocol": "amplifier_tui.foundation.protocols",
    "amplifier_foundation.mentions.utils": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.paths.construction": "amplifier_tui.foundation.paths",
    "amplifier_foundation.paths.discovery": "amplifier_tui.foundation.paths",
    "amplifier_foundation.paths.resolution": "amplifier_tui.foundation.paths",
    "amplifier_foundation.preview": "amplifier_tui.foundation.checks.preview",
    "amplifier_foundation.preview_modules": "amplifier_tui.foundation.checks.preview_modules",
    "amplifier_foundation.provider_keys": "amplifier_tui.foundation.trust.keys.addresses",
    "amplifier_foundation.refreshing": "amplifier_tui.foundation.updates",
    "amplifier_foundation.registry.in_progress": "amplifier_tui.foundation.registry.loader",
    "amplifier_foundation.registry.store": "amplifier_tui.foundation.registry.state",
    "amplifier_foundation.registry.updating": "amplifier_tui.foundation.registry.registry",
    "amplifier_foundation.serialization": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.session_events": "amplifier_tui.foundation.bundle.session",
    "amplifier_foundation.settings.edit": "amplifier_tui.foundation.settings.writing",
    "amplifier_foundation.settings.merging": "amplifier_tui.foundation.settings.settings",
    "amplifier_foundation.settings.scopes": "amplifier_tui.foundation.settings.settings",
    "amplifier_foundation.settings.secrets": "amplifier_tui.foundation.settings.keys",
    "amplifier_foundation.sources.archive": "amplifier_tui.foundation.sources.zip",
    "amplifier_foundation.sources.file": "amplifier_tui.foundation.sources.local",
    "amplifier_foundation.sources.file_hash": "amplifier_tui.foundation.sources.http",
    "amplifier_foundation.sources.package": "amplifier_tui.foundation.sources.local",
    "amplifier_foundation.sources.protocol": (
        "amplifier_tui.foundation.protocols amplifier_tui.foundation.paths"
    ),
    "amplifier_foundation.sources.status": "amplifier_tui.foundation.protocols",
    "amplifier_foundation.spawn.records": "amplifier_tui.foundation.spawn.capability",
    "amplifier_foundation.spawn_utils": "amplifier_tui.foundation.spawn.preferences",
    "amplifier_foundation.tracing": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.validator": "amplifier_tui.foundation.checks.validator",
    "amplifier_foundation.working_dir": "amplifier_tui.foundation.bundle.session",
} | {
    f"amplifier_core.validation.{suites}.test_{kind}": "amplifier_tui.kernel.validation.suites"
    for suites in ("behavioral", "structural")
    for kind in ("context", "hook", "orchestrator", "provider", "tool")
}
"""Modules by their published path; where several share its names, with a blank between."""
