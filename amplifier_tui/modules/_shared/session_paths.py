"""Where a session works, where its files are, and where a module may keep state of its own."""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.config import SettingProblem, SettingsError
from amplifier_tui.base.homes import user_home
from amplifier_tui.base.protected import is_obeyed

WORKING_DIR_CAPABILITY: Final = "session.working_dir"
EVENTS_PATH_CAPABILITY: Final = "session.events_path"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def working_dir(coordinator: Any, configured: str | None = None) -> Path:
    """Return the folder a session works in.

    Args:
        coordinator: The session's; its capability counts first.
        configured: The folder where there is no such capability; None for the process's own.
    """
    folder = coordinator.get_capability(WORKING_DIR_CAPABILITY)
    return Path(str(folder or configured or os.getcwd())).expanduser()


def amplifier_home() -> Path:
    """Return the Amplifier home: `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    return Path(os.environ.get("AMPLIFIER_HOME") or "~/.amplifier").expanduser()


def session_folder(coordinator: Any) -> Path:
    """Return the folder of a session's files.

    It is where the host keeps the session's events, and without a host in the Amplifier home,
    ``projects/<slug of the working directory>/sessions/<id>``.
    """
    hosts = coordinator.get_capability(EVENTS_PATH_CAPABILITY)
    if hosts:
        return Path(str(hosts)).expanduser().parent
    project = amplifier_home() / "projects" / project_slug(working_dir(coordinator))
    return project / "sessions" / session_name(coordinator)


def session_name(coordinator: Any) -> str:
    """Return the session's id as the name of a folder, which can't lead anywhere else."""
    name = _UNSAFE.sub("_", coordinator.session_id or "unnamed")[:200]
    return name if name.strip(".") else "unnamed"


def project_slug(folder: Path) -> str:
    """Return a project's name in the Amplifier home: its path, with ``-`` between the folders."""
    text = str(folder.resolve()).replace("/", "-").replace("\\", "-").replace(":", "")
    return text if text.startswith("-") else f"-{text}"


_HOSTS: Final = re.compile(
    r"(metadata|state)\.json|(transcript|display|partial|approvals|rewinds)\.jsonl"
)
"""What the host keeps in a session's folder."""


def state_place(text: str, coordinator: Any, *, module: str, setting: str) -> Path:
    """Return where a module's setting leads, with every link followed, if state may be kept there.

    That is below the session's folder, the user's log folder or the project, and nothing that
    configures a program.

    Args:
        text: The path as configured; ``~``, environment variables, ``{project}`` and
            ``{session_id}`` are replaced, and relative ones start in the project.
        coordinator: Of the session.
        module: Whose setting it is, for the message.
        setting: The setting's key.

    Raises:
        SettingsError: State may not be kept there. The message says where it leads and where it
            may lead.
    """
    project = working_dir(coordinator).resolve()
    # Not str.format: a path may hold other braces.
    filled = os.path.expandvars(text)
    filled = filled.replace("{project}", project_slug(project))
    filled = filled.replace("{session_id}", session_name(coordinator))
    try:
        path = (project / Path(filled).expanduser()).resolve()
        problem = _problem(path, coordinator, project)
    except (ValueError, RuntimeError, OSError) as error:
        # NUL, characters the file system can't encode, an unknown user's home, circular links.
        path, problem = Path(filled.replace("\0", "\\0")), f"which can't be used ({error})"
    if problem is None:
        return path
    places = " or ".join(str(place) for place in _roots(coordinator, project))
    raise SettingsError(
        [
            SettingProblem(
                setting,
                f"`{setting}` of {module} leads to {path}, {problem}. Choose a path below "
                f"{places}, or leave `{setting}` out",
            )
        ]
    )


def _roots(coordinator: Any, project: Path) -> list[Path]:
    """The folders below which state may be kept, the project last."""
    import platformdirs

    roots = [
        *_session_folders(coordinator, project),
        platformdirs.user_log_path("amplifier-tui", appauthor=False).resolve(),
    ]
    # Who works in the home folder does not give all of it away.
    if not user_home().resolve().is_relative_to(project):
        roots.append(project)
    return list(dict.fromkeys(roots))


def _session_folders(coordinator: Any, project: Path) -> Iterable[Path]:
    """The session's folder, as the host has it and where the Amplifier CLI keeps it."""
    yield session_folder(coordinator).resolve()
    sessions = Path("projects") / project_slug(project) / "sessions"
    yield (Path("~/.amplifier").expanduser() / sessions / session_name(coordinator)).resolve()
    given = getattr(coordinator, "session_dir", None)
    if given:
        yield Path(given).resolve()


def _problem(path: Path, coordinator: Any, project: Path) -> str | None:
    """Why state may not be kept at a resolved path; None where it may."""
    holding = [root for root in _roots(coordinator, project) if path.is_relative_to(root)]
    if not holding:
        return "outside of the session's folder, the user's log folder and the project"
    inner = max(holding, key=lambda root: len(root.parts))
    parts = path.relative_to(inner).parts
    for part in parts:
        if is_obeyed(part):
            return f"and {part} configures or starts programs"
    if inner != project and any(_HOSTS.fullmatch(part.casefold()) for part in parts):
        return "where the session itself is kept"
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return "which lies below a file"
    if stat.S_ISDIR(found.st_mode):
        return None
    if not stat.S_ISREG(found.st_mode):
        return "which is a pipe or device"
    if found.st_nlink > 1:
        return "which is a file with further names elsewhere (hard links)"
    return "which is a program" if found.st_mode & 0o111 else None
