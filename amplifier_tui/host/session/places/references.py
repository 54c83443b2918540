"""How a session's bundle is named on its card."""

from pathlib import Path

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.paths import redact_uri
from amplifier_tui.foundation.registry.includes import namespace_of


def uri_of(reference: str, bundle: BundleData) -> str:
    """Return a bundle's name or URI, as the Amplifier CLI finds it; it knows no path or include."""
    if Path(reference).is_absolute():
        # Unquoted, as it takes such URIs apart.
        return f"file://{reference}"
    return redact_uri((namespace_of(reference) and bundle._source_uri) or reference)
