"""The text of an answer while it streams, for the case that it is cut short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.utils.stream import STREAM_ABORTED, STREAM_BLOCK_DELTA

Listener = Callable[[str, dict[str, Any]], None]


def observe(hooks: Any, listener: Listener) -> Callable[[], None]:
    """Call ``listener`` with every event and its data.

    Args:
        hooks: The hook registry. One that can't be observed is left alone.
        listener: Plain function; it must not change the data.

    Returns:
        A function that ends it.
    """
    register = getattr(hooks, "observe", None)
    if not callable(register):
        return lambda: None

    def callback(trace: HookTrace) -> None:
        listener(trace.event, trace.data)

    stop: Callable[[], None] = register(callback)
    return stop


class PartialAnswer:
    """Collects what one call of a provider streams.

    Args:
        hooks: Where the stream's events are emitted.
    """

    def __init__(self, hooks: Any) -> None:
        self._hooks = hooks
        self._requests: dict[str, dict[int, list[str]]] = {}
        self._stop: Callable[[], None] = lambda: None

    @property
    def text(self) -> str:
        """The words so far, without reasoning and without what was aborted."""
        answers = (
            "\n\n".join("".join(pieces) for _, pieces in sorted(blocks.items()))
            for blocks in self._requests.values()
        )
        return "".join(answers)

    def __enter__(self) -> PartialAnswer:
        self._stop = observe(self._hooks, self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _listen(self, event: str, data: dict[str, Any]) -> None:
        request = str(data.get("request_id"))
        if event == STREAM_ABORTED:
            self._requests.pop(request, None)
        elif event == STREAM_BLOCK_DELTA and data.get("block_type") == "text":
            blocks = self._requests.setdefault(request, {})
            blocks.setdefault(int(data.get("block_index") or 0), []).append(
                str(data.get("text") or "")
            )
