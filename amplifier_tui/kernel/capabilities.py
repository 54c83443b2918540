"""Well-known words for what a model can do; providers may use others."""

from typing import Final

TOOLS: Final = "tools"
STREAMING: Final = "streaming"
THINKING: Final = "thinking"
VISION: Final = "vision"
JSON_MODE: Final = "json_mode"
FAST: Final = "fast"
CODE_EXECUTION: Final = "code_execution"
WEB_SEARCH: Final = "web_search"
DEEP_RESEARCH: Final = "deep_research"
LOCAL: Final = "local"
AUDIO: Final = "audio"
IMAGE_GENERATION: Final = "image_generation"
COMPUTER_USE: Final = "computer_use"
EMBEDDINGS: Final = "embeddings"
LONG_CONTEXT: Final = "long_context"
BATCH: Final = "batch"

ALL_WELL_KNOWN_CAPABILITIES: Final[list[str]] = [
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
]
"""The capabilities above, in that order."""
