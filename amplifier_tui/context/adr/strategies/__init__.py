"""The ADR's compaction strategies, which mark messages as excluded."""
