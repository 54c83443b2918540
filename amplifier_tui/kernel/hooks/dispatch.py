"""What comes of a hook result: context, questions, messages (spec 002, process_hook_result)."""

import logging
from datetime import UTC, datetime
from typing import Any, Final

from amplifier_tui.base.python import awaited
from amplifier_tui.base.text import encodable
from amplifier_tui.kernel.hooks.frontend import ApprovalTimeoutError, HookApprovalSystem
from amplifier_tui.kernel.hooks.results import injections_of, projection
from amplifier_tui.kernel.models.hook_result import ContextInjection, HookResult, changed

logger = logging.getLogger(__name__)

_GRANTS: Final = frozenset({"allow", "allow once", "allow always"})
_PROMPT_LIMIT: Final = 200
_CHARS_PER_TOKEN: Final = 4


async def process_hook_result(
    coordinator: Any, result: HookResult, event: str, hook_name: str = "unknown"
) -> HookResult:
    """Carry out what a hook result asks for: inject context, ask the user, show a message.

    Returns:
        "continue", "deny" and "modify" come back as they are. "inject_context" comes back
        with what is still to do: its ephemeral injections; "continue" if none are left.
        "ask_user" comes back as "continue" or "deny". What it lists in `context_injections` is
        injected once it is allowed, and comes back likewise.

    Raises:
        ValueError: An injection exceeds ``injection_size_limit``; nothing was injected.
        TypeError: The approval system did not return a string.
    """
    if result.action == "inject_context":
        result = await _inject(coordinator, result, event, hook_name)
    elif result.action == "ask_user":
        answer = await _ask_user(coordinator, result, event, hook_name)
        if answer.action != "continue" or not result.context_injections:
            return answer
        allowed = changed(result, action="inject_context", user_message=None)
        return await _inject(coordinator, allowed, event, hook_name)
    if result.user_message:
        await _show(coordinator, result, hook_name)
    if result.suppress_output:
        logger.debug("Hook '%s' asks to suppress output (event=%s)", hook_name, event)
    return result


async def _inject(coordinator: Any, result: HookResult, event: str, hook_name: str) -> HookResult:
    items = [
        item.model_copy(update={"content": encodable(item.content)})
        for item in injections_of(result, event, hook_name)
    ]
    items = [item for item in items if item.content]
    if not items:
        return result
    _check_sizes(coordinator.injection_size_limit, items)
    for item in items:
        _spend(coordinator, item)
    add_message = getattr(coordinator.get("context"), "add_message", None)
    left: list[ContextInjection] = []
    for item in items:
        if item.ephemeral or add_message is None:
            left.append(item)
            continue
        await awaited(add_message(_message(item)))
    if left:
        return changed(result, **projection(left))
    return changed(result, action="continue", context_injection=None, context_injections=[])


def _check_sizes(limit: int | None, items: list[ContextInjection]) -> None:
    if limit is None:
        return
    for item in items:
        if len(item.content) > limit:
            logger.error(
                "Context injection too large (hook=%s, event=%s, chars=%d, limit=%d)",
                item.hook_name,
                item.event,
                len(item.content),
                limit,
            )
            raise ValueError(f"Context injection exceeds {limit} characters")


def _spend(coordinator: Any, item: ContextInjection) -> None:
    tokens = len(item.content) // _CHARS_PER_TOKEN
    budget = coordinator.injection_budget_per_turn
    current = coordinator._current_turn_injections
    if budget is not None and current + tokens > budget:
        logger.warning(
            "Warning: Hook injection budget exceeded "
            "(hook=%s, current=%d, attempted=%d, budget=%d)",
            item.hook_name,
            current,
            tokens,
            budget,
        )
    coordinator._current_turn_injections = current + tokens
    logger.info(
        "Hook context injection (hook=%s, event=%s, chars=%d, role=%s, tokens=%d, ephemeral=%s)",
        item.hook_name,
        item.event,
        len(item.content),
        item.role,
        tokens,
        item.ephemeral,
    )


def _message(item: ContextInjection) -> dict[str, Any]:
    return {
        "role": item.role,
        "content": item.content,
        "metadata": {
            "source": "hook",
            "hook_name": item.hook_name,
            "event": item.event,
            "timestamp": datetime.now(UTC).isoformat(),
            "requested_role": item.role,
            "ephemeral": False,
            "persisted": True,
        },
    }


async def _ask_user(coordinator: Any, result: HookResult, event: str, hook_name: str) -> HookResult:
    prompt = result.approval_prompt or "Allow this operation?"
    options = list(result.approval_options or ("Allow", "Deny"))
    asker = coordinator.approval_system
    if asker is None:
        logger.error(
            "Hook '%s' asks for approval of '%s', but there is no approval system; denied. "
            "Pass approval_system to the session.",
            hook_name,
            event,
        )
        return HookResult(action="deny", reason="No approval system available")
    try:
        if isinstance(asker, HookApprovalSystem):
            decision: Any = await asker.request_for_hook(result, prompt, options)
        else:
            timeout, default = result.approval_timeout, result.approval_default
            decision = await awaited(asker.request_approval(prompt, options, timeout, default))
    except ApprovalTimeoutError as error:
        return _timed_out(error.default or result.approval_default, prompt, hook_name)
    if not isinstance(decision, str):
        raise TypeError(
            f"The approval system must return one of the options as a string, "
            f"not {type(decision).__name__}"
        )
    if decision.casefold() in _GRANTS:
        logger.info("Approved (hook=%s, event=%s): %s", hook_name, event, _shortened(prompt))
        return HookResult(action="continue")
    if decision.casefold() != "deny":
        logger.warning(
            "Approval answer '%s' (hook=%s) grants nothing, only Allow, Allow once and Allow "
            "always do; denied",
            decision,
            hook_name,
        )
    reason = getattr(decision, "reason", "") or _shortened(prompt)
    return HookResult(action="deny", reason=f"User denied: {reason}")


def _timed_out(default: str, prompt: str, hook_name: str) -> HookResult:
    short = _shortened(prompt)
    if default == "allow":
        logger.warning("Approval timeout - allowed by default (hook=%s): %s", hook_name, short)
        return HookResult(action="continue")
    logger.warning("Approval timeout - denied by default (hook=%s): %s", hook_name, short)
    return HookResult(action="deny", reason=f"Approval timeout - denied by default: {short}")


def _shortened(prompt: str) -> str:
    if len(prompt) <= _PROMPT_LIMIT:
        return prompt
    return f"{prompt[:_PROMPT_LIMIT]}...[truncated]"


async def _show(coordinator: Any, result: HookResult, hook_name: str) -> None:
    message, level = result.user_message, result.user_message_level
    source = f"hook:{result.user_message_source or hook_name}"
    display = coordinator.display_system
    if display is None:
        logger.info("Hook message (%s, from %s): %s", level, source, message)
        return
    try:
        await awaited(display.show_message(message, level, source))
    except Exception:
        logger.exception("The display system could not show a message of %s", source)
