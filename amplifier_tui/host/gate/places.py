"""Where a path leads that a call names, and what is kept or configured there."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.files.under import is_under
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.protected import (
    configures,
    holds_secrets,
    secret_homes,
    starts_from_home,
)
from amplifier_tui.foundation.paths import is_there
from amplifier_tui.paths import amplifier_home, user_config_dir, user_log_dir, user_state_dir

_SYSTEM_ROOTS: Final = ("/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/sys", "/proc")
_MADE_UP: Final = (Path("/proc"), Path("/sys"), Path("/dev"))
_HARMLESS_DEVICES: Final = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/stdin"}
)
_AGENTS: Final = "other agents"
_GIT: Final = "git"
_OF_GIT: Final = frozenset({".git", ".gitconfig", ".hg", ".hgrc", ".jj", ".lfsconfig", ".svn"})
"""What may hold an address with a password, of all that configures version control."""
_VERSIONS: Final = ".tool-versions"


@dataclass(frozen=True, slots=True)
class PathPlace:
    """One path a call names.

    `path` is absolute, links followed as far as they exist; `shown` is relative in the workspace.
    `secret`: keys are kept there. `configures`: whom what is written there takes effect on; empty
    for nobody in particular. `system`: the operating system's own. `named` is the path with only
    the links to the workspace followed, `root` the workspace.
    """

    path: Path
    shown: str
    outside: bool = False
    secret: bool = False
    configures: str = ""
    system: bool = False
    exists: bool = False
    named: Path = Path()
    root: Path = Path()

    @property
    def tells_by_reading(self) -> bool:
        """Whether it may hold settings of others: words, attributes, hooks and versions do not."""
        words = self.configures == _AGENTS and self.path.suffix.lower() in (".md", ".mdc")
        of_git = self.configures == _GIT and _OF_GIT.isdisjoint(self.path.parts)
        versions = self.path.name == _VERSIONS
        return self.outside and bool(self.configures) and not (words or of_git or versions)


def locate(text: str, workspace: Path, base: Path | None = None) -> PathPlace:
    """Return where a path leads that a tool was given; relative ones start in `base`.

    `~` is the home folder; without a base, paths start in the workspace.
    """
    # A user nobody knows: `os.path.expanduser` leaves the name as it is.
    written = os.path.expanduser(text.replace("\0", ""))
    whole = (base or workspace) / written
    plain = Path(os.path.normpath(whole))
    root = resolved(workspace)
    # As the system does: links before the `..` behind them.
    path = resolved(whole)
    if str(plain) in _HARMLESS_DEVICES:
        return PathPlace(path=plain, shown=str(plain), exists=True, named=plain, root=root)
    # Who reads or writes by a link's name means what has that name.
    named = next(
        (root / plain.relative_to(w) for w in (workspace, root) if w in plain.parents), path
    )
    meant = (path,) if named == path else (path, named)
    # Where its own folder leads, a process finds alone.
    outside = not path.is_relative_to(root) or _passes_processes(whole)
    return PathPlace(
        path=path,
        shown=str(path) if outside else (str(path.relative_to(root)) or "."),
        outside=outside,
        secret=any(map(holds_secrets, meant)),
        configures=next(filter(None, (configures(each, root) for each in meant)), "")
        or _own(path, root),
        system=outside and any(path.is_relative_to(system) for system in _SYSTEM_ROOTS),
        exists=is_there(path),
        named=named,
        root=root,
    )


def can_be_allowed(place: PathPlace) -> bool:
    """Whether a yes of the user lets a file tool touch a place outside of the workspace.

    Where keys are kept, what is this program's own, and what the system makes up on the fly, such
    as the environment of a process, stay out of its reach whatever is answered.
    """
    if not place.outside or place.secret:
        return False
    _, *own = _homes(*map(os.environ.get, _DECIDING))
    secrets = map(resolved, secret_homes(user_home()))
    return not any(is_under(place.path, never) for never in (*_MADE_UP, *own, *secrets))


def is_root_like(place: PathPlace) -> bool:
    """Whether a place is so high up that deleting it means losing everything."""
    home = resolved(user_home())
    return place.path == Path(place.path.anchor) or place.path == home or place.path in home.parents


def resolved(path: Path) -> Path:
    """Return a path without links, as far as it exists; as it is where that can't be told."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


_PROCESSES: Final = "/proc"
_MOST_STEPS: Final = 400


def _passes_processes(path: Path) -> bool:
    """Whether a path, or a link on it, leads through `/proc`, where each process finds its own."""
    left, at = list(reversed(path.parts[1:])), path.anchor
    for _ in range(_MOST_STEPS):
        if not left:
            return False
        name = left.pop()
        at = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        if at == _PROCESSES:
            return True
        try:
            target = Path(os.readlink(at))
        except (OSError, ValueError):
            continue
        at = target.anchor or os.path.dirname(at)
        left += reversed(target.parts[1:] if target.anchor else target.parts)
    return True


_DECIDING: Final = ("HOME", "AMPLIFIER_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
"""Variables that say where this program keeps what is its own."""


def _own(path: Path, root: Path) -> str:
    """Return whom a file takes effect on by its place in the user's home, whatever its name."""
    if not path.is_relative_to(root):
        return ""
    deciding = tuple(map(os.environ.get, _DECIDING))
    home = _homes(*deciding)[0]
    if any(map(path.is_relative_to, _own_below(root, *deciding))):
        return "this program"
    inside = home.is_relative_to(root) and path.is_relative_to(home)
    return "programs of yours" if inside and starts_from_home(path.relative_to(home)) else ""


@lru_cache(maxsize=8)
def _own_below(root: Path, *deciding: str | None) -> tuple[Path, ...]:
    """Return the program's own folders below one: who works in one of them means what is there."""
    return tuple(place for place in _homes(*deciding)[1:] if root in place.parents)


@lru_cache(maxsize=8)
def _homes(*_: str | None) -> tuple[Path, ...]:
    """Return the user's home and the folders of this program, without links."""
    own = (amplifier_home(), user_config_dir(), user_state_dir(), user_log_dir())
    return tuple(map(resolved, (user_home(), *own)))
