"""Background commands of a stored conversation whose end it does not tell."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.messages.tool_calls import answers_of, calls_of, first_text

_ALONE: Final = (
    "[It runs in the sandbox, with a network of its own: nothing else reaches a port that it opens,"
    " neither the user's browser nor other commands. To serve one, ask with `outside_sandbox`]"
)
_STARTED: Final = lazy_pattern(
    r"\[job-(\d{1,6}) runs in the background; bash_job reads on\]"
    rf"(?:\n{re.escape(_ALONE)})?"
)
_STANDS: Final = lazy_pattern(r"(?m)^\[?(job-\d{1,6}): (?!running\b)")
_REMINDER: Final = '<system-reminder source="tool-bash">'


def started(job_id: str, *, alone: bool = False) -> str:
    """Return the result of a call that began a job; `alone` says that it has no network."""
    result = f"[{job_id} runs in the background; bash_job reads on]"
    return f"{result}\n{_ALONE}" if alone else result


def earlier_jobs(messages: Iterable[Mapping[str, Any]]) -> tuple[int, dict[str, str]]:
    """Return the highest number of a job, and the commands by job id of those without an end."""
    calls: dict[str, tuple[str, str]] = {}
    highest, commands = 0, dict[str, str]()
    for message in messages:
        for call in calls_of(message):
            calls[call.call_id] = call.name, first_text(call.arguments, ("command",))
        texts = ((call_id, _text_of(message, call_id)) for call_id in answers_of(message))
        for call_id, text in texts:
            name, command = calls.get(call_id, ("", ""))
            begun = _STARTED.fullmatch(text) if name == "bash" else None
            if begun is not None:
                highest = max(highest, int(begun[1]))
                commands[f"job-{begun[1]}"] = command
            elif name == "bash_job":
                # The last line: what a job printed may look like one.
                _forget(text.rstrip().rpartition("\n")[2], commands)
        content = message.get("content")
        if isinstance(content, str) and content.startswith(_REMINDER):
            _forget(content, commands)
    # Calls side by side may have begun them in another order than their results came.
    return highest, {key: commands[key] for key in sorted(commands, key=lambda k: int(k[4:]))}


def _forget(text: str, commands: dict[str, str]) -> None:
    for ended in _STANDS.finditer(text):
        commands.pop(ended[1], None)


def _text_of(message: Mapping[str, Any], call_id: str) -> str:
    """Return the text of a call's result."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content or () if isinstance(block, Mapping)]
    for block in blocks:
        if call_id in (block.get("tool_call_id"), block.get("tool_use_id")):
            return _joined(block.get("content", block.get("output")))
    return _joined(blocks)


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(b.get("text", "")) for b in blocks if isinstance(b, Mapping))
