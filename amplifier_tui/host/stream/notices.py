"""Events that are worth a line in the status bar."""

from collections.abc import Mapping
from typing import Any, Final

from amplifier_tui.host.events import MAIN_LANE, Level, NoticeEnd
from amplifier_tui.host.stream.results import error_text, first_line
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel.hooks import HookMessage, HookRegistry
from amplifier_tui.kernel.llm_errors import AbortError

Line = tuple[Level, str, str]
"""Level, text and source of a notice."""

_LEVELS: Final[dict[str, Level]] = {
    "info": "info",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "critical": "error",
}


DECLINED: Final = ("content_filter", "refusal")
"""The `finish_reason` of an answer that the model or its provider would not give."""

_FINISHED: Final[Mapping[str, str]] = {
    **dict.fromkeys(DECLINED, "The model declined to answer: ask in other words, or go back"),
    "length": "The answer ends at the output limit: ask to go on, or for less at once",
}
"""What is said of an answer that ended before its end, by its `finish_reason` (spec: providers)."""

LINES: Final = (
    "provider:throttle",
    "provider:error",
    "orchestrator:rate_limit_delay",
    "policy:violation",
    "module:on_session_ready_failed",
    "cleanup:failed",
    "user:notification",
)
"""Events that are a line whenever they come."""


def line_of(event: str, data: Mapping[str, Any]) -> Line | None:
    """Return the line for an event; None when it has nothing to say."""
    problem = first_line(error_text(data.get("error")))
    wait = _seconds(data.get("delay") or data.get("retry_after") or data.get("delay_seconds"))
    source = str(data.get("provider") or data.get("orchestrator") or data.get("source") or "")
    level: Level = "warning"
    match event:
        case "provider:throttle":
            text = _joined("The provider slows us down", f"waiting {wait}" if wait else "")
        case "provider:error" if _kind(data) != AbortError.__name__:
            # That one is of whoever asked: it stopped at a limit, and how the turn ends says so.
            level, text = "error", problem or "The provider failed"
        case "provider:response":
            text = _FINISHED.get(str(data.get("finish_reason")), "")
        case "llm:stream_aborted":
            text = _joined("The answer broke off", problem)
        case "orchestrator:rate_limit_delay":
            level, text = "info", f"Waiting {wait or 'a moment'} for the rate limit"
        case "policy:violation":
            reason = data.get("message") or data.get("reason") or data.get("policy") or ""
            text = _joined("Against a policy", str(reason))
        case "module:on_session_ready_failed":
            source = str(data.get("module_id") or "a module")
            text = f"{source} is not ready: {first_line(str(data.get('error') or ''))}"
        case "cleanup:failed":
            source = str(data.get("module") or "a module")
            at = f" ({data['place']})" if data.get("place") else ""
            text = f"{source} did not clean up: {problem}{at}"
        case "user:notification":
            level = _LEVELS.get(str(data.get("level") or "info").casefold(), "info")
            text = str(data.get("message") or data.get("text") or "")
            source = str(data.get("source") or "")
        case _:
            text = ""
    return (level, text, source) if text else None


ENDS: Final[Mapping[str, NoticeEnd]] = {
    "provider:throttle": "answer",
    # A turn that ends with it says it in the conversation.
    "provider:error": "answer",
    # Where the request is sent again, what comes then is whole; where it fails, that is said.
    "llm:stream_aborted": "answer",
    "orchestrator:rate_limit_delay": "answer",
}
"""What makes the line of an event untrue."""


def retry_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `ProviderRetrying` for a `provider:retry`."""
    delay = data.get("delay") or data.get("retry_after") or data.get("delay_seconds")
    known = isinstance(delay, int | float) and not isinstance(delay, bool)
    return {
        "provider": str(data.get("provider") or ""),
        "attempt": _count(data.get("attempt")),
        "most": _count(data.get("max_retries")),
        "delay": max(0.0, float(delay)) if known and delay else 0.0,
        # Words follow it wherever it is shown.
        "problem": first_line(error_text(data.get("error"))).rstrip("."),
        "status": _count(data.get("status_code")),
    }


def _kind(data: Mapping[str, Any]) -> str:
    """Return the name of the error's class that an event tells of; empty where it tells none."""
    error = data.get("error")
    return str(error.get("type") or "") if isinstance(error, Mapping) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _joined(text: str, more: str) -> str:
    return f"{text}: {more}" if more else text


def _seconds(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return ""
    return f"{value:.0f} s" if value >= 1 else f"{value:.1f} s"


TEXT_LIMIT: Final = 4_000


class Display:
    """The kernel's `DisplaySystem` of one session (spec 002, hook result processing).

    Args:
        lane: The agent whose session it is.
    """

    def __init__(self, sender: Sender, lane: str = MAIN_LANE) -> None:
        self._sender = sender
        self._lane = lane

    def follow(self, hooks: HookRegistry) -> None:
        """Show what any hook of the session tells the user."""
        hooks.show_messages(self._show)

    def _show(self, message: HookMessage) -> None:
        who = message.source or message.module or message.handler
        self.show_message(message.text, message.level, f"hook:{who}")

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message; see `kernel.display.DisplaySystem`."""
        known = _LEVELS.get(str(level), "info")
        self._sender.notice(known, str(message)[:TEXT_LIMIT], str(source), self._lane)

    def push_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent begins to speak. Nothing to do: its lane says so already."""

    def pop_nesting(self, *args: Any, **kwargs: Any) -> None:
        """A sub-agent has ended. Nothing to do: its lane says so already."""
