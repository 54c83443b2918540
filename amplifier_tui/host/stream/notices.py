"""Events that are worth a line in the status bar."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.host.events import MAIN_LANE, Level
from amplifier_tui.host.stream.results import error_text, first_line
from amplifier_tui.host.stream.sender import Sender

logger = logging.getLogger(__name__)

Line = tuple[Level, str, str]
"""Level, text and source of a notice."""

_LEVELS: Final[dict[str, Level]] = {
    "info": "info",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "critical": "error",
}


def retry_line(data: Mapping[str, Any]) -> Line:
    """`provider:retry`."""
    attempt, most = data.get("attempt"), data.get("max_retries")
    count = f" ({attempt} of {most})" if attempt and most else ""
    wait = _seconds(data.get("delay") or data.get("retry_after"))
    problem = first_line(error_text(data.get("error")))
    text = f"Trying again{f' in {wait}' if wait else ''}{count}"
    return "warning", f"{text}: {problem}" if problem else text, _source(data)


def throttle_line(data: Mapping[str, Any]) -> Line:
    """`provider:throttle`."""
    wait = _seconds(data.get("delay") or data.get("retry_after"))
    text = "The provider slows us down" + (f": waiting {wait}" if wait else "")
    return "warning", text, _source(data)


def error_line(data: Mapping[str, Any]) -> Line:
    """`provider:error`."""
    problem = first_line(error_text(data.get("error"))) or "The provider failed"
    return "error", problem, _source(data)


def aborted_line(data: Mapping[str, Any]) -> Line:
    """`llm:stream_aborted`."""
    problem = first_line(error_text(data.get("error")))
    text = "The answer broke off"
    return "warning", f"{text}: {problem}" if problem else text, _source(data)


def notification_line(data: Mapping[str, Any]) -> Line:
    """`user:notification`."""
    level = _LEVELS.get(str(data.get("level") or "info").casefold(), "info")
    text = str(data.get("message") or data.get("text") or "")
    return level, text, str(data.get("source") or "")


def not_ready_line(data: Mapping[str, Any]) -> Line:
    """`module:on_session_ready_failed`."""
    module = str(data.get("module_id") or "a module")
    return "warning", f"{module} is not ready: {first_line(str(data.get('error') or ''))}", module


def policy_line(data: Mapping[str, Any]) -> Line:
    """`policy:violation`."""
    text = str(data.get("message") or data.get("reason") or data.get("policy") or "")
    return "warning", f"Against a policy: {text}" if text else "Against a policy", _source(data)


def limit_line(data: Mapping[str, Any]) -> Line:
    """`orchestrator:rate_limit_delay`."""
    wait = _seconds(data.get("delay") or data.get("delay_seconds"))
    return "info", f"Waiting {wait or 'a moment'} for the rate limit", _source(data)


def _seconds(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return ""
    return f"{value:.0f} s" if value >= 1 else f"{value:.1f} s"


def _source(data: Mapping[str, Any]) -> str:
    return str(data.get("provider") or data.get("orchestrator") or data.get("source") or "")


TEXT_LIMIT: Final = 4_000


class Display:
    """The kernel's `DisplaySystem` (spec 002, hook result processing)."""

    def __init__(self, sender: Sender, lane: str = MAIN_LANE) -> None:
        self._sender = sender
        self._lane = lane

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message; see `kernel.display.DisplaySystem`."""
        known = _LEVELS.get(str(level), "info")
        self._sender.notice(known, str(message)[:TEXT_LIMIT], str(source), self._lane)

    def push_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent begins to speak. Nothing to do: its lane says so already."""

    def pop_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent has ended. Nothing to do: its lane says so already."""
