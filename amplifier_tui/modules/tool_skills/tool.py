"""``load_skill``, and the commands of the user."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.capabilities.prompt_commands import PromptCommand
from amplifier_tui.base.files import NotRegularFileError, open_resolved
from amplifier_tui.base.protected import holds_secrets
from amplifier_tui.base.text import printable
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules._shared.tool import ModuleTool, ToolProblem, argument
from amplifier_tui.modules.tool_skills.listing import listing, matching
from amplifier_tui.modules.tool_skills.settings import SkillsSettings
from amplifier_tui.modules.tool_skills.skill import SKILL_FILE, Skill

DISCOVERED: Final = "skills:discovered"
LOADED: Final = "skill:loaded"

_MOST_FILES: Final = 60
_MOST_LOOKED_AT: Final = 2_000
_MOST_FOUND: Final = 20


class SkillTool(ModuleTool):
    """Reads skills and their files.

    Args:
        skills: By name.
    """

    name = "load_skill"

    def __init__(
        self, skills: Mapping[str, Skill], settings: SkillsSettings, coordinator: ModuleCoordinator
    ) -> None:
        self._skills = skills
        self._settings = settings
        self._coordinator = coordinator
        self.offered = {name: skill for name, skill in skills.items() if skill.for_model}
        """What the model may load."""
        listed = listing(list(self.offered.values()), settings.max_listing_tokens)
        self._description = "Read a skill. There is none in this session."
        if listed:
            self._description = (
                "Read a skill: instructions for a kind of task, from people who know it. When a "
                "task fits one of these descriptions, load the skill before you begin, and follow "
                f"it as far as it serves what the user wants.\n{listed}"
            )

    @property
    def description(self) -> str:
        """What it does, and which skills there are."""
        return self._description

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of each argument."""
        return {
            "skill_name": argument("string", "The skill."),
            "file": argument(
                "string",
                "A file of the skill to read in place of its instructions.",
            ),
            "search": argument("string", "Find skills by words of their descriptions."),
        }

    async def run(self, given: Mapping[str, Any]) -> ToolResult:
        """Return the instructions, a file, or the skills that fit."""
        for key, value in given.items():
            if key not in self.parameters:
                known = ", ".join(f"`{name}`" for name in self.parameters)
                raise ToolProblem(
                    f"`{key[:40]}` is unknown; there are {known}.", "invalid_arguments"
                )
            if not isinstance(value, str | None):
                raise ToolProblem(f"`{key}` must be a text.", "invalid_arguments")
        name, words = given.get("skill_name"), given.get("search")
        if not name and words:
            found = matching(self.offered.values(), words)[:_MOST_FOUND]
            shown = listing(found, self._settings.max_listing_tokens)
            return ToolResult(output=shown or "No skill has these words.")
        skill = self.offered.get(str(name or "").strip())
        if skill is None:
            said = f"There is no skill {name!r}" if name else "`skill_name` is missing"
            some = listing(list(self.offered.values()), self._settings.max_listing_tokens)
            raise ToolProblem(f"{said}. There are:\n{some}", "not_found")
        file = (given.get("file") or "").strip()
        if not file:
            return ToolResult(output=await self._loaded(skill))
        text = await asyncio.to_thread(_read_file, skill, file, self._settings.max_chars)
        await self._say(skill, file)
        return ToolResult(output=text)

    def commands(self) -> list[PromptCommand]:
        """Return a command for each skill that the user may give."""
        return [
            PromptCommand(
                "skill", skill.name, skill.description, skill.takes, partial(self._given, skill)
            )
            for skill in self._skills.values()
            if skill.for_user
        ]

    async def _given(self, skill: Skill, words: str) -> str:
        """Return a skill as part of a prompt of the user, with the words of theirs."""
        text = await self._loaded(skill, words)
        asked = words if "$ARGUMENTS" not in skill.instructions else ""
        return "\n\n".join(filter(None, (text, f"Follow the skill {skill.name} now.", asked)))

    async def _loaded(self, skill: Skill, words: str = "") -> str:
        files, more = await asyncio.to_thread(_files, skill.folder)
        await self._say(skill, SKILL_FILE)
        text = skill.instructions.replace("$ARGUMENTS", words)
        lines = [
            f'<skill name="{skill.name}" folder="{printable(str(skill.folder))}">',
            _cut(text, self._settings.max_chars),
            "</skill>",
        ]
        if files:
            rest = f", and {more} more" if more else ""
            lines.append(
                f"Files of this skill: {', '.join(files)}{rest}. Read one with `file`; run a "
                "script as any other command, by its path in the folder."
            )
        return "\n".join(lines)

    async def _say(self, skill: Skill, file: str) -> None:
        facts = {"name": skill.name, "folder": str(skill.folder), "file": file}
        await self._coordinator.hooks.emit(LOADED, facts)


def _files(folder: Path) -> tuple[list[str], int]:
    """Return the files beside the instructions, and how many more there are. Blocking."""
    found: list[str] = []
    looked = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        looked += len(names) + len(folders)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(root, name), folder)
            if path != SKILL_FILE and not name.startswith("."):
                found.append(printable(path))
        if looked > _MOST_LOOKED_AT:
            break
    return found[:_MOST_FILES], max(0, len(found) - _MOST_FILES)


def _read_file(skill: Skill, file: str, most: int) -> str:
    """Return the text of a file below a skill's folder. Blocking."""
    try:
        path = (skill.folder / file).resolve()
        if not path.is_relative_to(skill.folder):
            raise ToolProblem(
                f"{file!r} is outside of the skill {skill.name}: give a path in its folder.",
                "outside_skill",
            )
        if holds_secrets(path.relative_to(skill.folder)):
            raise ToolProblem(f"{file!r} usually holds keys; it is not read.", "denied_path")
        with open_resolved(path) as stream:
            data = stream.read(most * 4 + 1)
    except (NotRegularFileError, IsADirectoryError) as error:
        raise ToolProblem(f"{file!r} is no file.", "not_a_file") from error
    except FileNotFoundError as error:
        files, _ = _files(skill.folder)
        some = f" There are: {', '.join(files)}." if files else " It has no other files."
        raise ToolProblem(f"The skill {skill.name} has no {file!r}.{some}", "not_found") from error
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ToolProblem(f"{file!r} can't be read: {reason}.", "os_error") from error
    if b"\0" in data:
        raise ToolProblem(
            f"{file!r} is no text. A command can use it: {printable(str(path))}.", "binary"
        )
    return _cut(data.decode("utf-8", "replace"), most)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[… cut after {most} characters …]"
