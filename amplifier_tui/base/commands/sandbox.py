"""Starting a command so that it can touch little.

With bubblewrap on Linux and ``sandbox-exec`` on macOS. The command sees the whole disk read-only,
but for its workspace and a scratch folder; no other processes, no secrets, no keyrings, and no
network unless it is granted.
"""

import errno
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.commands.calls import filtered
from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.lazy.dataclass import dataclass

_PROBE_SECONDS: Final = 10.0
_ADDRESS: Final = re.compile(r"unix:(?:path=|//)?")
"""What may stand before the path of a socket."""
_APART: Final = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL"),
    # Who makes namespaces inside one can take away what is mounted over a file.
    "--disable-userns",
)
_DISK: Final = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
# Sockets of other programs: containers, message buses, agents that hold keys.
_SOCKETS: Final = ("/run", "/var/run")
_NAMES: Final = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
"""Where the addresses of name servers are kept."""
_UNIX: Final = Path("/proc/net/unix")
_LISTENS: Final = "00010000"
_LASTING: Final = 60.0
"""Seconds after which a socket is one of a program that stays."""
_FIELDS: Final = 7
"""How many stand before the path."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What a command may touch.

    Attributes:
        workspace: The folder it works in, absolute and without links.
        scratch: A folder of its own; on Linux it is ``/tmp`` to the command.
        writing: Whether it may write in the workspace.
        network: Whether it has the network.
        hidden: Files and folders that are empty to it.
        empty: A file that takes the place of hidden ones; with the default they can't be opened.
        pinned: Folders of the workspace that it can't move away or replace as a whole.
        read_only: Files and folders of the workspace that it can't change.
        shown: Folders it can read also where the scratch folder takes their place.
        writable: Folders outside of the workspace in which it may write as well, but for what is
            read-only there.
    """

    workspace: Path
    scratch: Path
    writing: bool = True
    network: bool = False
    hidden: tuple[Path, ...] = ()
    empty: Path = Path(os.devnull)
    pinned: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()

    @property
    def temporary(self) -> Path:
        """The scratch folder as the command sees it."""
        return self.scratch if sys.platform == "darwin" else Path("/tmp")

    def command(self, command: Sequence[str], folder: Path) -> list[str]:
        """Return the command line that runs a command inside.

        Args:
            command: Program and arguments.
            folder: Where it starts.

        Raises:
            OSError: What makes the sandbox is gone, or memory is.
        """
        if sys.platform == "darwin":
            return [_program("sandbox-exec"), "-p", self.profile(), *command]
        options = [*self._options(), "--chdir", str(folder), "--", *command]
        return filtered(_program("bwrap"), options)

    def _options(self) -> Iterator[str]:
        yield from (*_APART, *(() if self.network else ("--unshare-net",)), *_DISK)
        for place in map(Path, _SOCKETS):
            if place.is_dir() and not place.is_symlink():
                yield from ("--tmpfs", str(place))
        for place in map(Path, _NAMES):
            if self.network and place.is_dir():
                yield from ("--ro-bind", str(place), str(place))
        yield from ("--bind", str(self.scratch), "/tmp")
        for place in filter(_in_scratch, self.shown):
            if not any(place.is_relative_to(each) for each in self.hidden):
                yield from ("--ro-bind", str(place), str(place))
                yield from self._emptied(each for each in self.hidden if place in each.parents)
        # What holds the workspace is hidden first, and what it holds, last.
        around = [place for place in self.hidden if self.workspace.is_relative_to(place)]
        inside = [place for place in self.hidden if place.is_relative_to(self.workspace)]
        yield from self._emptied(place for place in self.hidden if not _in_scratch(place))
        if self.workspace != self.workspace.parent:
            bind = "--bind" if self.writing else "--ro-bind"
            yield from (bind, str(self.workspace), str(self.workspace))
        for place in self._also_writable():
            yield from ("--bind", str(place), str(place))
            yield from self._emptied(each for each in self.hidden if place in each.parents)
        for place in self.pinned if self.writing else ():
            # What something is mounted on can't be renamed.
            yield from ("--bind", str(place), str(place))
        for place in self.read_only:
            if os.path.exists(place):
                yield from ("--ro-bind", str(place), str(place))
        yield from self._emptied(place for place in inside if place not in around)

    def _also_writable(self) -> list[Path]:
        shown = [
            place
            for place in self.writable
            if not any(place.is_relative_to(each) for each in self.hidden)
        ]
        return shown if self.writing else []

    def _emptied(self, places: Iterable[Path]) -> Iterator[str]:
        for place in places:
            if place.is_dir():
                yield from ("--tmpfs", str(place))
            elif place.exists():
                yield from ("--ro-bind", str(self.empty), str(place))

    def profile(self) -> str:
        """Return the rules for ``sandbox-exec``; the last one that fits counts."""
        writable = [self.scratch, *([self.workspace] if self.writing else [])]
        writable += self._also_writable()
        rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
        rules += [f"(allow file-write* (subpath {_quoted(place)}))" for place in writable]
        rules += ['(allow file-write* (literal "/dev/null") (literal "/dev/tty"))']
        rules += [f"(deny file-write* (subpath {_quoted(place)}))" for place in self.read_only]
        kept = {*self.pinned, *(each for place in self.read_only for each in self._around(place))}
        rules += [f"(deny file-write-unlink (literal {_quoted(place)}))" for place in sorted(kept)]
        for place in self.hidden:
            rules.append(f"(deny file-read* file-write* (subpath {_quoted(place)}))")
            if self.workspace.is_relative_to(place):
                kinds = "file-read* file-write*" if self.writing else "file-read*"
                rules.append(f"(allow {kinds} (subpath {_quoted(self.workspace)}))")
        if not self.network:
            rules.append("(deny network*)")
        rules.append("(deny process-info* (target others))")
        return "\n".join(rules)

    def _around(self, place: Path) -> list[Path]:
        """Return the folders of the workspace that hold a place."""
        return [each for each in place.parents if self.workspace in each.parents]


def _program(name: str) -> str:
    """Return where a program is that makes the sandbox, so that no other is taken for it.

    Raises:
        FileNotFoundError: It is gone.
    """
    found = find_program(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "There is no such program", name)
    return found


def _in_scratch(place: Path) -> bool:
    """Whether the scratch folder has already taken a place's place."""
    return place.is_relative_to("/tmp")


def named_sockets(variables: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the sockets that variables name: of agents that hold keys, of container services.

    Who can connect to one has what serves it do things outside of the sandbox. Blocking.
    """
    texts = (_ADDRESS.sub("", value).partition(",")[0] for value in variables.values())
    return tuple(Path(text) for text in dict.fromkeys(texts) if _is_socket(text))


def listening_sockets(workspace: Path) -> tuple[Path, ...]:
    """Return the sockets of this machine at which a program listens, and that are files.

    That a command sees the disk read-only does not keep it from connecting to one. What is newer
    than a minute may be gone before it can be hidden, and is left out. Blocking.

    Args:
        workspace: What lies in it is left out: a command may test what listens there.

    Returns:
        Nothing but on Linux; elsewhere such sockets are held back with the network.
    """
    try:
        rows = [
            line.split(maxsplit=_FIELDS) for line in _UNIX.read_text("utf-8", "replace").split("\n")
        ]
    except OSError:
        return ()
    texts = {row[_FIELDS] for row in rows if len(row) > _FIELDS and row[3] == _LISTENS}
    gone = (workspace, *map(Path, (*_SOCKETS, "/tmp")))
    found = (Path(text) for text in sorted(texts) if _is_socket(text, older_than=_LASTING))
    return tuple(each for each in found if not any(each.is_relative_to(place) for place in gone))


def _is_socket(text: str, *, older_than: float = 0.0) -> bool:
    try:
        found = os.stat(text)
        lasts = not older_than or time.time() - found.st_ctime > older_than
        return text.startswith("/") and stat.S_ISSOCK(found.st_mode) and lasts
    except (OSError, ValueError):
        return False


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


@cache
def sandbox_problem() -> str:
    """Return why commands can't be run in a sandbox here, with the remedy; empty if they can.

    It starts a process the first time: call it from a thread.
    """
    if sys.platform == "darwin":
        return "" if find_program("sandbox-exec") else "sandbox-exec is not there"
    if sys.platform != "linux":
        return f"there is no sandbox for {sys.platform}"
    if find_program("bwrap") is None:
        return "bubblewrap is not installed; install the package `bubblewrap`"
    try:
        tried = subprocess.run(
            filtered(_program("bwrap"), [*_APART, "--unshare-net", *_DISK, "--", "true"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap can't be started: {error}"
    if tried.returncode == 0:
        return ""
    lines = tried.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
    if any("--disable-userns" in line for line in lines):
        return "bubblewrap is too old for the sandbox; install version 0.8 or a later one"
    return f"bubblewrap can't make a sandbox here: {lines[-1]}"
