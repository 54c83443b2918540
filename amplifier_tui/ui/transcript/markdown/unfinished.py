"""Makes the end of a Markdown text that is still being written read like the rest of it.

Half a construct is shown as what it is about to become: `**bo` as bold, `[a](http` as a link's
words; a line that is only a mark so far waits for its next character. What is drawn at the end
is the source alone.
"""

import re

from amplifier_tui.ui.transcript.markdown.context import Context

_FENCE = re.compile(r"^[ >]*(?:`{3,}|~{3,})", re.MULTILINE)
_ONLY_MARKS = re.compile(r"(?:\A|\n)[ >]*(?:[-=*_`~#|+]{1,4}|\d{1,3}[.)]?)\Z")
_PARAGRAPH = re.compile(r"\n(?=[ >]*(?:\n|[-+*] |\d{1,9}[.)] |#|\|))")
_CODE = re.compile(r"(`+)[^`]+\1(?!`)")
_HALF_MARK = re.compile(r"[*_~`]+\Z")
_HALF_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\Z")
_LOOK_BACK = 2000


def presentable(source: str, context: Context) -> str:
    """Return the source of a text's last piece with what is open at its end closed.

    Args:
        source: The piece, while more of it is to come.
        context: The constructs open where it begins.
    """
    resumed = bool(context.steps) and context.steps[-1].kind == "fence"
    in_fence = (len(_FENCE.findall(source)) + resumed) % 2
    if in_fence or _FENCE.match(source, source.rfind("\n") + 1):
        return source
    source = _ONLY_MARKS.sub("", source)
    start = max(0, len(source) - _LOOK_BACK)
    for match in _PARAGRAPH.finditer(source, start):
        start = match.end()
    head, tail = source[:start], source[start:]
    tail = _HALF_LINK.sub(r"\1", tail)
    bare = _CODE.sub("", tail)
    if "`" in bare:
        return head + (tail + "`" if not tail.endswith("`") else tail.rstrip("`"))
    shorn = _HALF_MARK.sub("", tail)
    if shorn != tail:
        if not shorn or shorn[-1].isspace():
            tail = shorn  # a mark that opens something
        bare = _CODE.sub("", shorn)
    closing = ""
    for mark in ("~~", "**"):
        if bare.count(mark) % 2:
            if shorn.endswith(mark):
                return head + shorn[: -len(mark)]
            closing += mark
    if closing:
        return head + shorn.rstrip() + closing
    return head + tail
