"""Finding skills: in which folders, and which of several with one name is used."""

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.modules.tool_skills.settings import SkillsSettings
from amplifier_tui.modules.tool_skills.skill import SKILL_FILE, Skill, SkillError, read_skill

_IN_HOME: Final = (".agents/skills", ".claude/skills")
_MOST: Final = 500
"""Skills of one folder."""


@dataclass
class FoundSkills:
    """The skills by name, and what is wrong with skills: sentences with file and line."""

    skills: dict[str, Skill] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def find_skills(settings: SkillsSettings, project: Path, amplifier_home: Path) -> FoundSkills:
    """Read all skills. Blocking.

    Args:
        project: What relative paths of the settings start from.
    """
    found = FoundSkills()
    folders: list[Path] = [Path(text) for text in settings.project_skills]
    if settings.user_skills:
        folders += [user_home() / name for name in _IN_HOME]
        folders.append(amplifier_home / "skills")
    for text in settings.skills:
        place = _place(text, project, found)
        folders += [place] if place is not None else []
    seen: set[Path] = set()
    for folder in folders:
        for each in _skill_folders(folder, found):
            resolved = each.resolve()
            if resolved not in seen:
                seen.add(resolved)
                _add(each, found)
    return found


def _place(text: str, project: Path, found: FoundSkills) -> Path | None:
    if text.startswith(("@", "git+")) or "://" in text:
        found.problems.append(
            f"`skills` of tool-skills has {text}, which is no folder here. Include the bundle it "
            "is part of, and name its folder as `@bundle:path`"
        )
        return None
    try:
        place = project / Path(text).expanduser()
        is_there = place.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        found.problems.append(f"`skills` of tool-skills has {text!r}: {error}")
        return None
    if not is_there:
        found.problems.append(f"`skills` of tool-skills names {place}, and there is no such folder")
        return None
    return place


def _skill_folders(folder: Path, found: FoundSkills) -> Iterator[Path]:
    """Yield the folder if it is a skill, else those in it that are."""
    if (folder / SKILL_FILE).is_file():
        yield folder
        return
    try:
        inside = sorted(path for path in folder.iterdir() if (path / SKILL_FILE).is_file())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        found.problems.append(f"{folder} can't be read: {error.strerror or error}")
        return
    if len(inside) > _MOST:
        found.problems.append(f"{folder} has {len(inside)} skills; {_MOST} of them are used")
    yield from inside[:_MOST]


def _add(folder: Path, found: FoundSkills) -> None:
    try:
        skill = read_skill(folder)
    except SkillError as error:
        found.problems.append(f"Skill not used: {error}")
        return
    found.problems += skill.notes
    first = found.skills.setdefault(skill.name, skill)
    if first is not skill:
        found.problems.append(
            f"Two skills are called {skill.name}: {first.folder} is used, {skill.folder} is not"
        )
