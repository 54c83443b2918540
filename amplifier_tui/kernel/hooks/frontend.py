"""What a front end gives a session: who is asked, and who shows messages (spec 002)."""

from __future__ import annotations

from typing import Literal, Protocol

from amplifier_tui.kernel.models.hook_result import HookResult


class ApprovalTimeoutError(Exception):
    """Nobody answered in time; the kernel then applies the request's default.

    Args:
        message: What happened.
        default: Applied in place of the request's own, by an approval system that will not let
            silence allow what is risky. None for the request's own.
    """

    def __init__(
        self, message: str = "", *, default: Literal["allow", "deny"] | None = None
    ) -> None:
        super().__init__(message)
        self.default = default


class ApprovalDecision(str):
    """A decision that carries the person's own words.

    It is the chosen option as a string; a non-empty ``reason`` replaces the prompt in the denial
    the model reads.

    Args:
        option: The option chosen, e.g. ``"Deny"``.
        reason: Why, in the person's words.
    """

    reason: str

    def __new__(cls, option: str, reason: str = "") -> ApprovalDecision:
        """Return the option as a string with a reason."""
        decision = super().__new__(cls, option)
        decision.reason = reason
        return decision


class ApprovalSystem(Protocol):
    """Whoever can put a question to the user."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> str:
        """Ask and return the option chosen.

        Args:
            prompt: The question.
            options: The answers offered. Only "Allow", "Allow once" and "Allow always", in any
                case, grant.
            timeout: Seconds to wait.
            default: What the kernel does after a timeout.

        Raises:
            ApprovalTimeoutError: Nobody answered within ``timeout``.
        """
        ...


class HookApprovalSystem:
    """An approval system that is given the hook result itself; an extension of ours.

    The kernel calls `request_for_hook` of such a system in place of `request_approval`, so that it
    can tell which emit asks.
    """

    async def request_for_hook(self, result: HookResult, prompt: str, options: list[str]) -> str:
        """Ask and return the option chosen; see `ApprovalSystem.request_approval`.

        ``result`` is the very object the emit returned, where the orchestrator passes it on.
        """
        raise NotImplementedError


class DisplaySystem(Protocol):
    """Whoever can show the user a line."""

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str = "hook"
    ) -> None:
        """Show a message, which is data and never markup; ``source`` is e.g. ``"hook:linter"``."""
        ...
