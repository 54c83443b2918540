"""Commands that are a method of one part of the open session: passed on as they are."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from inspect import isawaitable
from typing import Any, Concatenate, ParamSpec, TypeVar

from amplifier_tui.host.door.commands.holder import SessionHolder
from amplifier_tui.host.session.live import LiveSession

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
Command = Callable[Concatenate[SessionHolder, P], Coroutine[Any, Any, T]]


def asked(
    method: Callable[Concatenate[S, P], Awaitable[T]], of: Callable[[LiveSession], S]
) -> Command[P, T]:
    """Make a question to a part of the open session; without one it raises `RuntimeError`.

    Args:
        of: Finds the part.
    """

    @wraps(method)
    async def command(self: SessionHolder, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await method(of(self._session), *args, **kwargs)

    return command


def told(
    method: Callable[Concatenate[S, P], Awaitable[None] | None],
    of: Callable[[LiveSession], S],
    *,
    quiet: bool = False,
) -> Command[P, None]:
    """Make an order to a part of the open session; without one the user is told that, no more.

    Args:
        of: Finds the part.
        quiet: The user need not be told: what it is about went with its session.
    """

    @wraps(method)
    async def command(self: SessionHolder, /, *args: P.args, **kwargs: P.kwargs) -> None:
        live = self._live if quiet else self._opened()
        if live is not None and isawaitable(doing := method(of(live), *args, **kwargs)):
            await doing

    return command
