"""Which files mentions reach: the user's any, those of modules, agents and files what may be read.

Published tools read `@path` where the model writes that for a file, through the session's resolver.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.text import one_line
from amplifier_tui.foundation.mentions.secrets import holds_users_secrets
from amplifier_tui.foundation.paths import is_there
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.places import resolved
from amplifier_tui.host.stand_in import StandIn


class UsersMentions(StandIn):
    """A resolver for the user's words; for the texts they mention, see `JudgedMentions`.

    Args:
        other: What resolves them.
    """

    __slots__ = ("_gate",)

    def __init__(self, other: Any, gate: Gate) -> None:
        super().__init__(other)
        object.__setattr__(self, "_gate", gate)

    def resolve(self, mention: str) -> Path | None:
        """Return the file a mention names, also where a sentence ends behind it.

        None where a link of the project leads out of it: its author chose that file, not the user.
        """
        found = self._found(mention, self._other.resolve)
        return None if found is None or kept_back(found, self._gate.workspace) else found

    def refusal(self, mention: str) -> str:
        """Return why the file a mention names is not sent, as a sentence; empty for no reason."""
        found = self._found(mention, getattr(self._other, "locate", self._other.resolve))
        reason = "" if found is None else kept_back(found, self._gate.workspace)
        return reason and f"{mention} {reason}"

    @staticmethod
    def _found(mention: str, resolve: Callable[[str], Path | None]) -> Path | None:
        found = resolve(mention)
        shorter = mention.rstrip(".:")
        if shorter == mention or (found is not None and is_there(found)):
            return found
        meant = resolve(shorter)
        return meant if meant is not None and is_there(meant) else found

    def resolve_confined(self, mention: str) -> Path | None:
        """Return the file a mention names; it looks at files, so not for an event loop."""
        found: Path | None = self._other.resolve_confined(mention)
        return found if found is None or _may_read(self._gate, found) else None


class JudgedMentions(UsersMentions):
    """A resolver for all other texts: it finds what the gate lets be read unasked."""

    __slots__ = ()

    def resolve(self, mention: str) -> Path | None:
        """Return the file a mention names."""
        return self.resolve_confined(mention)


def users_mentions(resolver: Any) -> Any:
    """Return the resolver for the user's words behind that of a session, where there is one."""
    # A stand-in for it may resolve words that are not the user's.
    if type(resolver) is JudgedMentions:
        return UsersMentions(resolver._other, resolver._gate)
    return resolver


def refusal(resolver: Any, mention: str) -> str:
    """Return why what the user mentions is not sent, as a sentence; empty for no such reason.

    It looks at files, so not for an event loop.
    """
    return resolver.refusal(mention) if type(resolver) is UsersMentions else ""


def kept_back(path: Path, workspace: Path) -> str:
    """Return why a file that the user names is not sent, as said of it; empty where it is.

    Args:
        path: As named, absolute, its links not followed.
        workspace: Where the session works.
    """
    leads_out = _leads_out(path, _project(resolved(workspace)))
    link = f"is a link to {one_line(str(resolved(path)), 1_000)}"
    if holds_users_secrets(path):
        linked = leads_out or path.is_symlink()
        holds = "holds keys or the program's own state: not sent"
        return f"{link}, which {holds}" if linked else holds
    if leads_out:
        return f"{link}, outside of the project: not sent; mention that path itself to send it"
    return ""


def _leads_out(path: Path, project: Path) -> bool:
    """Whether a path ends outside of a project by a link in it; by `..`, the user leads there."""
    if resolved(path).is_relative_to(project):
        return False
    here = Path(path.anchor)
    for part in path.parts[1:]:
        there = resolved(here / part)
        if part != ".." and here.is_relative_to(project) and not there.is_relative_to(project):
            return True
        here = there
    return False


def _project(workspace: Path) -> Path:
    """Return the repository that a session works in a folder of; that folder where there is none.

    The home folder is none, whatever is kept in it.
    """
    home = resolved(user_home())
    for folder in (workspace, *workspace.parents):
        if folder == home or folder in home.parents:
            break
        if os.path.lexists(folder / ".git"):
            return folder
    return workspace


def _may_read(gate: Gate, path: Path) -> bool:
    decision = gate.decide("read_file", {"file_path": str(path)}, diffs=False)
    if decision.verdict == "allow":
        return True
    # What lies elsewhere came with a bundle, or was asked about when the session opened.
    return not decision.rule and not path.resolve().is_relative_to(gate.workspace.resolve())
