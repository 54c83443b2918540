"""Text on its way to a model."""

from __future__ import annotations

import re

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _sanitize_for_llm(text: str) -> str:
    """Drop what no API accepts and no model needs.

    C0 and C1 control characters except tab, newline and carriage return go, and so do lone
    surrogates, which can't be encoded.
    """
    return _UNWANTED.sub("", text)
