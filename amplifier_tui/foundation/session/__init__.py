"""Stored sessions: reading, cutting, forking and mending them."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "capture": "TurnCapture",
        "diagnosis": "DiagnosisResult diagnose_transcript repair_transcript rewind_transcript",
        "finder": "find_session find_sessions",
        "fork": """
            ForkResult fork_session fork_session_in_memory get_fork_preview get_session_lineage
            list_session_forks
        """,
        "messages": "is_real_user_message",
        "slice": """
            add_synthetic_tool_results count_turns find_orphaned_tool_calls get_turn_boundaries
            get_turn_summary slice_to_turn
        """,
        "store": """
            EVENTS_FILENAME METADATA_FILENAME TRANSCRIPT_FILENAME backup load_metadata
            load_transcript load_transcript_with_lines read_jsonl write_jsonl write_metadata
            write_transcript
        """,
    },
)
