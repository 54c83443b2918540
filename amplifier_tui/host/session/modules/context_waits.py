"""Says which context module a session waits for, when one takes long to answer."""

import asyncio
import functools
import inspect
from typing import Any, Final

from amplifier_tui.host.stream.sender import Sender

TOLD_AFTER: Final = 5.0
"""Seconds without an answer."""
_METHODS: Final = (
    *("add_message", "get_messages_for_request", "get_messages", "set_messages", "clear"),
    *("should_compact", "compact"),
)
"""Those of the context contract (spec 000), and what older contexts have besides."""


def tell_waits(context: Any, module_id: str, sender: Sender) -> None:
    """Have it told, once for each method, that a context takes long to answer.

    The methods are wrapped, on the instance; a context with slots, where they can't be, is left as
    it is.

    Args:
        module_id: Of the module that mounted the context.
    """
    for name in _METHODS:
        original = getattr(context, name, None)
        if not inspect.iscoroutinefunction(original):
            continue
        try:
            setattr(context, name, _Timed(name, module_id, sender).wrapped(original))
        except (AttributeError, TypeError):
            return


class _Timed:
    """Times the calls of one method."""

    def __init__(self, method: str, module_id: str, sender: Sender) -> None:
        self._method = method
        self._module_id = module_id
        self._sender = sender
        self._told = False

    def wrapped(self, original: Any) -> Any:
        """Return the method with a clock beside it."""

        @functools.wraps(original)
        async def timed(*args: Any, **kwargs: Any) -> Any:
            clock = asyncio.get_running_loop().call_later(TOLD_AFTER, self._tell)
            try:
                return await original(*args, **kwargs)
            finally:
                clock.cancel()

        return timed

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            text = f"Waiting for {self._method} of {self._module_id}, which has not answered yet"
            self._sender.notice("warning", text, self._module_id)
