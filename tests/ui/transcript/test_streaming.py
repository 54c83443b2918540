import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.ui.transcript.markdown import split as markdown_split
from amplifier_tui.ui.transcript.markdown.render import markdown_lines
from tests.ui.transcript.documents import chunked, document, streamed, texts_of, whole

WORDS = st.sampled_from(
    str.split(
        "alpha beta `code` **bold** *em* ~~gone~~ [link](http://a.b/c) https://x.y/z 漢字 かな "
        "🙂 e\u0301 foo_bar 1. - | # > *** [ ] \\* &amp; <b> naïve — “quoted”"
    )
)
LINE = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
PLAIN = st.lists(
    st.sampled_from(str.split("alpha beta `x|y` **b** 漢字 🙂 long-word-that-wraps")),
    min_size=1,
    max_size=6,
).map(" ".join)


def fences(lines: list[str], language: str, mark: str) -> str:
    return f"{mark}{language}\n" + "\n".join(lines) + f"\n{mark}"


def tables(rows: list[tuple[str, str]]) -> str:
    return "| one | two |\n|:---|---:|\n" + "\n".join(
        f"| {a.replace('|', '/')} | {b.replace('|', '/')} |" for a, b in rows
    )


def items(parts: list[tuple[int, str]], ordered: bool) -> str:
    lines = []
    for number, (depth, text) in enumerate(parts):
        marker = f"{number + 1}. " if ordered else "- "
        lines.append("   " * depth + marker + text)
    return "\n".join(lines)


CODE = st.lists(
    st.sampled_from(
        ["x = 1", "", "    y = 'a'", '"""doc', "# c", "漢字 = 2", "\tz()", "~~~", "```x"]
    ),
    min_size=1,
    max_size=40,
)
BLOCK = st.one_of(
    LINE,
    st.lists(LINE, min_size=2, max_size=5).map("\n".join),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "######"]), LINE),
    st.builds(fences, CODE, st.sampled_from(["", "python", "nonsense"]), st.just("````")),
    st.builds(tables, st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=40)),
    st.builds(
        items, st.lists(st.tuples(st.integers(0, 2), LINE), min_size=1, max_size=30), st.booleans()
    ),
    st.lists(LINE, min_size=1, max_size=8).map(lambda lines: "> " + "\n> ".join(lines)),
    st.sampled_from(
        ["---", "***", "- - -", "Title\n===", "    indented\n\n    code", "- [x] a\n- [ ] b"]
    ),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)
SIZES = st.lists(st.integers(1, 400), max_size=200)


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_split, "PIECE", 200)


def one_shot(text: str, measure: int) -> list[str]:
    return [line.text.rstrip() for line in markdown_lines(text, measure, references={})]


def body(lines: list[str], indent: int = 4) -> list[str]:
    return [line[indent:] for line in lines[1:]]


@given(text=DOCUMENT, sizes=SIZES, width=st.sampled_from([40, 80, 120]))
def test_streamed_lines_are_the_lines_of_the_whole_text(
    text: str, sizes: list[int], width: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown_split, "PIECE", 200)
        made = streamed(chunked(text, sizes), width)
        column = made.renderer.column
        assert body(texts_of(made), column.text) == one_shot(text, column.measure)


@given(text=DOCUMENT, width=st.sampled_from([40, 80, 120]))
def test_a_stored_text_in_pieces_has_the_lines_of_the_whole(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown_split, "PIECE", 100)
        lines = whole(text, width)
        made = document(width)
        column = made.renderer.column
        assert body(lines, column.text) == one_shot(text, column.measure)


@given(
    text=st.text(alphabet="ab \n#-*`>|~_[](){}\\1.:\t漢🙂\x1b\r\u202e&;=<", max_size=300),
    sizes=st.lists(st.integers(1, 30), max_size=60),
)
def test_any_text_streams_to_its_own_lines(text: str, sizes: list[int]) -> None:
    assert texts_of(streamed(chunked(text, sizes))) == whole(text)


@pytest.mark.parametrize("size", [1, 30, 10_000])
def test_a_link_defined_in_the_last_lines_is_one_where_it_was_used(size: int) -> None:
    text = "See [it][a].\n\n" + "word word.\n\n" * 100 + "[a]: http://x.y/z"
    made = streamed([text[at : at + size] for at in range(0, len(text), size)])
    assert len(made.pieces) > 1
    assert texts_of(made) == whole(text)
    assert any("See it." in line for line in texts_of(made))


@pytest.mark.parametrize("indent", [" ", "   "])
def test_blanks_before_a_fence_are_taken_from_all_lines_of_its_code(indent: str) -> None:
    text = f"Text.\n\n{indent}```\n" + "call(1)\n" * 60 + f"{indent}call(2)\n" * 9 + "```\n"
    made = streamed(chunked(text, [7] * 200))
    assert len(made.pieces) > 1
    assert texts_of(made) == whole(text)
    assert body(texts_of(made)) == one_shot(text, 76)
