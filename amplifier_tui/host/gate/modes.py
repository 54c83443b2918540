"""What happens to a call no rule speaks of: the table of modes, and which one a plan wants."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Mode

Verdict = Literal["allow", "ask", "deny"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

Act = Literal["read", "write", "look", "guarded", "other"]
"""Reading or writing in the workspace; a command that only reads; a change of what configures
programs; everything else: commands, the network, outside the workspace, tools nobody knows."""

_TABLE: Final[dict[Mode, dict[Act, Verdict]]] = {
    "plan": {"read": "allow", "look": "allow", "write": "deny", "guarded": "deny", "other": "deny"},
    "ask": {"read": "allow", "look": "allow", "write": "ask", "guarded": "ask", "other": "ask"},
    "edits": {"read": "allow", "look": "allow", "write": "allow", "guarded": "ask", "other": "ask"},
    "auto": {"read": "allow", "look": "allow", "write": "allow", "guarded": "ask", "other": "ask"},
}
PLAN_DENIES: Final = "plan mode: propose, do not change"

_POLICIES: Final[dict[str, Mode]] = {"careful": "ask", "standard": "ask", "relaxed": "edits"}
_WORDS: Final[dict[Act, str]] = {
    "read": "reading",
    "look": "commands that only read",
    "write": "writing in the workspace",
    "guarded": "changes of what configures programs",
    "other": (
        "commands that do more than read, the network, keys and passwords, and what lies outside "
        "the workspace"
    ),
}

_AUTO: Final[dict[Verdict, str]] = {
    "allow": "commands that run in the sandbox, which reads all of the workspace",
    "ask": (
        "commands that are critical or run in no sandbox, calls that name where keys and passwords "
        "are, the network, and what lies outside the workspace"
    ),
}
"""The same of everything else in mode auto, in which most commands go."""


def read_mode(text: Any) -> Mode | None:
    """Return the mode of that name, or None."""
    return next((mode for mode in MODES if mode == text), None)


def first_mode(setting: str, value: Any) -> tuple[Mode | None, str]:
    """Return the mode a setting begins a session with, and what is wrong with the setting."""
    from amplifier_tui.foundation.checks.known_keys import mode_problem

    problem = mode_problem(setting, value)
    return (None, problem) if problem else (read_mode(value), "")


def policy_mode(policy: Any) -> tuple[Mode, bool]:
    """Return the mode that a `policy` of hooks-approval means, and whether it is the careful one.

    A policy nobody knows is taken for the careful one.
    """
    mode = _POLICIES.get(policy) if isinstance(policy, str) else None
    return mode or "ask", mode is None or policy == "careful"


def mode_verdict(
    mode: Mode, act: Act, *, careful: bool = False, sandboxed: bool = False
) -> Verdict:
    """Return what a mode does with a call.

    Args:
        careful: Ask about commands that only read, too.
        sandboxed: It is a command, it is not critical, and it would run in a sandbox.
    """
    verdict = _TABLE[mode][act]
    if mode == "auto" and act == "other" and sandboxed:
        return "allow"
    if careful and act == "look" and verdict == "allow" and mode != "auto":
        return "ask"
    return verdict


def mode_words(
    mode: Mode,
    act: Act,
    verdict: Verdict,
    doubt: str = "",
    forbidden: str = "",
    *,
    opens: bool = False,
    strange: bool = False,
) -> str:
    """Return why a mode does with a call what it does.

    Args:
        doubt: What keeps one from telling that it only reads, though it seems to.
        forbidden: What it does that is no change and still not everybody's, such as `touches keys
            or passwords`.
        opens: A rule could let it through where the mode denies it.
        strange: Nobody knows its tool, and nothing else is to be said of it.
    """
    if verdict == "deny":
        if opens and act == "other":
            what = forbidden or "reaches the network"
            return f"plan mode: only what a rule allows goes through that {what}"
        if forbidden:
            return f"plan mode: nothing goes through that {forbidden}"
        if doubt and act == "other":
            return f"plan mode: only what surely only reads goes through; not sure here: {doubt}"
        return PLAN_DENIES
    done = "asks before" if verdict == "ask" else "lets through"
    if strange and act == "other" and verdict == "ask":
        return f"mode {mode}: asks before tools it knows nothing of"
    if mode == "auto" and act == "other":
        return f"mode auto: {done} {_AUTO[verdict]}"
    if doubt and act == "other" and verdict == "ask":
        return f"mode {mode}: asks unless a command surely only reads; not sure here: {doubt}"
    return f"mode {mode}: {done} {_WORDS[act]}"


APPROVAL: Final = "hooks-approval"
"""The module whose rules are the bundle's."""


@dataclass(frozen=True, slots=True)
class PlannedPolicy:
    """What a plan wants.

    Attributes:
        mode: The mode to begin with.
        by: Who says so; empty for the default.
        careful: Ask about commands that only read, too.
        rules: Its rules as they are written, each behind what it does.
        timeout: Seconds the user has; None for as long as it takes.
        problems: What could not be read, in sentences; then it is careful.
    """

    mode: Mode = "ask"
    by: str = ""
    careful: bool = False
    rules: tuple[tuple[Verdict, Any], ...] = ()
    timeout: float | None = None
    problems: tuple[str, ...] = ()


def read_policy(plan: Mapping[str, Any], bundle: str = "") -> PlannedPolicy:
    """Return what a mount plan wants of the gate; nobody is asked whether it may."""
    section = plan.get("session")
    wanted = section.get("mode") if isinstance(section, Mapping) else None
    mode, problem = first_mode("session.mode", wanted)
    by, problems = bundle, [problem] if problem else []
    careful, timeout = False, None
    rules: list[tuple[Verdict, Any]] = []
    for config in _configs(plan):
        by_policy, is_careful = policy_mode(config.get("policy", "standard"))
        careful = careful or is_careful
        if mode is None and by_policy != "ask":
            mode = by_policy
        given = config.get("timeout", 300.0)
        timeout = float(given) if isinstance(given, int | float) and given > 0 else 300.0
        for verdict in VERDICTS:
            rules += ((verdict, text) for text in _listed(config.get(verdict)))
    if mode is None:
        mode, by = "ask", ""
    return PlannedPolicy(
        mode,
        by,
        careful or bool(problems),
        tuple(rules),
        timeout,
        tuple(problems),
    )


def _configs(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    hooks = plan.get("hooks")
    for entry in hooks if isinstance(hooks, list) else ():
        if isinstance(entry, Mapping) and entry.get("module") == APPROVAL:
            config = entry.get("config")
            yield config if isinstance(config, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
