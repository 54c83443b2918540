"""What the model sees, and who put it there.

The names of ADR 0016 and what a host needs of the ledger and its pipeline; `README.md` beside this
file says how they hang together. Names are imported when they are first used.
"""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        ".base.messages.tool_calls": "tool_names_of",
        "adr.agent": "ChatAgent",
        "adr.agent_tools": "FunctionTool",
        "adr.groups": """
            CharacterEstimatorTokenizer EXCLUDED_KEY EXCLUDE_REASON_KEY
            GROUP_ANNOTATION_KEY GROUP_HAS_REASONING_KEY GROUP_ID_KEY GROUP_INDEX_KEY
            GROUP_KIND_KEY GROUP_TOKEN_COUNT_KEY SUMMARIZED_BY_SUMMARY_ID_KEY
            SUMMARY_OF_GROUP_IDS_KEY SUMMARY_OF_MESSAGE_IDS_KEY TokenizerProtocol
            annotate_message_groups included_messages included_token_count
        """,
        "adr.history": "FileHistoryProvider HistoryProvider InMemoryHistoryProvider",
        "adr.message": "ChatMessage Content Message",
        "adr.provider": "ContextProvider SessionContext",
        "adr.provider_runs": "after_run before_run",
        "adr.redis_history": "RedisHistoryProvider",
        "adr.response": "AgentResponse AgentResponseUpdate ChatResponse ResponseStream",
        "adr.session": "AgentSession register_state_type",
        "adr.strategies": """
            CompactionProvider CompactionStrategy ContextWindowCompactionStrategy
            SelectiveToolCallCompactionStrategy SlidingWindowStrategy
            TokenBudgetComposedStrategy ToolResultCompactionStrategy TruncationStrategy
            apply_compaction
        """,
        "compaction.as_plan": "StrategyPlanner",
        "compaction.plan": "Action Plan",
        "entries": "source_of",
        "errors": """
            ContextError ContextSourceError HistoryUnavailableError
            MemoryUnavailableError SummaryError
        """,
        "ledger": "Ledger LoadReport fork",
        "manager": "SessionContextManager",
        "memory.provider": "SqliteMemoryProvider",
        "memory.retrieval": "Memory Retriever",
        "memory.store": "MemoryStore",
        "pipeline": "ContextPipeline",
        "request.budget": "Budget BudgetPolicy",
        "request.report": "CONTEXT_BUDGET ContextReport",
        "request.shares": "SourceLine",
        "state_file": "read_state write_state",
        "turn": "LedgerHistory",
    },
)
