"""A context manager that keeps messages; `plain: true` has no prompt factory."""

from typing import Any

__amplifier_module_type__ = "context"


class Plain:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def get_messages_for_request(self, **more: Any) -> list[dict[str, Any]]:
        return list(self.messages)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)

    async def clear(self) -> None:
        self.messages = []


class WithFactory(Plain):
    factory: Any = None

    async def set_system_prompt_factory(self, factory: Any) -> None:
        self.factory = factory


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> None:
    plain = (config or {}).get("plain")
    await coordinator.mount("context", Plain() if plain else WithFactory())
