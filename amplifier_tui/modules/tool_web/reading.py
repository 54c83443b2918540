"""Turns what a server sent into text. Run as a script, in a process of its own.

What is read here was written by strangers: a page or a PDF that takes too much time or memory
costs this process, and nobody else.

The first line of the input is JSON (`media_type`, `charset`, `url`), the rest the body. The output
is JSON: `title` and `text`, or `problem`.
"""

import codecs
import contextlib
import io
import json
import re
import sys
from typing import Any, Final
from urllib.parse import urljoin

_MEMORY: Final = 1_500_000_000
"""Bytes of address space this process may have."""

_NO_TEXT: Final = (
    *(
        "title",
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
    ),
    *("nav", "button", "select", "input", "textarea", "dialog", "audio", "video", "map"),
)
_AROUND: Final = ("header", "footer", "aside")
_NO_CONTENT_ROLES: Final = (
    *("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog"),
)
_HIDDEN_STYLE: Final = re.compile(
    r"(display:none|visibility:hidden|opacity:0(?![.\d])|font-size:0(?![.\d]))"
)
_BLOCKS: Final = ("h1", "h2", "h3", "h4", "p", "ul", "ol", "pre", "div", "table")
_LEAST_TEXT: Final = 200
"""Characters; a main part with less is not where the text is."""
_LANGUAGE: Final = re.compile(r"(?:language|lang|highlight(?:-source)?|brush:)-?([a-z0-9+#]+)")
_MARKS: Final = frozenset({"", "¶", "#", "§", "🔗", "Permalink", "Link to this heading"})
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*\n){2,}")
_PAGES: Final = 2_000


def read(body: bytes, media_type: str, charset: str, url: str) -> dict[str, str]:
    """Return a body as text, with its title."""
    if media_type == "application/pdf" or body.startswith(b"%PDF-"):
        return _pdf(body)
    if _is_html(body, media_type):
        return _html(body, charset, url)
    if media_type.startswith(("image/", "audio/", "video/", "font/")) or b"\0" in body[:4096]:
        kind = media_type or "something"
        return {"problem": f"{kind} of {len(body)} bytes, which is not text"}
    text = _decoded(body, charset)
    if media_type.endswith(("/json", "+json")):
        # What is no JSON after all is shown as it is.
        with contextlib.suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return {"title": "", "text": text}


def _is_html(body: bytes, media_type: str) -> bool:
    if media_type in ("text/html", "application/xhtml+xml"):
        return True
    start = body[:512].lstrip().lower()
    return not media_type and start.startswith((b"<!doctype html", b"<html"))


def _decoded(body: bytes, charset: str) -> str:
    try:
        encoding = codecs.lookup(charset or "utf-8").name
        return body.decode(encoding, "replace").removeprefix("\ufeff")
    except (LookupError, ValueError):  # no such charset, or none of text
        return body.decode("utf-8", "replace")


def _pdf(body: bytes) -> dict[str, str]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        document = PdfReader(io.BytesIO(body))
        pages = [
            f"[Page {number}]\n\n{page.extract_text().strip()}"
            for number, page in zip(range(1, _PAGES + 1), document.pages, strict=False)
        ]
        title = document.metadata.title if document.metadata else ""
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError, ImportError) as error:
        return {"problem": f"a PDF that can't be read ({error or type(error).__name__})"}
    return {"title": str(title or ""), "text": "\n\n".join(pages)}


def _html(body: bytes, charset: str, url: str) -> dict[str, str]:
    import warnings

    from bs4 import BeautifulSoup

    warnings.simplefilter("ignore")
    soup = BeautifulSoup(body, "html.parser", from_encoding=charset or None)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    base = soup.find("base", href=True)
    url = _joined(url, str(base["href"])) or url if base else url
    part = _main_part(soup)
    try:
        _resolve_links(part, url)
        _tidy_tables(part)
        _close_items(part)
        text = _markdown(part)
    except RecursionError:  # nested deeper than any page for people
        text = part.get_text("\n", strip=True)
    return {"title": title, "text": _BLANK_LINES.sub("\n\n", text).strip()}


def _main_part(soup: Any) -> Any:
    """Leave out what is no content or not shown, and return the part with the text."""
    from bs4 import Comment

    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for tag in soup.find_all(_is_left_out):
        if not tag.decomposed:
            if tag.name == "input" and tag.get("type") == "checkbox":
                tag.replace_with("[x]" if tag.has_attr("checked") else "[ ]")
            else:
                tag.decompose()
    articles = soup.find_all("article")
    parts = [*soup.find_all("main"), *soup.find_all(attrs={"role": "main"})]
    parts += articles if len(articles) == 1 else []
    for part in parts:
        if len(part.get_text(strip=True)) >= _LEAST_TEXT:
            return part
    body = soup.body or soup
    for tag in body.find_all(_AROUND):
        if not tag.decomposed and not tag.find_parent("article") and not tag.find("h1"):
            tag.decompose()
    return body


def _is_left_out(tag: Any) -> bool:
    style = re.sub(r"\s", "", str(tag.get("style", ""))).lower()
    return (
        tag.name in _NO_TEXT
        or tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or tag.get("role") in _NO_CONTENT_ROLES
        or "mw-editsection" in (tag.get("class") or ())
        or (tag.name == "aside" and _is_mostly_links(tag))
        or bool(_HIDDEN_STYLE.search(style))
    )


def _is_mostly_links(tag: Any) -> bool:
    links = sum(len(link.get_text(strip=True)) for link in tag.find_all("a"))
    return links * 2 >= len(tag.get_text(strip=True))


def _tidy_tables(part: Any) -> None:
    """Keep tables of data; what a table only arranges stands one below the other."""
    for table in part.find_all("table"):
        if table.caption:
            table.insert_before(table.caption.extract())
        if not table.find("th") and table.find(_BLOCKS):
            for tag in (table, *table.find_all(("tbody", "tr", "td"))):
                tag.name = "div"
    for text in part.find_all(string=lambda text: "|" in text):
        if text.find_parent(("td", "th")):
            text.replace_with(text.replace("|", r"\|"))


def _close_items(part: Any) -> None:
    """Items of lists may go without an end; here the next one would stand in the one before."""
    for item in part.find_all("li"):
        if item.parent.name == "li":
            item.parent.insert_after(item)


def _resolve_links(part: Any, url: str) -> None:
    """Make addresses whole; leave out what leads nowhere and pictures without words."""
    for link in part.find_all("a"):
        target = str(link.get("href", ""))
        if link.get_text(strip=True) in _MARKS and not link.find("img", alt=True):
            link.decompose()
        elif target.startswith("#") or not target:
            link.unwrap()
        else:
            whole = _joined(url, target)
            if whole.startswith(("http://", "https://", "mailto:")):
                link["href"] = whole
                link.attrs.pop("title", None)
            else:
                link.unwrap()
    for image in part.find_all("img"):
        words = str(image.get("alt", "")).strip()
        image.replace_with(f"[image: {words}]" if words else "")


def _joined(url: str, target: str) -> str:
    try:
        return urljoin(url, target.strip())
    except ValueError:
        return ""


def _markdown(part: Any) -> str:
    from markdownify import MarkdownConverter

    return str(
        MarkdownConverter(
            heading_style="ATX",
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            code_language_callback=_language,
            table_infer_header=True,
        ).convert_soup(part)
    )


def _language(block: Any) -> str:
    """Return the language of a block of code, as its classes or those around it name it."""
    around = [block, block.find("code"), block.parent, block.parent and block.parent.parent]
    for tag in filter(None, around):
        classes = tag.get("class") or []
        found = _LANGUAGE.search(" ".join([classes] if isinstance(classes, str) else classes))
        if found and found[1] not in ("default", "none", "notranslate", "source"):
            return found[1]
    return ""


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = _MEMORY if hard == resource.RLIM_INFINITY else min(hard, _MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    """Read one body from the standard input."""
    asked = json.loads(sys.stdin.buffer.readline())
    _limit_memory()
    try:
        found = read(sys.stdin.buffer.read(), **asked)
    except MemoryError:
        found = {"problem": "something that takes too much memory to read"}
    sys.stdout.buffer.write(json.dumps(found).encode())


if __name__ == "__main__":
    main()
