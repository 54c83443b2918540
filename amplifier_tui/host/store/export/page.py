"""A conversation as a page of HTML: one file, which loads nothing and runs nothing."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Final

from amplifier_tui.base.files.image_metadata import without_metadata
from amplifier_tui.base.files.images import HEAD, IMAGES, media_type
from amplifier_tui.host.store.export.parts import ExportPart

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from pygments.formatters import HtmlFormatter
    from pygments.lexer import Lexer

_STYLE: Final = """
:root { color-scheme: light dark; --soft: color-mix(in srgb, currentColor 8%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; } h3, h4, h5, h6 { font-size: 1.05rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: .85rem; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
section { margin: 1.2rem 0; overflow-wrap: anywhere; }
.prompt { background: var(--soft); border-left: 3px solid #4a7bd0; padding: .4rem .9rem; }
.prompt p { white-space: pre-wrap; margin: .2rem 0; }
.notice { border-left: 3px solid #c2553f; padding: .2rem .9rem; white-space: pre-wrap; }
.denied { color: #c2553f; }
.thinking { opacity: .7; font-style: italic; white-space: pre-wrap; }
details { margin: .5rem 0; border: 1px solid var(--soft); border-radius: .4rem; }
summary { padding: .3rem .7rem; cursor: pointer; font-size: .9rem; }
pre { background: var(--soft); padding: .7rem; border-radius: .4rem; overflow-x: auto; margin: 0; }
pre, code { font: .85rem/1.45 ui-monospace, monospace; }
.answer > pre, table, blockquote { margin: .8rem 0; }
blockquote { border-left: 3px solid var(--soft); padding-left: .9rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; overflow-wrap: normal; }
img { display: block; max-width: 100%; max-height: 40rem; margin: .5rem 0; }
td, th { border: 1px solid var(--soft); padding: .2rem .6rem; }
"""
_OVER_COLOURS: Final = """
.code { background: none; }
.code .err { border: none; }
"""
_MOST_MARKDOWN: Final = 200_000
"""Characters of an answer that are read as Markdown; a longer one is shown as it is."""
_MOST_COLOURED: Final = 20_000
"""Characters of code that get colours: what some patterns cost grows faster than the code."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_IMAGE: Final = 5_000_000
"""Characters of an image that is in the page, and of all of them."""
_MOST_IMAGES: Final = 20_000_000
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class PageForm:
    """Writes a conversation as a page; what was called and given back is folded."""

    def __init__(self) -> None:
        self._markdown = _markdown()
        self._room = _MOST_IMAGES

    def begin(self, title: str, facts: Mapping[str, str]) -> str:
        """Return the page's beginning.

        Args:
            title: One line.
            facts: What is said of the session, by name, each one line.
        """
        from pygments.formatters import HtmlFormatter

        colours = HtmlFormatter(style="default").get_style_defs(".code")
        dark = HtmlFormatter(style="monokai").get_style_defs(".code")
        said = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
        return "\n".join(
            [
                '<!doctype html>\n<html><head><meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                '<meta name="referrer" content="no-referrer">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{escape(title)}</title>",
                f"<style>{_STYLE}{colours}\n@media (prefers-color-scheme: dark) {{ {dark} }}",
                f"{_OVER_COLOURS}</style></head><body>",
                f"<h1>{escape(title)}</h1><dl>{''.join(said)}</dl>\n",
            ]
        )

    def part(self, part: ExportPart) -> str:
        """Return one part."""
        text = escape(part.text)
        match part.kind:
            case "prompt":
                images = self._images(part)
                return f'<section class="prompt"><p>{text}</p>{images}</section>\n'
            case "answer" if len(part.text) > _MOST_MARKDOWN:
                return f'<section class="answer"><pre>{text}</pre></section>\n'
            case "answer":
                rendered = self._markdown.render(part.text)
                return f'<section class="answer">{rendered}</section>\n'
            case "thinking":
                return f'<section class="thinking">{text}</section>\n'
            case "call":
                code = _coloured(part.text, "json", "")
                word = ' <b class="denied">denied</b>' if part.denied else ""
                said = f"calls <code>{escape(part.tool)}</code> {escape(part.about)}{word}"
                return _folded(said, code)
            case "note":
                return _folded("note", text)
            case "notice":
                return f'<section class="notice">{text}</section>\n'
            case "command":
                return f'<section class="prompt"><pre>{text}</pre></section>\n'
            case "result":
                lines = part.text.count("\n") + 1
                of = f" of <code>{escape(part.tool)}</code>" if part.tool else ""
                said = f"result{of}, {lines} {'line' if lines == 1 else 'lines'}"
                return _folded(said, text) + self._images(part)

    def _images(self, part: ExportPart) -> str:
        """Return the images of a part; in the place of one that is too large, that it is."""
        made = []
        for kind, data in part.images:
            if not _is_image(kind, data):
                continue
            if len(data) > min(_MOST_IMAGE, self._room):
                made.append(f"<p>[an image of {len(data) * 3 // 4:,} bytes is left out]</p>\n")
                continue
            self._room -= len(data)
            made.append(f'<img src="data:{kind};base64,{_shown(data)}" alt="image">\n')
        return "".join(made)

    def end(self) -> str:
        """Return the page's end."""
        return "</body></html>\n"


def _is_image(kind: str, data: str) -> bool:
    """Whether base64 is an image of a type; nothing else may stand in the page unread."""
    if kind not in IMAGES or len(data) % 4 or _BASE64.fullmatch(data) is None:
        return False
    return media_type(b64decode(data[: 4 * HEAD])) == kind


def _shown(data: str) -> str:
    """Return the base64 of an image without its metadata: sessions keep images as they came."""
    return b64encode(without_metadata(b64decode(data))).decode("ascii")


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary><pre>{inside}</pre></details>\n"


def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # No HTML of the model's: what it writes is text.
    made = MarkdownIt("commonmark", {"html": False, "highlight": _coloured})
    return made.enable(["table", "strikethrough"]).disable("image")


def _coloured(code: str, language: str, attributes: str) -> str:
    """Return code with its colours as HTML."""
    if len(code) > _MOST_COLOURED:
        return escape(code)
    lexer = _lexer(language or "text")
    if lexer is None:
        return escape(code)
    from pygments import highlight

    coloured: str = highlight(code, lexer, _formatter())
    return f'<span class="code">{coloured}</span>'


@lru_cache
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@cache
def _formatter() -> "HtmlFormatter[str]":
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)
