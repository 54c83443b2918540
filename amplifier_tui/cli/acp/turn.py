"""A prompt that an editor waits for, and how its turn ends."""

import asyncio
from typing import Final

from acp import RequestError, schema

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, with_remedy
from amplifier_tui.host.events import Failed, Mode, TurnEnded

_REASONS: Final[dict[str, schema.StopReason]] = {
    "success": "end_turn",
    "incomplete": "max_turn_requests",
    "cancelled": "cancelled",
}


@dataclass(slots=True)
class EditorTurn:
    """What is known of the turn of a prompt.

    Attributes:
        failure: What went wrong in its turn.
        plan: The question what becomes of the plan that it ended in.
    """

    answer: "asyncio.Future[schema.PromptResponse]"
    failure: Failed | None = None
    plan: "asyncio.Task[Mode | None] | None" = None

    def fail(self, error: BaseException) -> None:
        """Tell the editor that it comes to nothing."""
        if self.plan is not None:
            self.plan.cancel()
        if not self.answer.done():
            self.answer.set_exception(error)

    def settle(self, event: TurnEnded) -> None:
        """Tell the editor how the turn ended that it waits for."""
        if self.answer.done():
            return
        failure = self.failure
        if failure is not None and failure.kind == "denied":
            self.answer.set_result(schema.PromptResponse(stop_reason="refusal"))
        elif event.status != "cancelled" and (event.status == "error" or failure is not None):
            text = (
                with_remedy(failure.message, failure.remedy)
                if failure is not None
                else "The turn failed"
            )
            code = -32000 if failure is not None and failure.kind == "authentication" else -32603
            self.answer.set_exception(RequestError(code, one_line(text, 2_000)))
        else:
            used = event.usage
            usage = schema.Usage(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                total_tokens=used.input_tokens + used.output_tokens,
                thought_tokens=used.reasoning_tokens or None,
                cached_read_tokens=used.cache_read_tokens or None,
                cached_write_tokens=used.cache_write_tokens or None,
            )
            reason = _REASONS.get(event.status, "end_turn")
            # After a refusal editors take the prompt out of the conversation, in which it stays
            # where a hook refused to go on.
            reason = "refusal" if event.declined else "end_turn" if event.denied else reason
            self.answer.set_result(schema.PromptResponse(stop_reason=reason, usage=usage))
