"""`@mentions`: files that a text asks for (spec 003, "@Mentions")."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "loading": """
            ContentDeduplicator ContextFile MentionResult expand_mentions_in_instruction
            format_context_block format_context_file load_mentions parse_mentions
        """,
        "resolver": "BaseMentionResolver",
        ".protocols": "MentionResolverProtocol",
    },
)
