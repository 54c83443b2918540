"""What a turn that did not end well leaves in the conversation.

The next turn has to find a conversation any provider accepts: the words the model got out are
kept, and every tool call has a result.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

from amplifier_tui.base.messages.tool_calls import calls_of, failed_result, unanswered
from amplifier_tui.base.python import awaited
from amplifier_tui.host.messages import INTERRUPTED

logger = logging.getLogger(__name__)

STOPPED: Final = (
    "Stopped before it ended. It may have done a part of its work: check before you rely on it "
    "or repeat it."
)

RETRY_HOOK: Final = "amplifier-tui-retry"
BROKE_OFF: Final = "Your last answer broke off because of an error. Go on from there."


async def keep_prompt(context: Any, text: str) -> bool:
    """Add a prompt that was stopped before the conversation had it; returns whether that worked."""
    return context is not None and await _add(context, {"role": "user", "content": text})


async def keep_answer(context: Any, text: str) -> bool:
    """Add an answer that the orchestrator returned and did not add; returns whether that worked."""
    return context is not None and await _add(context, {"role": "assistant", "content": text})


async def keep_partial_answer(context: Any, texts: Sequence[str]) -> bool:
    """Add the blocks of text the model got out as its answer, marked as interrupted.

    Returns:
        Whether there was anything to keep.
    """
    if context is None or not texts:
        return False
    row = {
        "role": "assistant",
        "content": [{"type": "text", "text": text} for text in texts],
        "metadata": {INTERRUPTED: True},
    }
    return await _add(context, row)


async def answer_dangling_calls(context: Any) -> int:
    """Give every tool call without a result one that says it was stopped; returns how many."""
    if context is None:
        return 0
    try:
        messages = await awaited(context.get_messages())
    except (Exception, SystemExit):
        logger.exception("The conversation could not be read")
        return 0
    answered = 0
    for call in unanswered(list(messages)):
        row = failed_result(call.call_id, call.name, STOPPED, mark=INTERRUPTED)
        answered += await _add(context, row)
    return answered


async def mend_broken_answer(context: Any) -> None:
    """Before a turn is gone on with: an answer that broke off is nothing a model can go on from.

    Many refuse a conversation that ends with their own words.
    """
    messages = await awaited(context.get_messages())
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and not any(calls_of(last)):
        metadata = {"source": "hook", "hook_name": RETRY_HOOK}
        await _add(context, {"role": "user", "content": BROKE_OFF, "metadata": metadata})


async def _add(context: Any, row: dict[str, Any]) -> bool:
    try:
        await awaited(context.add_message(row))
    except (Exception, SystemExit):
        logger.exception("The context refused a row that completes the conversation")
        return False
    return True
