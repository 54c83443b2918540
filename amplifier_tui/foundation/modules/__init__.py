"""Activating modules: from a source URI to something Python can import."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "activator": "ModuleActivationError ModuleActivator",
        "install_state": "InstallStateManager",
    },
)
