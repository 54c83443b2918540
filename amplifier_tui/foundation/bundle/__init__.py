"""Bundles: the data, how it composes, and what runs it."""

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
    from amplifier_tui.foundation.bundle.provenance import Origin as Origin
    from amplifier_tui.foundation.bundle.provenance import SkippedInclude as SkippedInclude

_HOMES = {
    "Bundle": "model",
    "BundleModuleResolver": "module_resolver",
    "BundleModuleSource": "module_resolver",
    "Origin": "provenance",
    "PreparedBundle": "prepared",
    "SkippedInclude": "provenance",
}

__all__ = [
    "Bundle",
    "BundleModuleResolver",
    "BundleModuleSource",
    "Origin",
    "PreparedBundle",
    "SkippedInclude",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
