"""How every context behaves."""

from __future__ import annotations

import inspect
from typing import Any, Final

import pytest

_METHODS: Final = (
    "add_message",
    "get_messages_for_request",
    "get_messages",
    "set_messages",
    "clear",
)


class ContextBehaviorTests:
    """Runs on the context the module mounts."""

    @pytest.mark.asyncio
    async def test_mount_succeeds(self, context_module: Any) -> None:
        """The module mounts a context."""
        assert context_module is not None

    @pytest.mark.asyncio
    async def test_context_has_required_methods(self, context_module: Any) -> None:
        """It has the five methods of the contract."""
        missing = [name for name in _METHODS if not callable(getattr(context_module, name, None))]
        assert not missing, f"missing: {', '.join(missing)}"

    @pytest.mark.asyncio
    async def test_message_round_trip(self, context_module: Any) -> None:
        """What is added comes back."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        assert [m["content"] for m in await context_module.get_messages()] == ["Hello"]

    @pytest.mark.asyncio
    async def test_multiple_messages(self, context_module: Any) -> None:
        """Messages come back in the order they were added."""
        texts = ["one", "two", "three"]
        for index, text in enumerate(texts):
            role = "assistant" if index % 2 else "user"
            await context_module.add_message({"role": role, "content": text})
        assert [m["content"] for m in await context_module.get_messages()] == texts

    @pytest.mark.asyncio
    async def test_clear_removes_messages(self, context_module: Any) -> None:
        """After clear there are none."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        await context_module.clear()
        assert await context_module.get_messages() == []

    @pytest.mark.asyncio
    async def test_get_messages_for_request_returns_messages(self, context_module: Any) -> None:
        """A request gets messages, and asking for them changes none of the stored ones."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        before = list(await context_module.get_messages())
        messages = await context_module.get_messages_for_request()
        assert isinstance(messages, list)
        assert messages
        assert await context_module.get_messages() == before

    @pytest.mark.asyncio
    async def test_internal_should_compact_returns_bool(self, context_module: Any) -> None:
        """Where there is an internal ``_should_compact()``, it answers yes or no."""
        found, answer = await _call_internal(context_module, "_should_compact")
        assert not found or isinstance(answer, bool)

    @pytest.mark.asyncio
    async def test_internal_compact_does_not_crash(self, context_module: Any) -> None:
        """Where there is an internal ``_compact_internal()``, it works on a short history."""
        await context_module.add_message({"role": "user", "content": "Hello"})
        await _call_internal(context_module, "_compact_internal")

    @pytest.mark.asyncio
    async def test_add_invalid_message_does_not_crash(self, context_module: Any) -> None:
        """A message without a role is kept or refused with a ``ValueError``, no more."""
        try:
            await context_module.add_message({"content": "no role"})
        except (ValueError, KeyError):
            return
        assert isinstance(await context_module.get_messages(), list)

    @pytest.mark.asyncio
    async def test_get_messages_never_returns_none(self, context_module: Any) -> None:
        """A fresh context has an empty list."""
        assert await context_module.get_messages() == []


async def _call_internal(context: Any, name: str) -> tuple[bool, Any]:
    """Call an internal method if there is one that needs no arguments."""
    method = getattr(context, name, None)
    if not callable(method):
        return False, None
    try:
        inspect.signature(method).bind()
    except TypeError:
        return False, None
    outcome = method()
    return True, await outcome if inspect.isawaitable(outcome) else outcome
