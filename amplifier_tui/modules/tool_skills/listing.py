"""The list of skills that the model sees, in a number of tokens."""

from collections.abc import Iterable, Sequence
from typing import Final

from amplifier_tui.base.text import shortened
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.modules.tool_skills.skill import Skill

_LENGTHS: Final = (1_024, 400, 200, 120, 60)
"""Characters of each description, tried in this order."""


def listing(skills: Sequence[Skill], budget: int) -> str:
    """Return names and descriptions, a line each; shortened where they take too many tokens.

    Where even the names alone do, the last line says how many are left out.
    """
    for length in _LENGTHS:
        text = "\n".join(f"- {each.name}: {shortened(each.description, length)}" for each in skills)
        if text_tokens(text) <= budget:
            return text
    names, room = [], budget
    for each in skills:
        room -= text_tokens(f"- {each.name}\n") + 1
        if room < 0:
            break
        names.append(f"- {each.name}")
    left = len(skills) - len(names)
    if left:
        names.append(f"- … and {left} more: `search` finds them")
    return "\n".join(names)


def matching(skills: Iterable[Skill], words: str) -> list[Skill]:
    """Return the skills that have most of some words in their name or description, best first."""
    wanted = words.casefold().split()

    def score(skill: Skill) -> int:
        text = f"{skill.name} {skill.description}".casefold()
        return sum((word in skill.name) * 2 + (word in text) for word in wanted)

    return sorted(filter(score, skills), key=score, reverse=True)
