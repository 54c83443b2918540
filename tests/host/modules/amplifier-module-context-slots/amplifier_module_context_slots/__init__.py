__amplifier_module_type__ = "context"


class SlotsContext:
    __slots__ = ("_fails", "_rows")

    def __init__(self, fails):
        self._rows = []
        self._fails = fails

    async def add_message(self, message):
        self._fail("add_message")
        self._rows.append(dict(message))

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return [dict(row) for row in self._rows]

    async def get_messages(self):
        self._fail("get_messages")
        return [dict(row) for row in self._rows]

    async def set_messages(self, messages):
        self._rows = [dict(row) for row in messages]

    async def clear(self):
        self._rows = []

    def _fail(self, method):
        if method == self._fails:
            raise ValueError(f"{method} is broken")


async def mount(coordinator, config=None):
    await coordinator.mount("context", SlotsContext((config or {}).get("fails")))
