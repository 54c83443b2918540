"""The bundle as applications use it (spec 003, "What is a Bundle?")."""

from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle import composing, definitions, preparing
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.parsing import parse_bundle


class Bundle(BundleData):
    """A composable unit of configuration; its fields are those of `BundleData`."""

    compose = composing.compose
    prepare = preparing.prepare
    load_agent_metadata = definitions.fill_agents
    validate_modes = definitions.validate_modes

    @classmethod
    def from_dict(cls, data: dict[str, Any], base_path: Path | None = None) -> "Bundle":
        """Build a bundle from a bundle file's mapping, which is not changed, and the folder of the
        file.

        Raises:
            BundleValidationError: A section has the wrong shape.
        """
        return cls(**parse_bundle(data, base_path))
