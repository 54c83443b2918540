"""Where the modules are that third parties import under a path of the published packages.

A module that is not listed is at the same path below `ALIASES`.
"""

from typing import Final

MOVED: Final = {
    "amplifier_foundation.addresses": "amplifier_tui.foundation.trust.addresses",
    "amplifier_foundation.bundle.model": "amplifier_tui.foundation.bundle.bundle",
    "amplifier_foundation.bundle.module_resolver": "amplifier_tui.foundation.bundle.prepared",
    "amplifier_foundation.bundle.opening": "amplifier_tui.foundation.bundle.session",
    "amplifier_foundation.bundle.provenance": (
        "amplifier_tui.foundation.bundle.compose amplifier_tui.foundation.bundle.model"
    ),
    "amplifier_foundation.bundle.spawning": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.bundle_files": "amplifier_tui.foundation.checks.bundle_file",
    "amplifier_foundation.bundle_findings": "amplifier_tui.foundation.checks.findings",
    "amplifier_foundation.checking": "amplifier_tui.foundation.checks.bundle_file",
    "amplifier_foundation.costs": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.dicts.merge": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.dicts.nested": "amplifier_tui.foundation.dicts",
    "amplifier_foundation.io.files": "amplifier_tui.foundation.io",
    "amplifier_foundation.io.frontmatter": "amplifier_tui.foundation.io",
    "amplifier_foundation.io.yaml": "amplifier_tui.foundation.io",
    "amplifier_foundation.key_guard": "amplifier_tui.foundation.trust.key_guard",
    "amplifier_foundation.lockfile": "amplifier_tui.foundation.sources.lockfile",
    "amplifier_foundation.mentions.deduplicator": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.loader": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.models": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.mentions.parser": "amplifier_tui.foundation.mentions.loading",
    "amplifier_foundation.modules.install_state": "amplifier_tui.foundation.modules.installer",
    "amplifier_foundation.paths.construction": "amplifier_tui.foundation.paths",
    "amplifier_foundation.paths.discovery": "amplifier_tui.foundation.paths",
    "amplifier_foundation.paths.resolution": "amplifier_tui.foundation.paths",
    "amplifier_foundation.preview": "amplifier_tui.foundation.checks.preview",
    "amplifier_foundation.preview_modules": "amplifier_tui.foundation.checks.preview_modules",
    "amplifier_foundation.provider_keys": "amplifier_tui.foundation.trust.addresses",
    "amplifier_foundation.refreshing": "amplifier_tui.foundation.updates",
    "amplifier_foundation.registry.in_progress": "amplifier_tui.foundation.registry.loader",
    "amplifier_foundation.registry.store": "amplifier_tui.foundation.registry.state",
    "amplifier_foundation.registry.updating": "amplifier_tui.foundation.registry.registry",
    "amplifier_foundation.serialization": "amplifier_tui.foundation.cache",
    "amplifier_foundation.session_events": "amplifier_tui.foundation.bundle.session",
    "amplifier_foundation.settings.edit": "amplifier_tui.foundation.settings.writing",
    "amplifier_foundation.settings.merging": "amplifier_tui.foundation.settings.settings",
    "amplifier_foundation.settings.scopes": "amplifier_tui.foundation.settings.settings",
    "amplifier_foundation.settings.secrets": "amplifier_tui.foundation.settings.keys",
    "amplifier_foundation.sources.archive": "amplifier_tui.foundation.sources.zip",
    "amplifier_foundation.sources.file": "amplifier_tui.foundation.sources.local",
    "amplifier_foundation.sources.file_hash": "amplifier_tui.foundation.sources.http",
    "amplifier_foundation.sources.package": "amplifier_tui.foundation.sources.local",
    "amplifier_foundation.sources.status": "amplifier_tui.foundation.protocols",
    "amplifier_foundation.spawn.records": "amplifier_tui.foundation.spawn.capability",
    "amplifier_foundation.spawn_utils": "amplifier_tui.foundation.spawn.preferences",
    "amplifier_foundation.tracing": "amplifier_tui.foundation.spawn.child",
    "amplifier_foundation.validator": "amplifier_tui.foundation.checks.validator",
    "amplifier_foundation.working_dir": "amplifier_tui.foundation.bundle.session",
}
"""Modules by their published path; the a blank between several whose names it has."""
