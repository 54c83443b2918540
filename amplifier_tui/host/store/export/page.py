"""A conversation as a page of HTML: one file, which loads nothing and runs nothing."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_STYLE: Final = """
:root { color-scheme: light dark; --soft: color-mix(in srgb, currentColor 8%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: .85rem; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
section { margin: 1.2rem 0; overflow-wrap: anywhere; }
.prompt { background: var(--soft); border-left: 3px solid #4a7bd0; padding: .4rem .9rem; }
.prompt p { white-space: pre-wrap; margin: .2rem 0; }
.thinking { opacity: .7; font-style: italic; white-space: pre-wrap; }
details { margin: .5rem 0; border: 1px solid var(--soft); border-radius: .4rem; }
summary { padding: .3rem .7rem; cursor: pointer; font-size: .9rem; }
pre { background: var(--soft); padding: .7rem; border-radius: .4rem; overflow-x: auto; margin: 0; }
pre, code { font: .85rem/1.45 ui-monospace, monospace; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid var(--soft); padding: .2rem .6rem; }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class ExportPart:
    """Something that was said, called or given back; `tool` is the name of what was called."""

    kind: Literal["prompt", "answer", "thinking", "call", "result"]
    text: str
    tool: str = ""


def page(title: str, facts: Mapping[str, str], parts: Iterable[ExportPart]) -> str:
    """Return the page; what was called and given back is folded.

    Args:
        title: One line.
        facts: What is said of the session, by name, each one line.
        parts: The conversation, in order.
    """
    from pygments.formatters import HtmlFormatter

    colours = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="monokai").get_style_defs(".code")
    markdown = _markdown()
    said = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return "\n".join(
        [
            '<!doctype html>\n<html><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}{colours}\n@media (prefers-color-scheme: dark) {{ {dark} }}",
            ".code { background: none; }</style></head><body>",
            f"<h1>{escape(title)}</h1><dl>{''.join(said)}</dl>",
            *(_section(part, markdown) for part in parts),
            "</body></html>\n",
        ]
    )


def _section(part: ExportPart, markdown: "MarkdownIt") -> str:
    text = escape(part.text)
    match part.kind:
        case "prompt":
            return f'<section class="prompt"><p>{text}</p></section>'
        case "answer":
            return f'<section class="answer">{markdown.render(part.text)}</section>'
        case "thinking":
            return f'<section class="thinking">{text}</section>'
        case "call":
            code = _coloured(part.text, "json", "")
            return _folded(f"calls <code>{escape(part.tool)}</code>", code)
        case "result":
            lines = part.text.count("\n") + 1
            return _folded(f"result, {lines} {'line' if lines == 1 else 'lines'}", text)


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary><pre>{inside}</pre></details>"


def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # No HTML of the model's: what it writes is text.
    made = MarkdownIt("commonmark", {"html": False, "highlight": _coloured})
    return made.enable(["table", "strikethrough"]).disable("image")


def _coloured(code: str, language: str, attributes: str) -> str:
    """Return code with its colours as HTML."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        return escape(code)
    coloured: str = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return f'<span class="code">{coloured}</span>'
