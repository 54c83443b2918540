"""Which commands run in a sandbox, and what they may touch there.

A host that judges calls says how each was let through (`kernel.session.grant`). What no person
approved one by one is confined; without such a host nothing is.
"""

import asyncio
import contextlib
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.commands.sandbox import Sandbox, named_sockets, sandbox_problem
from amplifier_tui.base.files.nearby import secrets_nearby
from amplifier_tui.base.files.scratch import ScratchFolder
from amplifier_tui.base.git import READING_ENVIRONMENT
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import CONFINED, NO_NETWORK
from amplifier_tui.base.protected import secret_homes
from amplifier_tui.base.repositories import kept_outside
from amplifier_tui.kernel.session.grant import (
    SANDBOX_CAPABILITY,
    Grant,
    SandboxTerms,
    current_grant,
)
from amplifier_tui.modules.tool_bash.configuring import (
    Identity,
    changed_places,
    configuring_places,
    is_repository,
)

OUTSIDE_SANDBOX: Final = {
    "type": "boolean",
    "description": (
        "Ask the user to let this command run outside of the sandbox: with the network, and able "
        "to write outside of the workspace. Use it after a command failed for lack of that."
    ),
}


_GIT: Final = re.compile(r"(?:^|[\s;|&(])git\s")
_USES_GIT: Final = re.compile(r"(?:^|[\s;|&(/])(?:git|gh|glab|hub|jj|pre-commit)\s")


class SandboxMissingError(Exception):
    """The command must run in a sandbox, and there is none."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A command line that is ready to start.

    Attributes:
        command: Program and arguments.
        environment: Its variables.
        terms: What the sandbox keeps it from, for the model; empty without one.
        scratch: Where the folder of its ``TMPDIR`` really is; None without a sandbox.
        was_there: Names of what is in that folder before.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    terms: str = ""
    scratch: Path | None = None
    was_there: frozenset[str] = frozenset()
    _workspace: Path | None = field(default=None)
    _aside: Path | None = field(default=None)
    _before: dict[Path, Identity] = field(default_factory=dict)

    def finish(self) -> list[str]:
        """Move aside what the command made that would configure programs, and say so. Blocking."""
        if self._workspace is None or self._aside is None:
            return []
        notes = []
        for place in changed_places(self._workspace, self._before):
            kept = Path(tempfile.mkdtemp(dir=self._aside)) / place.name
            try:
                shutil.move(place, kept)
            except FileNotFoundError:
                continue  # The command, which may still run, has removed it.
            notes.append(
                f"{place.relative_to(self._workspace)} would take effect on other programs, so it "
                f"was moved to {kept}. To make it, ask with `outside_sandbox`"
            )
        return notes

    def goes_with_the_session(self, *said: str) -> list[str]:
        """Say what the command left in a ``/tmp`` that is the sandbox's own. Blocking.

        Args:
            said: The command and its output: what neither names nobody waits for.
        """
        if self.scratch is None:
            return []
        shown = self.environment["TMPDIR"]
        with contextlib.suppress(OSError):
            new = sorted({each.name for each in self.scratch.iterdir()} - self.was_there)
            paths = [f"{shown}/{name}" for name in new]
            named = [path for path in paths if any(path in text for text in said)]
            if named:
                return [
                    f"{', '.join(named[:3])} is in the sandbox's own {shown}: commands of this "
                    "session find it there, nobody else, and it goes with the session. Write what "
                    "is to stay into the workspace"
                ]
        return []


class Confining:
    """Confines the commands of one session."""

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator
        self._scratch: ScratchFolder | None = None
        self._making = threading.Lock()

    @property
    def offered(self) -> bool:
        """Whether this session's commands may be confined."""
        return self._coordinator.get_capability(SANDBOX_CAPABILITY) is not None and (
            self._terms().mode != "off"
        )

    async def used(self) -> bool:
        """Whether a command of this session may have to run in a sandbox."""
        mode = self._terms().mode
        return mode == "required" or (
            mode == "auto" and not await asyncio.to_thread(sandbox_problem)
        )

    async def confine(
        self,
        command: Sequence[str],
        workspace: Path,
        folder: Path,
        environment: Mapping[str, str],
    ) -> Confined:
        """Return what to start for a command, under the grant of the call that runs now.

        Args:
            command: Program and arguments, which stay the last of what is started.
            workspace: Where it may write.
            folder: Where it starts.
            environment: Its variables.

        Raises:
            SandboxMissingError: It may only run in a sandbox, and there is none.
            OSError: The scratch folder can't be made.
        """
        grant, terms = current_grant(), self._terms()
        if grant is not None and grant.reading:
            environment = {**environment, **READING_ENVIRONMENT}
        if grant is None or grant.by == "person" or terms.mode == "off":
            return Confined(command, environment)
        problem = await asyncio.to_thread(sandbox_problem)
        if not problem:
            return await asyncio.to_thread(
                self._confined, command, workspace, folder, environment, grant, terms
            )
        if terms.mode == "required":
            raise SandboxMissingError(
                f"Not run: the user's setting `sandbox: required` wants a sandbox, and {problem}."
            )
        return Confined(command, environment)

    def close(self) -> None:
        """Remove the scratch folder. Blocking."""
        with self._making:
            scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.remove()

    def _terms(self) -> SandboxTerms:
        terms = self._coordinator.get_capability(SANDBOX_CAPABILITY)
        return terms if isinstance(terms, SandboxTerms) else SandboxTerms()

    def _scratch_path(self) -> Path:
        """Return the scratch folder, made by whichever of several commands at once comes first."""
        with self._making:
            if self._scratch is None:
                made = ScratchFolder()
                try:
                    (made.path / "tmp").mkdir()
                    (made.path / "aside").mkdir()
                    (made.path / "empty").touch()
                except OSError:
                    made.remove()
                    raise
                self._scratch = made
            return self._scratch.path

    def _confined(
        self,
        command: Sequence[str],
        workspace: Path,
        folder: Path,
        environment: Mapping[str, str],
        grant: Grant,
        terms: SandboxTerms,
    ) -> Confined:
        scratch = self._scratch_path()
        workspace = workspace.resolve()
        writing = not grant.reading
        before = configuring_places(workspace) if writing else {}
        # Git itself has to write in its folder; what else would, can't be gone back on.
        uses_git = _USES_GIT.search(command[-1])
        repositories = {place for place in before if uses_git and is_repository(place)}
        hidden = [*secret_homes(Path.home()), *terms.hidden, *named_sockets(environment)]
        if grant.reading and not _GIT.search(command[-1]):
            # What it names of these was asked about; what it comes across was not. To git they
            # would be changed.
            hidden += secrets_nearby(workspace)
        repository = kept_outside(workspace)
        sandbox = Sandbox(
            workspace,
            scratch / "tmp",
            writing=writing,
            network=grant.network,
            hidden=tuple(place.resolve() for place in hidden),
            empty=scratch / "empty",
            pinned=tuple(sorted(repositories)),
            read_only=tuple(sorted(before.keys() - repositories)),
            shown=() if repository is None else (repository,),
        )
        limits = "could write nowhere" if grant.reading else f"could write only in {workspace}"
        network = "" if grant.network else NO_NETWORK
        return Confined(
            sandbox.command(command, folder.resolve()),
            {**environment, "TMPDIR": str(sandbox.temporary)},
            f"{CONFINED}it {limits} (and in /tmp, which is its own){network}. "
            "If it needs more, ask with `outside_sandbox`",
            scratch / "tmp",
            frozenset(each.name for each in (scratch / "tmp").iterdir()),
            workspace if writing else None,
            scratch / "aside",
            before,
        )
