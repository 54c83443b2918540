"""tool-skills: instructions for special tasks, read when they are needed.

A skill is a folder with a ``SKILL.md`` (the open Agent Skills format): a YAML frontmatter with
``name`` (lower-case letters, digits and hyphens) and ``description``, then the instructions.
``argument-hint``, ``disable-model-invocation`` and ``user-invocable`` count, too. Further files lie
beside it. The model sees names and descriptions; it reads the instructions and the files of a
skill with ``load_skill``, and the user gives it one with ``/name``. Nothing of a skill is run by
this module, and ``allowed-tools`` lets nothing through: its scripts are commands like any other.

Skills of the project (``.agents/skills``, ``.claude/skills`` and ``.amplifier/skills``) come first,
then the user's (the same folders in the home folder, ``skills`` in the Amplifier home), then
``skills``. Of several with one name the first is used, and the user is told.

Events: ``skills:discovered`` ``{skills, problems}`` when it is mounted, ``skill:loaded`` ``{name,
folder, file}`` for everything that is read.

Config:
    skills: More skills, or folders of skills: absolute, below ``~``, in the project, or in a
        bundle's folder (``@bundle:path``).
    project_skills: Folders of the project's skills that may be used. Who opens the bundle fills it
        in, once the user was asked.
    user_skills: Whether the user's own are offered. Default true.
    max_listing_tokens: Most tokens of the list the model sees. Default 2000.
    max_chars: Most characters of one file. Default 40000.
"""

import asyncio
from typing import Any

from amplifier_tui.base.capabilities.prompt_commands import CHANNEL
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._shared.session_paths import amplifier_home, working_dir
from amplifier_tui.modules.tool_skills.finding import find_skills
from amplifier_tui.modules.tool_skills.settings import SkillsSettings
from amplifier_tui.modules.tool_skills.tool import DISCOVERED, LOADED, SkillTool

__all__ = ["DISCOVERED", "LOADED", "SkillTool", "mount"]

__amplifier_module_type__ = "tool"

_MOST_SAID = 5


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the tool as ``load_skill``.

    Raises:
        ValueError: A value of the config makes no sense.
    """
    settings = SkillsSettings.read(config)
    project = working_dir(coordinator)
    found = await asyncio.to_thread(find_skills, settings, project, amplifier_home())
    coordinator.register_contributor(
        "observability.events", "tool-skills", lambda: [DISCOVERED, LOADED]
    )
    await coordinator.hooks.emit(
        DISCOVERED, {"skills": list(found.skills), "problems": found.problems}
    )
    if coordinator.parent_id is None:
        said = found.problems[:_MOST_SAID]
        if len(found.problems) > len(said):
            said.append(f"{len(found.problems) - len(said)} more problems with skills are logged")
        for text in said:
            line = {"message": text, "level": "warning", "source": "tool-skills"}
            await coordinator.hooks.emit("user:notification", line)
    tool = SkillTool(found.skills, settings, coordinator)
    coordinator.register_contributor(CHANNEL, "tool-skills", tool.commands)
    await coordinator.mount("tools", tool, name=tool.name)
