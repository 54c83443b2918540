"""Learns from a session's events what a request really took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_tui.base.tokens import MESSAGE_TOKENS, text_tokens
from amplifier_tui.context.request.view import ContextView
from amplifier_tui.kernel import events


class UsageWatch:
    """Anchors a view's estimates in the usage that responses report.

    It also sees what hooks add to a single request, which is in no ledger, so that the report can
    name it.

    Args:
        view: Whose estimates.
    """

    def __init__(self, view: ContextView) -> None:
        self._view = view
        self._waiting: dict[str, int] = {}

    def register(self, hooks: Any, name: str) -> Callable[[], None]:
        """Listen to a session.

        Args:
            hooks: Its hook registry.
            name: Name of the module, for the log.

        Returns:
            A function that ends it.
        """
        ends = [
            hooks.register(events.LLM_RESPONSE, self._on_response, name=name),
            hooks.register(events.PROVIDER_RESPONSE, self._on_response, name=name),
            hooks.register(events.CONTENT_BLOCK_END, self._on_block, name=name),
        ]
        observe = getattr(hooks, "observe", None)
        if callable(observe):
            ends.append(observe(self._on_trace))

        def end() -> None:
            for stop in ends:
                stop()

        return end

    async def _on_response(self, event: str, data: dict[str, Any]) -> None:
        self._take(data.get("usage"))

    async def _on_block(self, event: str, data: dict[str, Any]) -> None:
        # Some orchestrators repeat the usage with every block: only the last one is after all.
        index, total = data.get("block_index"), data.get("total_blocks")
        if isinstance(index, int) and isinstance(total, int) and index < total - 1:
            return
        self._take(data.get("usage"))

    def _take(self, usage: Any) -> None:
        if usage and self._view.meter.counted(usage):
            self._view.ephemeral, self._waiting = self._waiting, {}
            # The response comes with several events; one count is enough.
            self._view.meter.settled()

    def _on_trace(self, trace: Any) -> None:
        result = trace.result
        if getattr(result, "action", None) != "inject_context":
            return
        for item in getattr(result, "context_injections", None) or ():
            if item.ephemeral and item.content:
                source = f"hook:{item.hook_name}"
                tokens = text_tokens(item.content) + MESSAGE_TOKENS
                self._waiting[source] = self._waiting.get(source, 0) + tokens
