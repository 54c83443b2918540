"""A session in small, for the tests of the pipeline."""

import asyncio

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider
from amplifier_tui.context.manager import SessionContextManager
from amplifier_tui.context.pipeline import ContextPipeline
from amplifier_tui.context.request.budget import BudgetPolicy
from amplifier_tui.kernel.hooks import HookRegistry
from tests.context.support import Row, assistant, user


class Noting(ContextProvider):
    """Adds a document, and notes what it hears."""

    def __init__(self, source_id: str, fail: str = "", role: str = "user") -> None:
        super().__init__(source_id)
        self.fail = fail
        self.role = role
        self.asked: list[list[str]] = []
        self.heard: list[tuple[list[str], list[str]]] = []
        self.seen: list[list[str]] = []

    async def before_run(self, agent, session, context, state) -> None:
        self.asked.append([m.text for m in context.input_messages])
        self.seen.append([m.text for m in context.get_messages()])
        state["runs"] = state.get("runs", 0) + 1
        if self.fail == "before":
            raise OSError("index is down")
        if self.fail == "hang":
            await asyncio.Event().wait()
        context.extend_messages(self, [Message(self.role, [f"doc of {self.source_id}"])])

    async def after_run(self, agent, session, context, state) -> None:
        said = [m.text for m in context.response.messages if m.role == "assistant"]
        self.heard.append(([m.text for m in context.input_messages], said))
        if self.fail == "after":
            raise OSError("index is down")


class Stage:
    """A session in small: a ledger, a pipeline, and an orchestrator that does what it must."""

    def __init__(self, *providers: ContextProvider, events: bool = True, **kwargs: object) -> None:
        self.hooks = HookRegistry()
        self.tools: dict[str, object] = {}
        self.notices: list[str] = []
        self.hooks.register("user:notification", self._notice)
        self.manager = SessionContextManager(BudgetPolicy(), self.hooks, lambda: self.tools)
        self.pipeline = ContextPipeline(
            self.manager, providers, tools=lambda: self.tools, hooks=self.hooks, **kwargs
        )
        self.events = events
        if events:
            self.pipeline.register(self.hooks)

    async def _notice(self, event: str, data: dict) -> None:
        self.notices.append(data["message"])

    async def execute(self, prompt: str, *answers: Row, status: str = "completed") -> list[Row]:
        """Run a turn; returns the first request. A request is made before each answer."""
        requests: list[list[Row]] = []
        if self.events:
            await self.hooks.emit("execution:start", {"prompt": prompt})
        try:
            if prompt:
                await self.manager.add_message(user(prompt))
            for row in answers or (assistant(f"re: {prompt}"),):
                if row["role"] != "tool":
                    requests.append(await self.manager.get_messages_for_request())
                await self.manager.add_message(row)
        except BaseException:
            status = "error"
            raise
        finally:
            if self.events:
                await self.hooks.emit("execution:end", {"response": "", "status": status})
        return requests[0]

    async def request(self) -> list[str]:
        return [text(row) for row in await self.manager.get_messages_for_request()]


def text(row: Row) -> str:
    content = row.get("content")
    if isinstance(content, list):
        return " ".join(block.get("text", "") for block in content)
    return content or ""


def texts(rows: list[Row]) -> list[str]:
    return [text(row) for row in rows]
