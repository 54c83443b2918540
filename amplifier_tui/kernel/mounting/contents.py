"""What is wrong with what a module mounts, though it has all its contract asks for."""

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel import events
from amplifier_tui.kernel.mounting.errors import WrongAnswerError

_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_NAME: Final = 64
"""Characters of a tool's name that models take."""
_BESIDE: Final = (
    "context:budget",
    "orchestrator:rate_limit_delay",
    "prompt:commands_changed",
    "session:config",
    "session:workspace",
    "tool:progress",
)
"""Events of the program and of published modules that are not the kernel's."""
_EVENTS: Final = (
    *events.ALL_EVENTS,
    *_BESIDE,
    *(value for name, value in vars(events).items() if name.isupper() and isinstance(value, str)),
)


def tool_name_problem(name: Any) -> str:
    """Return why models can't call a tool of that name; empty where they can."""
    if not isinstance(name, str):
        return ""
    wrong = [] if _TOOL_NAME.fullmatch(name) else ["they take letters, digits, _ and -"]
    if len(name) > _LONGEST_NAME:
        wrong.append(f"it has {len(name)} characters, and they take {_LONGEST_NAME}")
    return f"the tool name {name[:80]!r} is refused by models: {'; '.join(wrong)}" if wrong else ""


TOOL_NAME: Final = "Give it another name"
"""What the author of a tool can do whose name is refused."""


def event_problem(event: str) -> str:
    """Return why a handler of an event may never be called; empty for an event of the kernel."""
    if event in _EVENTS:
        return ""
    return f"no event of the kernel is called {event!r:.80}{_like(event)}"


def mistaken_event(event: str) -> str:
    """Return what `event_problem` does where a known event may be meant.

    Modules emit others of their own, under names of theirs.
    """
    return event_problem(event) if _like(event) else ""


EVENT: Final = "Correct the name, unless a module emits it"
"""What the author of a handler can do whose event the kernel does not emit."""


def _like(event: str) -> str:
    """Return the end of a sentence that offers known events; empty where none is like it."""
    family = event.partition(":")[0]
    same = [each for each in dict.fromkeys(_EVENTS) if each.partition(":")[0] == family]
    known = f"; events of {family!r:.80} are {', '.join(same)}" if same else ""
    return known or did_you_mean(event, _EVENTS)


def place_of(thing: Any) -> str:
    """Return file and line of the code of a function, or of an object's class; empty if unknown."""
    while isinstance(thing, partial):
        thing = thing.func
    if not (inspect.isroutine(thing) or inspect.isclass(thing)):
        thing = thing.__class__  # Of what stands for another object, that one's.
    try:
        thing = inspect.unwrap(thing)
        code = getattr(thing, "__code__", None)
        if code is not None:  # Known without reading the file.
            file, line = code.co_filename, code.co_firstlineno
        else:
            file, (_, line) = inspect.getsourcefile(thing), inspect.getsourcelines(thing)
    except (OSError, TypeError, ValueError):
        return ""
    return f"{file}:{line}" if file and Path(file).is_absolute() else ""


RESPONSE: Final = "ChatResponse(content=[TextBlock(text=...)])"
"""What ``complete`` of a provider returns."""


def checked_response(provider: Any, response: Any) -> Any:
    """Return what a provider answered; `WrongAnswerError` where that is no response at all."""
    # Anything with a content will do: some providers have classes of their own.
    if not hasattr(response, "content"):
        raise _wrong(provider.complete, "complete()", response, RESPONSE)
    return response


CALLS: Final = "a list of ToolCall(id=..., name=..., arguments={...})"
"""What ``parse_tool_calls`` of a provider returns."""


def checked_calls(provider: Any, calls: Any) -> Any:
    """Return the tool calls that a provider read; `WrongAnswerError` where they are none."""
    method, parse = "parse_tool_calls()", provider.parse_tool_calls
    if inspect.iscoroutine(calls):
        calls.close()
        raise _wrong(parse, method, calls, f"{CALLS}, and not be async")
    if isinstance(calls, list | tuple):
        for each in calls:
            # Some providers have classes of their own.
            if not all(hasattr(each, name) for name in ("id", "name", "arguments")):
                raise _wrong(parse, method, each, CALLS, "a list with ")
    return calls


def checked_answer(orchestrator: Any, answer: Any) -> str:
    """Return the text a turn ended with; `WrongAnswerError` where it is none."""
    if not isinstance(answer, str):
        raise _wrong(orchestrator.execute, "execute()", answer, "the final answer as a str")
    return answer


def checked_messages(ask: Any, messages: Any, *, some: bool = False) -> Any:
    """Return what a method of a context answered; `WrongAnswerError` where those are no messages.

    Args:
        ask: The method.
        some: Whether the context was given messages, so that there must be some.
    """
    method, wanted = f"{getattr(ask, '__name__', 'get_messages')}()", "a list of messages as dicts"
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise _wrong(ask, method, messages, wanted)
    for each in messages:
        if not isinstance(each, Mapping):
            raise _wrong(ask, method, each, wanted, "a list with ")
    if some and not messages:
        raise _wrong(ask, method, messages, "what add_message() was given", "an empty ")
    return messages


def _wrong(
    function: Any, method: str, answer: Any, wanted: str, before: str = ""
) -> WrongAnswerError:
    returned = before + ("nothing" if answer is None else type(answer).__name__)
    return WrongAnswerError(
        f"{method} returned {returned}; it must return {wanted}",
        module=str(getattr(function, "__module__", "")),
        place=place_of(function),
    )
