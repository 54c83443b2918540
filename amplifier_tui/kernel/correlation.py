"""One id for all events of one LLM call, and the id of the tool call that runs.

``llm:request`` opens a call and gets a ``request_id``; the events that answer it carry the same
id. An orchestrator runs each tool call inside :func:`tool_call`, so that the tool can say which
call its progress belongs to. Both ids live in context variables, so parallel calls in tasks of
their own do not mix.

What asks a model on the side, for no answer to the user, does that inside :func:`aside`.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final, Literal
from uuid import uuid4

from amplifier_tui.kernel import events

REQUEST_ID_FIELD: Final = "request_id"
REQUEST_EVENTS: Final = frozenset({events.LLM_REQUEST})
TERMINAL_EVENTS: Final = frozenset({events.LLM_RESPONSE, events.PROVIDER_ERROR})
INTERIM_EVENTS: Final = frozenset({events.PROVIDER_RETRY, events.PROVIDER_THROTTLE})
CORRELATED_EVENTS: Final = REQUEST_EVENTS | TERMINAL_EVENTS | INTERIM_EVENTS

# (id, whether the call is still in flight)
_slot: ContextVar[tuple[str, bool] | None] = ContextVar("amplifier_request_id", default=None)


def new_request_id() -> str:
    """Return a fresh id."""
    return str(uuid4())


def current_request_id() -> str | None:
    """Return the id of the call in flight in this context, or None."""
    slot = _slot.get()
    return slot[0] if slot is not None and slot[1] else None


def resolve_request_id(event: str, explicit: str | None = None) -> str | None:
    """Return the id an event carries, and open or close the call as the event says.

    An ``explicit`` id, which the emitter supplied, wins. None for events that carry none, or when
    no call is in flight.
    """
    if event in REQUEST_EVENTS:
        request_id = explicit or new_request_id()
        _slot.set((request_id, True))
        return request_id
    if event in TERMINAL_EVENTS:
        found = explicit or current_request_id()
        if found is not None:
            _slot.set((found, False))
        return found
    if event in INTERIM_EVENTS:
        return explicit or current_request_id()
    return None


def reset_request_id() -> None:
    """Forget the call of this context."""
    _slot.set(None)


_tool_call_id: ContextVar[str | None] = ContextVar("amplifier_tool_call_id", default=None)


def current_tool_call_id() -> str | None:
    """Return the id of the tool call this code runs for, or None outside of one."""
    return _tool_call_id.get()


@contextmanager
def tool_call(tool_call_id: str) -> Iterator[None]:
    """Run the block, and the tasks and threads it starts, for a tool call of this id."""
    token = _tool_call_id.set(tool_call_id)
    try:
        yield
    finally:
        # A call that was given up is closed by the collector, in whatever context that runs.
        with suppress(ValueError):
            _tool_call_id.reset(token)


_aside: ContextVar[Literal["", "wanted", "optional"]] = ContextVar("amplifier_aside", default="")


@contextmanager
def aside(*, optional: bool = False) -> Iterator[None]:
    """Ask a model in the block for what is no part of the conversation, such as a summary.

    Its words are not shown; its tokens count, and its provider's troubles are told, as ever.

    Args:
        optional: Nobody waits for it: where the user would have to be asked first, it fails.
    """
    token = _aside.set("optional" if optional else "wanted")
    try:
        yield
    finally:
        _aside.reset(token)


def is_aside(*, optional: bool = False) -> bool:
    """Return whether this code asks a model on the side, or (`optional`) does so unasked."""
    return _aside.get() == "optional" if optional else bool(_aside.get())
