"""The bundle as applications use it (spec 003, "What is a Bundle?")."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.agents import fill_agents
from amplifier_tui.foundation.bundle.compose import compose
from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.bundle.modes import validate_modes
from amplifier_tui.foundation.bundle.parsing import parse_bundle
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.preparing import prepare
from amplifier_tui.foundation.protocols import ProgressCallback
from amplifier_tui.foundation.sources.context import FetchContext
from amplifier_tui.foundation.trust.gate import TrustCallback


class Bundle(BundleData):
    """A composable unit of configuration that produces a mount plan.

    Its fields are those of `BundleData`.
    """

    @classmethod
    def from_dict(cls, data: dict[str, Any], base_path: Path | None = None) -> "Bundle":
        """Build a bundle from the mapping of a bundle file.

        Args:
            data: The frontmatter or YAML document; not changed.
            base_path: Folder of the file; relative sources and context files start there.

        Raises:
            BundleValidationError: A section has the wrong shape.
        """
        return cls(**parse_bundle(data, base_path))

    def compose(self, *others: "Bundle") -> "Bundle":
        """Return a new bundle with `others` layered over this one, later overriding earlier."""
        return compose(self, others)

    async def prepare(
        self,
        install_deps: bool = True,
        source_resolver: Callable[[str, str], str] | None = None,
        progress_callback: ProgressCallback | None = None,
        strict: bool = False,
        *,
        trust: TrustCallback | None = None,
        fetch: FetchContext | None = None,
    ) -> PreparedBundle:
        """Activate every module that has a source, so that sessions can be created.

        Args:
            install_deps: Install the modules' packages and what they need.
            source_resolver: Gets module id and source, returns the source to use.
            progress_callback: Gets an action and a detail as work goes on.
            strict: Raise when a module cannot be activated, instead of reporting it in
                `PreparedBundle.activation_failures`.
            trust: Asked before anything is fetched, installed or executed; the default allows
                only what ships with the program.
            fetch: How sources are fetched; replaces `trust` and `progress_callback` for fetching.

        Raises:
            ModuleActivationError: In strict mode, naming every module that failed.
        """
        return await prepare(
            self,
            install_deps=install_deps,
            source_resolver=source_resolver,
            progress=progress_callback,
            strict=strict,
            trust=trust,
            fetch=fetch,
        )

    def load_agent_metadata(self) -> None:
        """Fill missing parts of the agents' definitions from their files; failures are logged."""
        fill_agents(self)

    def validate_modes(self) -> list[str]:
        """Check the files in `modes/`; every warning is logged and returned."""
        return validate_modes(self)
