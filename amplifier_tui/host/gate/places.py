"""Where a path leads: inside the workspace, outside of it, or somewhere delicate."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SECRET_PARTS: Final = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".netrc"})
_SECRET_NAMES: Final = frozenset(
    {"keys.env", "id_rsa", "id_ed25519", "id_ecdsa", ".pgpass", ".npmrc", ".pypirc", "shadow"}
)
# What a shell, git or an editor runs by itself later.
_RUN_LATER: Final = frozenset(
    {".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv", "config.fish"}
)
_SYSTEM_ROOTS: Final = ("/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/sys", "/proc")
_HARMLESS_DEVICES: Final = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/stdin"}
)


@dataclass(frozen=True, slots=True)
class PathPlace:
    """One path a call names.

    `path` is absolute, links followed as far as they exist; `shown` is relative in the workspace.
    `secret`: keys are kept there. `run_later`: other programs run what is written there. `system`:
    the operating system's own.
    """

    path: Path
    shown: str
    outside: bool = False
    secret: bool = False
    run_later: bool = False
    system: bool = False
    exists: bool = False


def locate(text: str, workspace: Path, base: Path | None = None) -> PathPlace:
    """Return where a path leads that a tool was given.

    Args:
        text: As written; `~` is the home folder.
        workspace: The workspace, absolute.
        base: Where relative paths start; None for the workspace.
    """
    written = (
        Path(text.replace("\0", "")).expanduser()
        if text.startswith("~")
        else Path(text.replace("\0", ""))
    )
    plain = Path(os.path.normpath((base or workspace) / written))
    root = _resolved(workspace)
    path = _resolved(plain)
    if str(plain) in _HARMLESS_DEVICES:
        return PathPlace(path=plain, shown=str(plain), exists=True)
    outside = not path.is_relative_to(root)
    parts = set(path.parts)
    secret = bool(parts & _SECRET_PARTS) or path.name in _SECRET_NAMES
    secret = secret or path.name == ".env" or path.name.startswith(".env.")
    return PathPlace(
        path=path,
        shown=str(path) if outside else (str(path.relative_to(root)) or "."),
        outside=outside,
        secret=secret,
        run_later=path.name in _RUN_LATER or _is_git_hook(path),
        system=outside and any(path.is_relative_to(system) for system in _SYSTEM_ROOTS),
        exists=_exists(path),
    )


def is_root_like(place: PathPlace) -> bool:
    """Whether a place is so high up that deleting it means losing everything."""
    home = _resolved(Path.home())
    return place.path == Path(place.path.anchor) or place.path == home or place.path in home.parents


def _is_git_hook(path: Path) -> bool:
    parts = path.parts
    return ".git" in parts and ("hooks" in parts or path.name == "config")


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
