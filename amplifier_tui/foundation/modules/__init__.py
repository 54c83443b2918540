"""Activating modules: from a source URI to something Python can import."""

from amplifier_tui.foundation.modules.activator import ModuleActivationError, ModuleActivator
from amplifier_tui.foundation.modules.install_state import InstallStateManager

__all__ = ["InstallStateManager", "ModuleActivationError", "ModuleActivator"]
