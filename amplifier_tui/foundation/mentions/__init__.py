"""`@mentions`: files that a text asks for (spec 003, "@Mentions")."""

from amplifier_tui.foundation.mentions.context_block import (
    expand_mentions_in_instruction,
    format_context_block,
    format_context_file,
)
from amplifier_tui.foundation.mentions.deduplicator import ContentDeduplicator
from amplifier_tui.foundation.mentions.loader import load_mentions
from amplifier_tui.foundation.mentions.models import ContextFile, MentionResult
from amplifier_tui.foundation.mentions.parser import parse_mentions
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from amplifier_tui.foundation.protocols import MentionResolverProtocol

__all__ = [
    "BaseMentionResolver",
    "ContentDeduplicator",
    "ContextFile",
    "MentionResolverProtocol",
    "MentionResult",
    "expand_mentions_in_instruction",
    "format_context_block",
    "format_context_file",
    "load_mentions",
    "parse_mentions",
]
