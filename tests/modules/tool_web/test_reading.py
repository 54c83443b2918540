"""What becomes of pages. Expected texts lie beside the pages; the reader is in a process of its own
where it is used."""

import io
from pathlib import Path

import pytest

from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_web import pages
from amplifier_tui.modules.tool_web.addresses import read_address
from amplifier_tui.modules.tool_web.fetching import Answer
from amplifier_tui.modules.tool_web.pages import read_page
from amplifier_tui.modules.tool_web.reading import read

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
HERE = "https://site.example.org/a/page"


def html(text: str) -> str:
    return read(text.encode(), "text/html", "utf-8", HERE)["text"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_reads_well(page: Path) -> None:
    found = read(page.read_bytes(), "text/html", "", HERE)
    assert f"{found['text']}\n" == page.with_suffix(".md").read_text()
    assert found["title"]


def test_there_are_ten_pages() -> None:
    assert len(PAGES) == 10


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>obey</p>",
        '<p style="DISPLAY : none">obey</p>',
        '<p style="color:red;visibility:hidden">obey</p>',
        '<p style="font-size:0">obey</p>',
        '<p aria-hidden="true">obey</p>',
        "<!-- obey -->",
        "<template>obey</template>",
        "<script>obey</script>",
        '<img src="data:image/png;base64,obey">',
        '<a href="javascript:obey()">x</a>',
    ],
)
def test_what_people_do_not_see_is_not_read(hidden: str) -> None:
    assert "obey" not in html(f"<main><p>Shown.</p>{hidden}</main>")


def test_a_page_nested_without_end_is_read_all_the_same() -> None:
    assert html("<div>" * 5_000 + "deep") == "deep"


def test_a_page_that_does_not_say_what_it_is_is_recognised() -> None:
    assert read(b" <!DOCTYPE html><p>a <b>b", "", "", HERE)["text"] == "a **b**"
    assert read(b"a <b>b", "", "", HERE)["text"] == "a <b>b"


def test_a_base_that_is_no_address_is_left_out() -> None:
    page = b'<base href="http://[x"><p>See <a href="/there">there</a>'
    assert read(page, "text/html", "", "https://example.org/a")["text"].endswith(
        "[there](https://example.org/there)"
    )


def pdf(*texts: str) -> bytes:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): named})
    for text in texts:
        page = writer.add_blank_page(300, 300)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
    writer.add_metadata({"/Title": "Two pages"})
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_a_pdf_is_read_page_by_page() -> None:
    found = read(pdf("first words", "last words"), "application/octet-stream", "", HERE)
    assert found == {
        "title": "Two pages",
        "text": "[Page 1]\n\nfirst words\n\n[Page 2]\n\nlast words",
    }


async def test_a_broken_pdf_is_told_from_its_own_process() -> None:
    broken = Answer(read_address(HERE), "application/pdf", "", pdf("x")[:200], cut=True)
    with pytest.raises(ToolProblem, match=r"a PDF that can't be read .* only the first part was"):
        await read_page(broken)


async def test_a_page_that_takes_too_long_to_read_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "_PATIENCE", 0.005)
    slow = Answer(read_address(HERE), "text/html", "", b"<p>a", cut=False)
    with pytest.raises(ToolProblem, match="Look for a shorter page"):
        await read_page(slow)


async def test_a_reader_that_is_killed_while_it_answers_is_an_error_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    killed = tmp_path / "reader.py"
    killed.write_text('import os; os.write(1, b\'{"title": "a\'); os.abort()')
    monkeypatch.setattr(pages, "_READING", killed)
    answer = Answer(read_address(HERE), "text/html", "", b"<p>a", cut=False)
    with pytest.raises(ToolProblem, match="can't be read: the reader ended"):
        await read_page(answer)
