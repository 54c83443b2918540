__amplifier_module_type__ = "context"


class SlotsContext:
    __slots__ = ("_rows",)

    def __init__(self):
        self._rows = []

    async def add_message(self, message):
        self._rows.append(dict(message))

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return [dict(row) for row in self._rows]

    async def get_messages(self):
        return [dict(row) for row in self._rows]

    async def set_messages(self, messages):
        self._rows = [dict(row) for row in messages]

    async def clear(self):
        self._rows = []


async def mount(coordinator, config=None):
    await coordinator.mount("context", SlotsContext())
