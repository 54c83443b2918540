"""Bundles: the data, how it composes, and what runs it."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bundle": "Bundle",
        "model": "Origin SkippedInclude",
        "prepared": "PreparedBundle",
        ".modules.resolver": "BundleModuleResolver BundleModuleSource",
    },
)
