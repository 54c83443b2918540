"""Histories of every make, for property tests: whatever a context hands out, an API takes it."""

import base64

from hypothesis import strategies as st

from amplifier_tui.kernel.message_models import (
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)

IMAGE = ImageBlock(
    source={"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"x").decode()}
)
PDF = ImageBlock(
    source={"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
)
_IDS = st.sampled_from(["", "a", "b", "toolu_1", "functions.x:0", "x" * 80])
_TEXTS = st.sampled_from(["", " ", "\n", "words", "ü 漢 \ud800", "\x00"]) | st.text(max_size=5)
_NAMES = st.sampled_from(["read_file", "fs.read", "", "bash it!"])
_ARGUMENTS = st.dictionaries(st.text(max_size=3), _TEXTS | st.integers() | st.none(), max_size=2)
_REASONING = ReasoningBlock.model_validate(
    {"content": [], "summary": [], "id": "rs_2", "encrypted_content": "e"}
)
_BLOCKS = st.one_of(
    _TEXTS.map(lambda text: TextBlock(text=text)),
    st.builds(
        ThinkingBlock,
        thinking=_TEXTS,
        signature=st.sampled_from([None, "", "sig"]),
        content=st.sampled_from([None, ["e", "rs_1"], [None, None], []]),
        reasoning_field=st.sampled_from([None, "reasoning", "reasoning_content", "role"]),
    ),
    st.just(RedactedThinkingBlock(data="blob")),
    st.just(_REASONING),
    st.builds(ToolCallBlock, id=_IDS, name=_NAMES, input=_ARGUMENTS),
    st.builds(ToolResultBlock, tool_call_id=_IDS, output=_TEXTS | _ARGUMENTS | st.none()),
    st.just(IMAGE),
)
_CONTENT = _TEXTS | st.lists(_BLOCKS, max_size=4)

MESSAGES = st.one_of(
    st.builds(
        Message,
        role=st.sampled_from(["system", "developer", "user", "assistant", "function"]),
        content=_CONTENT,
    ),
    st.builds(Message, role=st.just("tool"), tool_call_id=_IDS | st.none(), content=_CONTENT),
)
HISTORIES = st.lists(MESSAGES, min_size=1, max_size=8)
