"""Inline Markdown to styled spans."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplifier_tui.base.text import clean
from amplifier_tui.ui.transcript.lines import Span, merged
from amplifier_tui.ui.transcript.markdown.blocks import References, parser

if TYPE_CHECKING:
    from markdown_it.token import Token

CHUNK = 6000
"""A paragraph of more characters is broken into chunks, to bound the cost of one."""

_CHUNK_SLACK = 400
_REFLOW_FROM = 60
_MOST_BRACKETS = 256
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+")
_LINKABLE = re.compile(r"(?:https?|mailto):|(?![a-z][a-z0-9+.-]*:)", re.IGNORECASE)
_FLAG_OF = {"strong": "b", "em": "i", "s": "s"}


def chunks(content: str) -> list[str]:
    """Return `content` cut into chunks, at whitespace where there is some.

    The cuts depend on what precedes them alone, so a text that grows is cut in the same places.
    """
    parts: list[str] = []
    while (cut := chunk_end(content)) is not None:
        parts.append(content[:cut].rstrip())
        content = content[cut:]
    parts.append(content)
    return parts


def chunk_end(content: str) -> int | None:
    """Return where the first chunk of `content` ends, or None while that is open."""
    if len(content) < CHUNK + _CHUNK_SLACK:
        return None
    for index in range(CHUNK, CHUNK + _CHUNK_SLACK - 1):
        if content[index].isspace() and not content[index + 1].isspace():
            return index + 1
    return CHUNK


def inline_spans(content: str, references: References, base: str) -> list[Span]:
    """Return the spans of a paragraph's content, newlines being hard breaks.

    A line of 60 cells or more that ends in a plain newline was wrapped by its writer and flows
    into the next one; after a shorter line the break was meant, and stays. `base` is the style of
    plain text, flags included.
    """
    base, _, base_flags = base.partition("+")
    if content.count("[") > _MOST_BRACKETS:
        return [Span(content.replace("\t", " "), base)]  # finding links in it is quadratic
    tokens: list[Token] = []
    parser().inline.parse(content.replace("\t", " "), parser(), references, tokens)
    spans: list[Span] = []
    flags = list(base_flags)
    links: list[str] = []
    column = 0
    for token in tokens:
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            flows = kind == "softbreak" and column >= _REFLOW_FROM
            spans.append(Span(" " if flows else "\n", base))
            column = 0
            continue
        if kind.endswith("_open") and token.tag in _FLAG_OF:
            flags.append(_FLAG_OF[token.tag])
        elif kind.endswith("_close") and token.tag in _FLAG_OF:
            flags.remove(_FLAG_OF[token.tag])
        elif kind == "link_open":
            links.append(str(token.attrs.get("href", "")))
        elif kind == "link_close":
            links.pop()
        else:
            link = links[-1] if links else ""
            for span in _leaf(token, base, flags, link):
                spans.append(span)
                column += len(span.text)
    return merged(spans)


def _leaf(token: "Token", base: str, flags: list[str], link: str) -> Iterator[Span]:
    text = token.content
    if token.type == "image":
        link = link or str(token.attrs.get("src", ""))
        text = text or link
    # Entities may spell what the source was cleaned of.
    text = clean(text).replace("\n", " ").replace("\t", " ")
    if not text:
        return
    is_code = token.type == "code_inline"
    if is_code and base == "thinking":
        flags = [*flags, "b"]
    suffix = "+" + "".join(sorted(set(flags))) if flags else ""
    if link:
        yield _linked(text, link, suffix)
    elif is_code and base != "thinking":
        yield Span(text, "code" + suffix)
    elif token.type == "text" and "://" in text:
        yield from _addresses(text, base + suffix, suffix)
    else:
        yield Span(text, base + suffix)


def _linked(text: str, link: str, suffix: str) -> Span:
    # Only addresses that a browser or a pager opens are links; `javascript:` stays text.
    return Span(text, f"link{suffix}", link if _LINKABLE.match(link) else "")


def _addresses(text: str, style: str, suffix: str) -> Iterator[Span]:
    position = 0
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(".,;:!?*_~")
        if address.endswith(")") and address.count("(") < address.count(")"):
            address = address[:-1]
        if match.start() > position:
            yield Span(text[position : match.start()], style)
        yield _linked(address, address, suffix)
        position = match.start() + len(address)
    if position < len(text):
        yield Span(text[position:], style)
