from amplifier_tui.kernel import capabilities, events

IN_ORDER = [
    "session:start",
    "session:end",
    "session:fork",
    "session:resume",
    "prompt:submit",
    "prompt:complete",
    "plan:start",
    "plan:end",
    "provider:request",
    "provider:response",
    "provider:retry",
    "provider:error",
    "provider:throttle",
    "provider:tool_sequence_repaired",
    "provider:resolve",
    "llm:request",
    "llm:response",
    "content_block:start",
    "content_block:delta",
    "content_block:end",
    "thinking:delta",
    "thinking:final",
    "tool:pre",
    "tool:post",
    "tool:error",
    "context:pre_compact",
    "context:post_compact",
    "context:compaction",
    "context:include",
    "orchestrator:complete",
    "execution:start",
    "execution:end",
    "user:notification",
    "artifact:write",
    "artifact:read",
    "policy:violation",
    "approval:required",
    "approval:granted",
    "approval:denied",
    "cancel:requested",
    "cancel:completed",
    "module:on_session_ready_failed",
    "module:load_failed",
]


def test_all_events_are_these_in_this_order() -> None:
    assert IN_ORDER == events.ALL_EVENTS
    assert isinstance(events.ALL_EVENTS, list)
    assert len(events.ALL_EVENTS) == 43


def test_each_event_has_a_constant_of_its_name() -> None:
    for event in IN_ORDER:
        assert getattr(events, event.upper().replace(":", "_")) == event


def test_session_config_has_none() -> None:
    assert not hasattr(events, "SESSION_CONFIG")
    assert "session:config" not in events.ALL_EVENTS


def test_the_capabilities_are_a_list_of_these() -> None:
    names = (
        "TOOLS STREAMING THINKING VISION JSON_MODE FAST CODE_EXECUTION WEB_SEARCH DEEP_RESEARCH "
        "LOCAL AUDIO IMAGE_GENERATION COMPUTER_USE EMBEDDINGS LONG_CONTEXT BATCH"
    )
    expected = [name.lower() for name in names.split()]
    assert expected == capabilities.ALL_WELL_KNOWN_CAPABILITIES
    assert isinstance(capabilities.ALL_WELL_KNOWN_CAPABILITIES, list)
    for name in names.split():
        assert getattr(capabilities, name) == name.lower()
