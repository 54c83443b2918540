"""Runs the examples of ADR 0016 as they are written there.

Their text is in `examples/`, word for word. What they import is put in the place of the packages
they name; what they only show, such as an address with dots in it, is led to something real.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.context.adr.agent import ChatAgent
from amplifier_tui.context.adr.history import FileHistoryProvider, InMemoryHistoryProvider
from amplifier_tui.context.adr.message import ChatMessage
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.redis_history import RedisHistoryProvider
from tests.context.support import ScriptedProvider

_FOLDER = Path(__file__).parent / "examples"


class AzureAISearchContextProvider(ContextProvider):
    """Stands for a hosted search."""

    def __init__(self, source_id: str, endpoint: str, index_name: str) -> None:
        super().__init__(source_id)

    async def before_run(self, agent, session, context, state) -> None:
        context.extend_messages(self.source_id, [ChatMessage.system("Found: a document")])


class PersonaContextProvider(ContextProvider):
    async def before_run(self, agent, session, context, state) -> None:
        context.extend_instructions(self.source_id, "Speak like a pirate.")


class Examples:
    """The packages an example imports, and the names it takes for granted."""

    def __init__(self, redis_url: str | None, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.client = ScriptedProvider()
        self._names: dict[str, Any] = {
            "ChatAgent": ChatAgent,
            "ChatMessage": ChatMessage,
            "ContextProvider": ContextProvider,
            "InMemoryHistoryProvider": InMemoryHistoryProvider,
            "SessionContext": SessionContext,
            "AzureAISearchContextProvider": AzureAISearchContextProvider,
            "PersonaContextProvider": PersonaContextProvider,
            "CosmosHistoryProvider": _record_in(folder),
            "RedisHistoryProvider": _redis_at(redis_url) if redis_url else None,
            "client": self.client,
            "json": json,
        }
        for package in ("", ".azure", ".context", ".redis"):
            module = types.ModuleType(f"agent_framework{package}")
            vars(module).update(self._names)
            patch.setitem(sys.modules, module.__name__, module)

    async def run(self, number: int) -> types.SimpleNamespace:
        """Run an example; returns the names it made."""
        path = _FOLDER / f"example_{number}.txt"
        code = compile(path.read_text(), path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names = dict(self._names)
        outcome = types.FunctionType(code, names)()
        if inspect.isawaitable(outcome):
            await outcome
        return types.SimpleNamespace(**names)


def _record_in(folder: Path) -> type[FileHistoryProvider]:
    class CosmosHistoryProvider(FileHistoryProvider):
        """Stands for a hosted store."""

        def __init__(self, source_id: str, connection_string: str = "", **flags: Any) -> None:
            super().__init__(folder / source_id, source_id=source_id, **flags)

    return CosmosHistoryProvider


def _redis_at(url: str) -> type[RedisHistoryProvider]:
    class Redis(RedisHistoryProvider):
        """The real one, at the address of a server that runs; one server stands for several."""

        def __init__(self, *, redis_url: str, **settings: Any) -> None:
            super().__init__(redis_url=url, key_prefix=redis_url, **settings)

    return Redis
