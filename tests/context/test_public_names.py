import inspect

import pytest

import amplifier_tui.context as context
from amplifier_tui.context.adr.history import (
    FileHistoryProvider,
    HistoryProvider,
    InMemoryHistoryProvider,
)
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.redis_history import RedisHistoryProvider
from amplifier_tui.context.memory.provider import SqliteMemoryProvider
from amplifier_tui.context.turn import LedgerHistory


@pytest.mark.parametrize("name", context.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(context, name) is not None
    assert name in dir(context)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'AgentThread'"):
        _ = context.AgentThread


@pytest.mark.parametrize(
    ("provider", "source_id"),
    [
        (InMemoryHistoryProvider, "in_memory"),
        (FileHistoryProvider, "file_history"),
        (RedisHistoryProvider, "redis_memory"),
        (SqliteMemoryProvider, "memory"),
        (LedgerHistory, "history"),
    ],
)
def test_the_names_sources_have_by_default(provider: type, source_id: str) -> None:
    assert source_id == provider.DEFAULT_SOURCE_ID


def test_a_source_of_ones_own_needs_a_name() -> None:
    with pytest.raises(TypeError, match="source_id"):
        ContextProvider()


def test_the_flags_of_a_history_and_their_defaults() -> None:
    flags = {
        name: parameter.default
        for name, parameter in inspect.signature(HistoryProvider).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert flags == {
        "load_messages": True,
        "store_inputs": True,
        "store_context_messages": False,
        "store_context_from": None,
        "store_outputs": True,
        "store_responses": None,
    }


def test_nobody_else_sets_the_answer() -> None:
    run = SessionContext(input_messages=[])
    assert run.response is None
    with pytest.raises(AttributeError):
        run.response = "mine"
