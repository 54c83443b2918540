"""A tool call or a hook waits for the user, and is answered."""

from dataclasses import dataclass
from typing import Literal

from amplifier_tui.host.events.base import HostEvent
from amplifier_tui.host.events.records import ApprovalOutcome, Risk, Scope, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(HostEvent):
    """A tool call or hook waits for the user.

    Attributes:
        request_id: Handle for `SessionClient.decide`.
        call_id: The tool call it belongs to, when known.
        tool: The tool's name, empty when a hook asks outside a tool call.
        asker: The module or hook that asks.
        action: One sentence: `bash wants to run a command`.
        prompt: The asker's own words.
        payload: The exact thing to be allowed: command line, arguments as JSON, or text.
        payload_kind: How to draw `payload`.
        segments: The simple commands of a compound command line.
        diff: Unified diff of the change that would be made, else empty.
        risk: The word; `reasons` say why.
        cwd: Where it would run.
        paths: Files it names.
        outside: Some path lies outside the workspace.
        why: Rule, hook or default that made it stop.
        options: The asker's own options, when they are not the usual ones.
        timeout: Seconds until `default` is taken; None waits for ever.
        default: What a timeout does.
        scopes: What may be remembered.
        rule: The rule that remembering would store, verbatim.
    """

    request_id: str
    asker: str
    action: str
    prompt: str = ""
    call_id: str = ""
    tool: str = ""
    payload: str = ""
    payload_kind: Literal["command", "json", "text", "none"] = "none"
    segments: tuple[Segment, ...] = ()
    diff: str = ""
    risk: Risk = "medium"
    reasons: tuple[str, ...] = ()
    cwd: str = ""
    paths: tuple[str, ...] = ()
    outside: bool = False
    why: str = ""
    options: tuple[str, ...] = ()
    timeout: float | None = None
    default: Literal["allow", "deny"] = "deny"
    scopes: tuple[Scope, ...] = ("once",)
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(HostEvent):
    """A request was answered, by the user, a standing rule, the clock or a stop."""

    request_id: str
    outcome: ApprovalOutcome
    by: Literal["user", "rule", "timeout", "stop"] = "user"
    scope: Scope = "once"
    reason: str = ""
    call_id: str = ""
    tool: str = ""
    rule: str = ""
