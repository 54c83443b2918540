"""Test classes for authors of modules: inherit from one, and pytest checks your module.

The structural ones run the validator of a kind; the behavioral ones try the mounted module. The
fixtures come from the pytest plugin. Only test suites import this.
"""

from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from amplifier_tui.base.python import awaited, signature_of
from amplifier_tui.kernel.hooks import HookResult, HookTrace
from amplifier_tui.kernel.hooks.results import INVALID_RESPONSE
from amplifier_tui.kernel.llm_errors import LLMError
from amplifier_tui.kernel.message_models import ChatResponse, TextBlock
from amplifier_tui.kernel.models import ModelInfo, ProviderInfo, ToolResult
from amplifier_tui.kernel.mounting.mount import METHODS
from amplifier_tui.kernel.validation.base import VALID_HOOK_ACTIONS
from amplifier_tui.kernel.validation.base import check_on_session_ready as check_on_session_ready
from amplifier_tui.kernel.validation.kinds import VALIDATORS


class _StructuralTests:
    kind: ClassVar[str]

    @pytest.mark.asyncio
    async def test_structural_validation(self, module_path: Path | None) -> None:
        if module_path is None:
            pytest.skip("No module path detected")
        result = await VALIDATORS[self.kind]().validate(module_path)
        problems = [f"{c.name}: {c.message}. {c.remedy}".strip() for c in result.errors]
        assert result.passed, "\n".join([result.summary(), *problems])


class ProviderStructuralTests(_StructuralTests):
    """Validates a provider module."""

    kind = "provider"


class ToolStructuralTests(_StructuralTests):
    """Validates a tool module."""

    kind = "tool"


class HookStructuralTests(_StructuralTests):
    """Validates a hook module."""

    kind = "hook"


class OrchestratorStructuralTests(_StructuralTests):
    """Validates an orchestrator module."""

    kind = "orchestrator"


class ContextStructuralTests(_StructuralTests):
    """Validates a context module."""

    kind = "context"


class ProviderBehaviorTests:
    """Runs on the first provider the module mounts; nothing is sent to a model."""

    pytestmark = pytest.mark.asyncio

    async def test_mount_succeeds(self, provider_module: Any) -> None:
        assert provider_module is not None

    async def test_get_info_returns_valid_provider_info(self, provider_module: Any) -> None:
        """It says who it is without a network."""
        info = provider_module.get_info()
        assert isinstance(info, ProviderInfo), f"get_info() returned {type(info).__name__}"
        assert info.id
        assert info.display_name

    async def test_list_models_returns_list(self, provider_module: Any) -> None:
        """It lists its models; skipped where that needs an API that does not answer."""
        try:
            models = await provider_module.list_models()
        except (LLMError, OSError) as error:
            pytest.skip(f"list_models() needs the API: {error}")
        assert isinstance(models, list)
        assert all(isinstance(model, ModelInfo) for model in models)

    async def test_provider_has_name_attribute(self, provider_module: Any) -> None:
        assert isinstance(provider_module.name, str)
        assert provider_module.name

    async def test_parse_tool_calls_returns_list(self, provider_module: Any) -> None:
        response = ChatResponse(content=[TextBlock(text="Hello")])
        assert list(provider_module.parse_tool_calls(response)) == []


class ToolBehaviorTests:
    """Runs on the first tool the module mounts."""

    pytestmark = pytest.mark.asyncio

    async def test_mount_succeeds(self, tool_module: Any) -> None:
        assert tool_module is not None

    async def test_tool_has_name(self, tool_module: Any) -> None:
        assert isinstance(tool_module.name, str)
        assert tool_module.name

    async def test_tool_has_description(self, tool_module: Any) -> None:
        assert isinstance(tool_module.description, str)
        assert tool_module.description

    async def test_tool_has_execute_method(self, tool_module: Any) -> None:
        assert callable(tool_module.execute)

    async def test_execute_returns_tool_result(self, tool_module: Any) -> None:
        result = await tool_module.execute({"_tool_call_id": "call-1"})
        assert isinstance(result, ToolResult), f"execute() returned {type(result).__name__}"

    async def test_tool_result_has_required_fields(self, tool_module: Any) -> None:
        """The result says whether it worked, and has output or an error."""
        result = await tool_module.execute({})
        assert isinstance(result.success, bool)
        assert result.success or result.error or result.output, "a failure says what went wrong"

    async def test_invalid_input_returns_error_result(self, tool_module: Any) -> None:
        result = await tool_module.execute({"no_such_argument": [None]})
        assert isinstance(result, ToolResult), f"execute() returned {type(result).__name__}"


class ContextBehaviorTests:
    """Runs on the context the module mounts."""

    pytestmark = pytest.mark.asyncio

    async def test_mount_succeeds(self, context_module: Any) -> None:
        assert context_module is not None

    async def test_context_has_required_methods(self, context_module: Any) -> None:
        missing = [
            name for name in METHODS["context"] if not callable(getattr(context_module, name, None))
        ]
        assert not missing, f"missing: {', '.join(missing)}"

    async def test_message_round_trip(self, context_module: Any) -> None:
        await context_module.add_message({"role": "user", "content": "Hello"})
        assert [m["content"] for m in await context_module.get_messages()] == ["Hello"]

    async def test_multiple_messages(self, context_module: Any) -> None:
        texts = ["one", "two", "three"]
        for index, text in enumerate(texts):
            role = "assistant" if index % 2 else "user"
            await context_module.add_message({"role": role, "content": text})
        assert [m["content"] for m in await context_module.get_messages()] == texts

    async def test_clear_removes_messages(self, context_module: Any) -> None:
        await context_module.add_message({"role": "user", "content": "Hello"})
        await context_module.clear()
        assert await context_module.get_messages() == []

    async def test_get_messages_for_request_returns_messages(self, context_module: Any) -> None:
        """A request gets messages, and asking for them changes none of the stored ones."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        before = list(await context_module.get_messages())
        messages = await context_module.get_messages_for_request()
        assert isinstance(messages, list)
        assert messages
        assert await context_module.get_messages() == before

    async def test_internal_should_compact_returns_bool(self, context_module: Any) -> None:
        """Where there is an internal ``_should_compact()``, it answers yes or no."""
        found, answer = await _call_internal(context_module, "_should_compact")
        assert not found or isinstance(answer, bool)

    async def test_internal_compact_does_not_crash(self, context_module: Any) -> None:
        """Where there is an internal ``_compact_internal()``, it works on a short history."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        await _call_internal(context_module, "_compact_internal")

    async def test_add_invalid_message_does_not_crash(self, context_module: Any) -> None:
        """A message without a role is kept or refused with a ``ValueError``, no more."""
        try:
            await context_module.add_message({"content": "no role"})
        except (ValueError, KeyError):
            return
        assert isinstance(await context_module.get_messages(), list)

    async def test_get_messages_never_returns_none(self, context_module: Any) -> None:
        assert await context_module.get_messages() == []


async def _call_internal(context: Any, name: str) -> tuple[bool, Any]:
    """Call an internal method if there is one that needs no arguments."""
    method = getattr(context, name, None)
    if not callable(method):
        return False, None
    try:
        signature_of(method).bind()
    except (TypeError, ValueError):
        return False, None
    return True, await awaited(method())


_SAMPLE: Final = {
    "tool_name": "test_tool",
    "tool_input": {"text": "hello"},
    "tool_call_id": "call-1",
    "tool_result": {"success": True, "output": "hello"},
    "result": {"success": True, "output": "hello"},
    "prompt": "hello",
    "provider": "mock",
    "session_id": "test-session",
}
_EMPTY: Final[tuple[Any, ...]] = ({}, None)
_MALFORMED: Final[tuple[Any, ...]] = (
    {"tool_name": None, "tool_input": None},
    {"tool_name": 5, "tool_input": "text", "prompt": ["list"]},
    {"unexpected": {"nested": [1, 2, {"deep": None}]}},
)


class HookBehaviorTests:
    """Runs on the handlers the module registers, for each event it registers them for."""

    pytestmark = pytest.mark.asyncio

    async def test_mount_succeeds(self, hook_cleanup: Any, coordinator: Any) -> None:
        assert coordinator.hooks is not None

    async def test_handler_returns_hook_result(self, hook_cleanup: Any, coordinator: Any) -> None:
        """Every handler answers with a hook result, or with nothing."""
        traces: list[HookTrace] = []
        stop = coordinator.hooks.observe(traces.append)
        for event in _events(coordinator):
            assert isinstance(await coordinator.hooks.emit(event, dict(_SAMPLE)), HookResult)
        stop()
        unreadable = [
            f"{part.name} on {trace.event}: {part.error}"
            for trace in traces
            for part in trace.handlers
            if part.error and part.error.startswith(INVALID_RESPONSE)
        ]
        assert not unreadable, "; ".join(unreadable)

    async def test_hook_result_has_valid_action(self, hook_cleanup: Any, coordinator: Any) -> None:
        for event in _events(coordinator):
            result = await coordinator.hooks.emit(event, dict(_SAMPLE))
            assert result.action in VALID_HOOK_ACTIONS

    async def test_cleanup_is_callable_if_present(self, hook_cleanup: Any) -> None:
        assert hook_cleanup is None or callable(hook_cleanup)

    async def test_cleanup_does_not_raise(self, hook_cleanup: Any) -> None:
        """Cleaning up works; it is going to be called once more after the test."""
        if hook_cleanup is not None:
            await awaited(hook_cleanup())

    async def test_handler_does_not_crash_on_malformed_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        for event in _events(coordinator):
            for data in _MALFORMED:
                assert isinstance(await coordinator.hooks.emit(event, data), HookResult)

    async def test_handler_does_not_crash_on_empty_data(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        for event in _events(coordinator):
            for data in _EMPTY:
                assert isinstance(await coordinator.hooks.emit(event, data), HookResult)


def _events(coordinator: Any) -> list[str]:
    registered = [event for event, names in coordinator.hooks.list_handlers().items() if names]
    return registered or ["tool:pre"]


class OrchestratorBehaviorTests:
    """Runs the orchestrator the module mounts, on mocks and without a coordinator."""

    pytestmark = pytest.mark.asyncio

    async def test_mount_succeeds(self, orchestrator_module: Any) -> None:
        assert orchestrator_module is not None

    async def test_orchestrator_has_execute_method(self, orchestrator_module: Any) -> None:
        assert callable(orchestrator_module.execute)

    async def test_execute_returns_string(self, orchestrator_module: Any, mock_deps: Any) -> None:
        answer = await _run(orchestrator_module, "Test prompt", mock_deps)
        assert isinstance(answer, str)
        assert answer

    async def test_execute_with_empty_prompt(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        assert isinstance(await _run(orchestrator_module, "", mock_deps), str)

    async def test_orchestrator_uses_provider(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        await _run(orchestrator_module, "Test prompt", mock_deps)
        provider = mock_deps[1]["default"]
        assert provider.complete.await_count > 0, "provider.complete() was not called"

    async def test_orchestrator_updates_context(
        self, orchestrator_module: Any, mock_deps: Any
    ) -> None:
        await _run(orchestrator_module, "Test prompt", mock_deps)
        assert mock_deps[0].messages, "context.add_message() was not called"


async def _run(orchestrator: Any, prompt: str, deps: Any) -> Any:
    context, providers, tools, hooks = deps
    return await orchestrator.execute(
        prompt=prompt, context=context, providers=providers, tools=tools, hooks=hooks
    )
