"""Names of the kernel's events. Emitting any other name is fine too."""

from typing import Final

SESSION_START: Final = "session:start"
SESSION_END: Final = "session:end"
SESSION_FORK: Final = "session:fork"
SESSION_RESUME: Final = "session:resume"
PROMPT_SUBMIT: Final = "prompt:submit"
PROMPT_COMPLETE: Final = "prompt:complete"
PLAN_START: Final = "plan:start"
PLAN_END: Final = "plan:end"
PROVIDER_REQUEST: Final = "provider:request"
PROVIDER_RESPONSE: Final = "provider:response"
PROVIDER_RETRY: Final = "provider:retry"
PROVIDER_ERROR: Final = "provider:error"
PROVIDER_THROTTLE: Final = "provider:throttle"
PROVIDER_TOOL_SEQUENCE_REPAIRED: Final = "provider:tool_sequence_repaired"
PROVIDER_RESOLVE: Final = "provider:resolve"
LLM_REQUEST: Final = "llm:request"
LLM_RESPONSE: Final = "llm:response"
CONTENT_BLOCK_START: Final = "content_block:start"
CONTENT_BLOCK_DELTA: Final = "content_block:delta"
CONTENT_BLOCK_END: Final = "content_block:end"
THINKING_DELTA: Final = "thinking:delta"
THINKING_FINAL: Final = "thinking:final"
TOOL_PRE: Final = "tool:pre"
TOOL_POST: Final = "tool:post"
TOOL_ERROR: Final = "tool:error"
CONTEXT_PRE_COMPACT: Final = "context:pre_compact"
CONTEXT_POST_COMPACT: Final = "context:post_compact"
CONTEXT_COMPACTION: Final = "context:compaction"
CONTEXT_INCLUDE: Final = "context:include"
ORCHESTRATOR_COMPLETE: Final = "orchestrator:complete"
EXECUTION_START: Final = "execution:start"
EXECUTION_END: Final = "execution:end"
USER_NOTIFICATION: Final = "user:notification"
ARTIFACT_WRITE: Final = "artifact:write"
ARTIFACT_READ: Final = "artifact:read"
POLICY_VIOLATION: Final = "policy:violation"
APPROVAL_REQUIRED: Final = "approval:required"
APPROVAL_GRANTED: Final = "approval:granted"
APPROVAL_DENIED: Final = "approval:denied"
CANCEL_REQUESTED: Final = "cancel:requested"
CANCEL_COMPLETED: Final = "cancel:completed"
MODULE_ON_SESSION_READY_FAILED: Final = "module:on_session_ready_failed"
MODULE_LOAD_FAILED: Final = "module:load_failed"

ALL_EVENTS: Final[list[str]] = [
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
]
"""Every event with a constant above, in the order a session may meet them."""

JUDGED: Final = frozenset({PROMPT_SUBMIT, PROVIDER_REQUEST, TOOL_PRE, TOOL_POST})
"""Announce what a hook may deny, or have the user asked about."""

_ANYBODYS: Final = {PLAN_START, PLAN_END, POLICY_VIOLATION, USER_NOTIFICATION}
TOLD: Final = frozenset(ALL_EVENTS) - JUDGED - _ANYBODYS
"""Only tell what happens: who emits them does not heed a denial. Of others it is not known."""

CLEANUP_FAILED: Final = "cleanup:failed"
"""``{cleanup, error}`` for each cleanup function that failed, after all of them ran."""

STREAM_BLOCK_START: Final = "llm:stream_block_start"
STREAM_BLOCK_DELTA: Final = "llm:stream_block_delta"
STREAM_BLOCK_END: Final = "llm:stream_block_end"
STREAM_ABORTED: Final = "llm:stream_aborted"
