"""What stays in the terminal when the program ends: the last answer and the way back."""

from typing import NamedTuple

LINES = 40
"""Lines of the last answer that are printed; its end is what matters, so the head is cut."""


class Farewell(NamedTuple):
    """How the program ended.

    Attributes:
        last_answer: The agent's last words, as the model wrote them.
        resume_command: Opens the session again; empty when nothing was said in it.
        problem: Why it ended, when not because the user wanted to.
    """

    last_answer: str = ""
    resume_command: str = ""
    problem: str = ""


def farewell_text(farewell: Farewell) -> str:
    """Return the lines to print on the normal screen; empty when there is nothing to say."""
    from amplifier_tui.base.text import clean

    parts: list[str] = []
    lines = clean(farewell.last_answer).strip().splitlines()
    if lines:
        cut = len(lines) - LINES
        if cut > 0:
            lines = [f"… {cut} lines more in the session", *lines[-LINES:]]
        parts.append("\n".join(line.rstrip() for line in lines))
    if farewell.problem:
        parts.append(clean(farewell.problem))
    if farewell.resume_command:
        parts.append(f"Resume with: {clean(farewell.resume_command)}")
    return "\n\n".join(parts)
