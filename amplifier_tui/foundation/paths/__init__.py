"""URIs, paths and where bundles are found."""

from amplifier_tui.foundation.paths.construction import construct_agent_path, construct_context_path
from amplifier_tui.foundation.paths.discovery import find_bundle_root, find_files
from amplifier_tui.foundation.paths.resolution import (
    ParsedURI,
    ResolvedSource,
    get_amplifier_home,
    normalize_path,
    parse_uri,
)

__all__ = [
    "ParsedURI",
    "ResolvedSource",
    "construct_agent_path",
    "construct_context_path",
    "find_bundle_root",
    "find_files",
    "get_amplifier_home",
    "normalize_path",
    "parse_uri",
]
