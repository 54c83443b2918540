"""The four scopes of settings and their files."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from amplifier_tui.foundation.paths.resolution import get_amplifier_home


class Scope(StrEnum):
    """Where a setting is made; later ones win."""

    GLOBAL = "global"
    """`<home>/settings.yaml`: every project of this user."""
    PROJECT = "project"
    """`<project>/.amplifier/settings.yaml`: everybody who works on the project."""
    LOCAL = "local"
    """`<project>/.amplifier/settings.local.yaml`: this user in this project."""
    SESSION = "session"
    """`settings.yaml` in the folder of one session."""


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """Where the scopes' files are.

    Attributes:
        home: The Amplifier home.
        project: The project's folder; None for none.
        session: The session's folder; None for none.
    """

    home: Path
    project: Path | None = None
    session: Path | None = None

    @classmethod
    def for_project(
        cls, project: Path, *, home: Path | None = None, session: Path | None = None
    ) -> "SettingsFiles":
        """Return the files of a project in the user's Amplifier home."""
        return cls(home or get_amplifier_home(), project, session)

    def path(self, scope: Scope) -> Path | None:
        """Return a scope's file, which may not exist; None when the scope is not available.

        The project scopes are not available in the user's home folder, where their file would be
        the global one, or would make the whole home a project.
        """
        if scope is Scope.GLOBAL:
            return self.home / "settings.yaml"
        if scope is Scope.SESSION:
            return None if self.session is None else self.session / "settings.yaml"
        if self.project is None:
            return None
        folder = self.project / ".amplifier"
        if self.project.resolve() == Path.home().resolve() and not folder.is_dir():
            return None
        if scope is Scope.LOCAL:
            return folder / "settings.local.yaml"
        return None if folder.resolve() == self.home.resolve() else folder / "settings.yaml"
