"""Whose a name of the registry is: what a project's folder has is no name of the user's."""

from collections.abc import Collection, Mapping
from pathlib import Path

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.paths import parse_uri
from amplifier_tui.foundation.registry.state import BundleState
from amplifier_tui.foundation.trust.owners import Owner, Ownership

_FOLDER = ".amplifier"


@dataclass(frozen=True)
class Whose:
    """Tells the user's names from those that a project or a stranger brings.

    Attributes:
        places: Whose files are.
        taken: Names of shipped bundles and of those in the user's home.
        added: Sources by names that the user gave them.
    """

    places: Ownership
    taken: Collection[str]
    added: Mapping[str, str]

    def is_brought(self, path: Path) -> bool:
        """Whether a file lies in this project, or in what another one has for this program."""
        if self.places.owner_of(path) is Owner.PROJECT:
            return True
        home = self.places.home.resolve()
        return any(
            _FOLDER in each.parts and not each.is_relative_to(home)
            for each in (path.absolute(), path.resolve())
        )

    def may_take(self, name: str, path: Path) -> bool:
        """Whether the bundle in a file may have a name in the registry."""
        if self.is_brought(path):
            return False
        free = name not in self.taken and name not in self.added
        return free or self.places.owner_of(path).is_trusted

    def is_kept(self, state: BundleState) -> bool:
        """Whether an entry that was written before is followed."""
        name = state.name
        if name in self.added:
            return state.uri == self.added[name]
        parsed = parse_uri(state.uri)
        texts = (parsed.path if parsed.is_file else None, state.local_path)
        files = [Path(text) for text in texts if text]
        if any(_FOLDER in file.parts and self.is_brought(file) for file in files):
            return False
        if name not in self.taken or state.explicitly_requested:
            return True
        return bool(files) and all(self.places.owner_of(file).is_trusted for file in files)
