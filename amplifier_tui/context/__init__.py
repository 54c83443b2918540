"""What the model sees, and who put it there.

The names of ADR 0016 and what a host needs of the ledger and its pipeline; `README.md` beside this
file says how they hang together. Names are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from amplifier_tui.base.tool_calls import tool_names_of as tool_names_of
    from amplifier_tui.context.agent import ChatAgent as ChatAgent
    from amplifier_tui.context.agent_stream import ResponseStream as ResponseStream
    from amplifier_tui.context.agent_tools import FunctionTool as FunctionTool
    from amplifier_tui.context.attribution import source_of as source_of
    from amplifier_tui.context.budget import Budget as Budget
    from amplifier_tui.context.budget import BudgetPolicy as BudgetPolicy
    from amplifier_tui.context.compaction.annotations import (
        EXCLUDE_REASON_KEY as EXCLUDE_REASON_KEY,
    )
    from amplifier_tui.context.compaction.annotations import EXCLUDED_KEY as EXCLUDED_KEY
    from amplifier_tui.context.compaction.annotations import (
        GROUP_ANNOTATION_KEY as GROUP_ANNOTATION_KEY,
    )
    from amplifier_tui.context.compaction.annotations import (
        GROUP_HAS_REASONING_KEY as GROUP_HAS_REASONING_KEY,
    )
    from amplifier_tui.context.compaction.annotations import GROUP_ID_KEY as GROUP_ID_KEY
    from amplifier_tui.context.compaction.annotations import GROUP_INDEX_KEY as GROUP_INDEX_KEY
    from amplifier_tui.context.compaction.annotations import GROUP_KIND_KEY as GROUP_KIND_KEY
    from amplifier_tui.context.compaction.annotations import (
        GROUP_TOKEN_COUNT_KEY as GROUP_TOKEN_COUNT_KEY,
    )
    from amplifier_tui.context.compaction.annotations import (
        SUMMARIZED_BY_SUMMARY_ID_KEY as SUMMARIZED_BY_SUMMARY_ID_KEY,
    )
    from amplifier_tui.context.compaction.annotations import (
        SUMMARY_OF_GROUP_IDS_KEY as SUMMARY_OF_GROUP_IDS_KEY,
    )
    from amplifier_tui.context.compaction.annotations import (
        SUMMARY_OF_MESSAGE_IDS_KEY as SUMMARY_OF_MESSAGE_IDS_KEY,
    )
    from amplifier_tui.context.compaction.annotations import included_messages as included_messages
    from amplifier_tui.context.compaction.annotations import (
        included_token_count as included_token_count,
    )
    from amplifier_tui.context.compaction.as_plan import StrategyPlanner as StrategyPlanner
    from amplifier_tui.context.compaction.grouping import (
        annotate_message_groups as annotate_message_groups,
    )
    from amplifier_tui.context.compaction.provider import CompactionProvider as CompactionProvider
    from amplifier_tui.context.compaction.strategies import CompactionStrategy as CompactionStrategy
    from amplifier_tui.context.compaction.strategies import (
        ContextWindowCompactionStrategy as ContextWindowCompactionStrategy,
    )
    from amplifier_tui.context.compaction.strategies import (
        SelectiveToolCallCompactionStrategy as SelectiveToolCallCompactionStrategy,
    )
    from amplifier_tui.context.compaction.strategies import (
        SlidingWindowStrategy as SlidingWindowStrategy,
    )
    from amplifier_tui.context.compaction.strategies import (
        TokenBudgetComposedStrategy as TokenBudgetComposedStrategy,
    )
    from amplifier_tui.context.compaction.strategies import (
        ToolResultCompactionStrategy as ToolResultCompactionStrategy,
    )
    from amplifier_tui.context.compaction.strategies import TruncationStrategy as TruncationStrategy
    from amplifier_tui.context.compaction.strategies import apply_compaction as apply_compaction
    from amplifier_tui.context.compaction.tokenizer import (
        CharacterEstimatorTokenizer as CharacterEstimatorTokenizer,
    )
    from amplifier_tui.context.compaction.tokenizer import TokenizerProtocol as TokenizerProtocol
    from amplifier_tui.context.content import Content as Content
    from amplifier_tui.context.context_events import CONTEXT_BUDGET as CONTEXT_BUDGET
    from amplifier_tui.context.decorators import after_run as after_run
    from amplifier_tui.context.decorators import before_run as before_run
    from amplifier_tui.context.errors import ContextError as ContextError
    from amplifier_tui.context.errors import ContextSourceError as ContextSourceError
    from amplifier_tui.context.errors import HistoryUnavailableError as HistoryUnavailableError
    from amplifier_tui.context.errors import MemoryUnavailableError as MemoryUnavailableError
    from amplifier_tui.context.errors import SummaryError as SummaryError
    from amplifier_tui.context.file_history import FileHistoryProvider as FileHistoryProvider
    from amplifier_tui.context.history_provider import HistoryProvider as HistoryProvider
    from amplifier_tui.context.in_memory_history import (
        InMemoryHistoryProvider as InMemoryHistoryProvider,
    )
    from amplifier_tui.context.ledger import Ledger as Ledger
    from amplifier_tui.context.ledger_file import LoadReport as LoadReport
    from amplifier_tui.context.ledger_file import fork as fork
    from amplifier_tui.context.ledger_history import LedgerHistory as LedgerHistory
    from amplifier_tui.context.manager import SessionContextManager as SessionContextManager
    from amplifier_tui.context.memory.provider import SqliteMemoryProvider as SqliteMemoryProvider
    from amplifier_tui.context.memory.retriever import Memory as Memory
    from amplifier_tui.context.memory.retriever import Retriever as Retriever
    from amplifier_tui.context.memory.store import MemoryStore as MemoryStore
    from amplifier_tui.context.message import Message as ChatMessage
    from amplifier_tui.context.message import Message as Message
    from amplifier_tui.context.pipeline import ContextPipeline as ContextPipeline
    from amplifier_tui.context.plan import Action as Action
    from amplifier_tui.context.plan import Plan as Plan
    from amplifier_tui.context.provider import ContextProvider as ContextProvider
    from amplifier_tui.context.redis_history import RedisHistoryProvider as RedisHistoryProvider
    from amplifier_tui.context.report import ContextReport as ContextReport
    from amplifier_tui.context.report import SourceLine as SourceLine
    from amplifier_tui.context.response import AgentResponse as AgentResponse
    from amplifier_tui.context.response import AgentResponseUpdate as AgentResponseUpdate
    from amplifier_tui.context.response import ChatResponse as ChatResponse
    from amplifier_tui.context.session import AgentSession as AgentSession
    from amplifier_tui.context.session_context import SessionContext as SessionContext
    from amplifier_tui.context.state_file import read_state as read_state
    from amplifier_tui.context.state_file import write_state as write_state
    from amplifier_tui.context.state_types import register_state_type as register_state_type

_HOMES: Final[dict[str, tuple[str, ...]]] = {
    "agent": ("ChatAgent",),
    "agent_stream": ("ResponseStream",),
    "agent_tools": ("FunctionTool",),
    "attribution": ("source_of",),
    "budget": (
        "Budget",
        "BudgetPolicy",
    ),
    "compaction.annotations": (
        "EXCLUDED_KEY",
        "EXCLUDE_REASON_KEY",
        "GROUP_ANNOTATION_KEY",
        "GROUP_HAS_REASONING_KEY",
        "GROUP_ID_KEY",
        "GROUP_INDEX_KEY",
        "GROUP_KIND_KEY",
        "GROUP_TOKEN_COUNT_KEY",
        "SUMMARIZED_BY_SUMMARY_ID_KEY",
        "SUMMARY_OF_GROUP_IDS_KEY",
        "SUMMARY_OF_MESSAGE_IDS_KEY",
        "included_messages",
        "included_token_count",
    ),
    "compaction.as_plan": ("StrategyPlanner",),
    "compaction.grouping": ("annotate_message_groups",),
    "compaction.provider": ("CompactionProvider",),
    "compaction.strategies": (
        "CompactionStrategy",
        "ContextWindowCompactionStrategy",
        "SelectiveToolCallCompactionStrategy",
        "SlidingWindowStrategy",
        "TokenBudgetComposedStrategy",
        "ToolResultCompactionStrategy",
        "TruncationStrategy",
        "apply_compaction",
    ),
    "compaction.tokenizer": (
        "CharacterEstimatorTokenizer",
        "TokenizerProtocol",
    ),
    "content": ("Content",),
    "context_events": ("CONTEXT_BUDGET",),
    "decorators": (
        "after_run",
        "before_run",
    ),
    "errors": (
        "ContextError",
        "ContextSourceError",
        "HistoryUnavailableError",
        "MemoryUnavailableError",
        "SummaryError",
    ),
    "file_history": ("FileHistoryProvider",),
    "history_provider": ("HistoryProvider",),
    "in_memory_history": ("InMemoryHistoryProvider",),
    "ledger": ("Ledger",),
    "ledger_file": (
        "LoadReport",
        "fork",
    ),
    "ledger_history": ("LedgerHistory",),
    "manager": ("SessionContextManager",),
    "memory.provider": ("SqliteMemoryProvider",),
    "memory.retriever": (
        "Memory",
        "Retriever",
    ),
    "memory.store": ("MemoryStore",),
    "message": ("Message",),
    "pipeline": ("ContextPipeline",),
    "plan": (
        "Action",
        "Plan",
    ),
    "provider": ("ContextProvider",),
    "redis_history": ("RedisHistoryProvider",),
    "report": (
        "ContextReport",
        "SourceLine",
    ),
    "response": (
        "AgentResponse",
        "AgentResponseUpdate",
        "ChatResponse",
    ),
    "session": ("AgentSession",),
    "session_context": ("SessionContext",),
    "state_file": (
        "read_state",
        "write_state",
    ),
    "state_types": ("register_state_type",),
}
_HOME_OF: Final = {
    "ChatMessage": (f"{__name__}.message", "Message"),
    "tool_names_of": ("amplifier_tui.base.tool_calls", "tool_names_of"),
} | {name: (f"{__name__}.{home}", name) for home, names in _HOMES.items() for name in names}

__all__ = [
    "CONTEXT_BUDGET",
    "EXCLUDED_KEY",
    "EXCLUDE_REASON_KEY",
    "GROUP_ANNOTATION_KEY",
    "GROUP_HAS_REASONING_KEY",
    "GROUP_ID_KEY",
    "GROUP_INDEX_KEY",
    "GROUP_KIND_KEY",
    "GROUP_TOKEN_COUNT_KEY",
    "SUMMARIZED_BY_SUMMARY_ID_KEY",
    "SUMMARY_OF_GROUP_IDS_KEY",
    "SUMMARY_OF_MESSAGE_IDS_KEY",
    "Action",
    "AgentResponse",
    "AgentResponseUpdate",
    "AgentSession",
    "Budget",
    "BudgetPolicy",
    "CharacterEstimatorTokenizer",
    "ChatAgent",
    "ChatMessage",
    "ChatResponse",
    "CompactionProvider",
    "CompactionStrategy",
    "Content",
    "ContextError",
    "ContextPipeline",
    "ContextProvider",
    "ContextReport",
    "ContextSourceError",
    "ContextWindowCompactionStrategy",
    "FileHistoryProvider",
    "FunctionTool",
    "HistoryProvider",
    "HistoryUnavailableError",
    "InMemoryHistoryProvider",
    "Ledger",
    "LedgerHistory",
    "LoadReport",
    "Memory",
    "MemoryStore",
    "MemoryUnavailableError",
    "Message",
    "Plan",
    "RedisHistoryProvider",
    "ResponseStream",
    "Retriever",
    "SelectiveToolCallCompactionStrategy",
    "SessionContext",
    "SessionContextManager",
    "SlidingWindowStrategy",
    "SourceLine",
    "SqliteMemoryProvider",
    "StrategyPlanner",
    "SummaryError",
    "TokenBudgetComposedStrategy",
    "TokenizerProtocol",
    "ToolResultCompactionStrategy",
    "TruncationStrategy",
    "after_run",
    "annotate_message_groups",
    "apply_compaction",
    "before_run",
    "fork",
    "included_messages",
    "included_token_count",
    "read_state",
    "register_state_type",
    "source_of",
    "tool_names_of",
    "write_state",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, original = _HOME_OF[name]
    value = getattr(importlib.import_module(home), original)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
