"""Which commands run in a sandbox, and what they may touch there.

A host that judges calls says how each was let through (`kernel.session.grant`). What no person
approved one by one is confined; without such a host nothing is.
"""

import asyncio
import contextlib
import logging
import os
import re
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.commands.git_lines.alone import (
    advice_for_git,
    brings_files,
    goes_one_by_one,
    is_of_git_alone,
    records_files,
    remotes_fetched,
)
from amplifier_tui.base.commands.git_lines.own import line_keeps_to_own
from amplifier_tui.base.commands.process import CommandProcess
from amplifier_tui.base.commands.programs import keep_out
from amplifier_tui.base.commands.sandbox import (
    Sandbox,
    listening_sockets,
    named_sockets,
    sandbox_problem,
)
from amplifier_tui.base.files.nearby import secrets_nearby
from amplifier_tui.base.files.scratch import ScratchFolder
from amplifier_tui.base.git import READING_ENVIRONMENT, with_setting, without_bare, without_info
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import CONFINED, NO_NETWORK
from amplifier_tui.base.protected import secret_homes
from amplifier_tui.base.repositories.places import path_of_address, remote_address, written_outside
from amplifier_tui.base.shell import read_shell_line, tells_names_alone
from amplifier_tui.base.text import one_line
from amplifier_tui.kernel import events
from amplifier_tui.kernel.session.grant import (
    SANDBOX_CAPABILITY,
    Grant,
    SandboxTerms,
    current_grant,
)
from amplifier_tui.modules.tool_bash.mounted import keep_hooks, obeyed_outside, read_only_places
from amplifier_tui.modules.tool_bash.sandbox.configuring import Look
from amplifier_tui.modules.tool_bash.sandbox.git_folders import is_repository
from amplifier_tui.modules.tool_bash.sandbox.git_writing import GitWriting
from amplifier_tui.modules.tool_bash.sandbox.kept import Aside
from amplifier_tui.modules.tool_bash.sandbox.made import Made
from amplifier_tui.modules.tool_bash.sandbox.tracked import checkouts, without_tracked
from amplifier_tui.modules.tool_bash.users_places import UsersPlaces

logger = logging.getLogger(__name__)

LOOK_EVERY: Final = 2.0
GITS_OWN_LINE: Final = {
    "type": "string",
    "description": (
        "The command line. Give git that writes (add, commit, rebase ...) a line of its own, "
        "without tests or scripts in it: beside those it may not write."
    ),
}
OUTSIDE_SANDBOX: Final = {
    "type": "boolean",
    "description": (
        "Ask the user to let this command run outside of the sandbox: with the network, and able "
        "to write outside of the workspace. Use it after a command failed for lack of that."
    ),
}


TOLD_BY: Final = "sandbox"
"""The source of what the user is told of a command's files: it stays in the conversation."""
_OTHERS: Final = (
    "; git could not write in the repositories of the workspace, as the line works with another one"
)
_UNTOLD: Final = (
    "Programs of yours, maybe a command in the sandbox, use all that tells of changed files "
    "(fs.inotify.max_user_instances). Until one ends, what you save while a command runs is kept "
    "from it a moment later, and may be moved aside if it is in a folder (/aside puts it back)"
)
_LONGEST: Final = 4_000
_LAST_MOMENT: Final = 5.0
"""Seconds that what was killed gets to be gone: some do not go while a disk does not answer."""
_GIT: Final = re.compile(r"(?:^|[\s;|&(])git\s")


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
        made: What it makes that would take effect outside of the sandbox; None where it can make
            nothing, or may.
        users: What is kept from it; None where it can write nowhere, or everywhere.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    terms: str = ""
    scratch: Path | None = None
    was_there: frozenset[str] = frozenset()
    made: Made | None = None
    users: UsersPlaces | None = None

    def begin(self, pid: int) -> None:
        """Keep from it what is the user's, also where that is replaced from outside.

        Args:
            pid: The number of its process.
        """
        if self.users is not None:
            asyncio.get_running_loop().run_in_executor(None, self.users.begin, pid)

    def finish(self) -> list[str]:
        """Move aside what the command made that would take effect elsewhere, as it ends. Blocking.

        Returns:
            What to tell the model of it.
        """
        return self._looked(last=True)

    def look(self) -> list[str]:
        """Do so while it runs. Blocking.

        Returns:
            What to tell the model of it.
        """
        return self._looked(last=False)

    def _looked(self, *, last: bool) -> list[str]:
        if self.made is None:
            return []
        try:
            if last:
                return self.made.finish()
            self.made.look()
            return self.made.take_notes()
        except Exception as error:
            # What the command printed is not to be lost with it.
            logger.exception("What a command made could not be looked at")
            failed = f"could not be looked at ({type(error).__name__}: {error})"
            self.made.tell(f"What a command in the sandbox made {failed}: look at it yourself")
            return [f"What it made {failed}"]

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
        self._aside: Aside | None = None
        self._said_untold = False
        self._loop: asyncio.AbstractEventLoop

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
        self._loop = asyncio.get_running_loop()
        grant, terms = current_grant(), self._terms()
        if grant is not None and grant.reading:
            environment = {**environment, **READING_ENVIRONMENT}
        if grant is None or grant.by == "person" or terms.mode == "off":
            return Confined(command, environment)
        if grant.by == "rule":
            # Whoever made the rule did not see what a folder has git run.
            environment = without_bare(environment)
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
                    (made.path / "empty").touch()
                except OSError:
                    made.remove()
                    raise
                self._scratch = made
            return self._scratch.path

    def _aside_of(self, terms: SandboxTerms) -> Aside:
        with self._making:
            if self._aside is None:
                # It is made with the first that goes there.
                name = f"amplifier-tui-set-aside-{os.urandom(8).hex()}"
                folder = terms.aside or Path(tempfile.gettempdir(), name)
                self._aside = Aside(folder, self._tell)
            return self._aside

    def _tell(self, text: str) -> None:
        """Tell the user something, from any thread."""
        notice = {"message": one_line(text, _LONGEST), "level": "warning", "source": TOLD_BY}
        with contextlib.suppress(RuntimeError):  # The session has ended.
            asyncio.run_coroutine_threadsafe(self._emit(notice), self._loop)

    async def _emit(self, notice: dict[str, Any]) -> None:
        await self._coordinator.hooks.emit(events.USER_NOTIFICATION, notice)

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
        keep_out(workspace)
        writing = not grant.reading
        if writing:
            environment = without_info(environment)
        aside = self._aside_of(terms)
        users = UsersPlaces()
        made = Made(workspace, aside, users) if writing else None
        before = Look(workspace, aside.known) if writing else None
        if before is not None:
            aside.forget_made(before)
        places = {} if before is None else before.places
        # Git itself has to write in its folder; what else would, can't be gone back on.
        alone = is_of_git_alone(command[-1])
        of_git = alone and bool(line_keeps_to_own(command[-1], folder, workspace))
        if of_git and grant.by != "rule":
            environment = without_bare(environment)
        repositories = {place for place in places if of_git and is_repository(place)}
        guarded = [place for place in places if place not in repositories]
        changes_files = of_git and brings_files(command[-1])
        records = records_files(command[-1])
        around = checkouts(places, workspace) if changes_files else []
        guarded = without_tracked(guarded, around, changed_alone=records)
        hooks = None
        if writing and changes_files and not records:
            hooks = keep_hooks(around, workspace, scratch, alike=goes_one_by_one(command[-1]))
        if hooks is not None:
            environment = with_setting(environment, "core.hooksPath", str(hooks))
        hidden = [*secret_homes(user_home()), *terms.hidden, *named_sockets(environment)]
        hidden += listening_sockets(workspace)
        if grant.reading and _shows_contents(command[-1]):
            # What it names of these was asked about; what it comes across was not.
            hidden += secrets_nearby(workspace)
        repository = written_outside(workspace, workspace)
        read_only = read_only_places(guarded, workspace)
        # There git writes in it, too: the host lets no line through that would change more of a
        # checkout than the workspace is.
        shared = repository if of_git and writing else None
        kept = () if shared is None else obeyed_outside(shared)
        sandbox = Sandbox(
            workspace,
            scratch / "tmp",
            writing=writing,
            network=grant.network,
            hidden=tuple(place.resolve() for place in hidden),
            empty=scratch / "empty",
            pinned=tuple(sorted(repositories)),
            read_only=tuple(sorted({*chain.from_iterable(read_only.values()), *kept})),
            shown=tuple(filter(None, (repository, hooks and hooks.parent))),
            writable=() if shared is None else (shared,),
        )
        line = sandbox.command(command, folder.resolve())
        if before is not None:
            # What is gone since the look is not mounted.
            mounted = {*line} if sys.platform != "darwin" else {*map(str, sandbox.read_only)}
            before.hold(
                place for place, over in read_only.items() if mounted.issuperset(map(str, over))
            )
        if made is not None and before is not None:
            made.begin(
                before,
                GitWriting(repositories, shared),
                of_git=of_git,
                takes_up=changes_files,
                fetches=of_git and _fetches(command[-1], folder, workspace, grant),
            )
            users.hold(sandbox.read_only)
            if not users.is_told and not self._said_untold:
                self._said_untold = True
                self._tell(_UNTOLD)
        # What leads to these is made for them.
        leading = {
            name
            for place in (workspace, *sandbox.shown)
            if place.is_relative_to(sandbox.temporary)
            for name in place.relative_to(sandbox.temporary).parts[:1]
        }
        limits = "could write nowhere" if grant.reading else f"could write only in {workspace}"
        network = "" if grant.network else NO_NETWORK
        git = "" if of_git or grant.reading else advice_for_git(command[-1])
        if alone and not of_git:
            git = _OTHERS
        return Confined(
            line,
            {**environment, "TMPDIR": str(sandbox.temporary)},
            f"{CONFINED}it {limits} (and in /tmp, which is its own){network}{git}. "
            "If it needs more, ask with `outside_sandbox`",
            scratch / "tmp",
            frozenset({*leading, *(each.name for each in (scratch / "tmp").iterdir())}),
            made,
            users if writing else None,
        )


def _shows_contents(text: str) -> bool:
    """Whether a command line that only reads may show what is in files that it does not name."""
    # To git what is hidden would be changed, and to a test or a list it would be empty.
    return not _GIT.search(text) and not tells_names_alone(read_shell_line(text))


def _fetches(text: str, folder: Path, workspace: Path, grant: Grant) -> bool:
    """Whether a line of git's own fetches what no command in the sandbox can have put there."""
    addresses = [remote_address(folder, name) for name in remotes_fetched(text)]
    # In the sandbox this folder is its own.
    own = (workspace, Path("/tmp").resolve())
    for address in addresses:
        place = path_of_address(address, folder)
        if not address or (any(map(place.is_relative_to, own)) if place else not grant.network):
            return False
    return bool(addresses)


async def look_on(process: CommandProcess, confined: Confined, notes: list[str]) -> None:
    """Look every two seconds at what a command makes, until nothing of it is left.

    Args:
        notes: Where to put what to tell the model of it.
    """
    try:
        while process.group_alive:
            await asyncio.sleep(LOOK_EVERY)
            notes += await asyncio.to_thread(confined.look)
    finally:
        notes += await last_look(process, confined)


async def last_look(process: CommandProcess, confined: Confined) -> list[str]:
    """Move aside what a command made once the last of its processes is gone.

    One that was killed may write a moment longer.

    Returns:
        What to tell the model of it.
    """
    try:
        if confined.made is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_MOMENT):
                    await process.gone(0.01)
    finally:
        notes = await asyncio.to_thread(confined.finish)
    return notes
