"""Named bundles: where they are, what they include, whether there is something newer."""

from amplifier_tui.foundation.registry.registry import BundleRegistry, load_bundle
from amplifier_tui.foundation.registry.state import BundleState, UpdateInfo

__all__ = ["BundleRegistry", "BundleState", "UpdateInfo", "load_bundle"]
