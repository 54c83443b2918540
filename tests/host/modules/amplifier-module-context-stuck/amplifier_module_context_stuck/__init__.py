import asyncio

__amplifier_module_type__ = "context"


class StuckContext:
    def __init__(self, method):
        self._rows = []
        self._method = method

    async def add_message(self, message):
        await self._wait("add_message")
        self._rows.append(dict(message))

    async def get_messages_for_request(self, token_budget=None, provider=None):
        await self._wait("get_messages_for_request")
        return [dict(row) for row in self._rows]

    async def get_messages(self):
        await self._wait("get_messages")
        return [dict(row) for row in self._rows]

    async def set_messages(self, messages):
        self._rows = [dict(row) for row in messages]

    async def clear(self):
        self._rows = []

    async def _wait(self, method):
        if method == self._method:
            await asyncio.Event().wait()


async def mount(coordinator, config=None):
    await coordinator.mount("context", StuckContext((config or {}).get("method")))
