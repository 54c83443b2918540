"""Named bundles: where they are, what they include, whether there is something newer."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "registry": "BundleRegistry load_bundle",
        "state": "BundleState UpdateInfo",
    },
)
