import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.commands.run import Output
from amplifier_tui.base.text import printed
from tests.modules.tool_bash.support import Shell


async def test_a_flood_is_cut_in_the_middle_and_its_size_told(shell: Shell):
    result = await shell.run("echo BEGIN; yes 0123456789 | head -c 100000000; echo; echo END")
    assert result.output.startswith("BEGIN\n0123456789\n")
    assert "END\n[exit code 0" in result.output
    assert "(100000011 bytes in all)" in result.output
    assert len(result.output) < 32_000
    assert sum(len(data["text"]) for data in shell.progress) < 2_000_000
    assert all(len(data["text"]) < 4_100 for data in shell.progress)


async def test_binary_output_becomes_readable_text(shell: Shell):
    result = await shell.run(r"printf 'a\0b\377c\033[31mred\033[0m\007'")
    assert result.output.startswith("ab�cred\n")


async def test_the_end_of_a_flood_without_line_ends_is_kept(shell: Shell):
    result = await shell.run("head -c 1000000 /dev/zero | tr '\\0' x; printf THE_END")
    assert "THE_END" in result.output


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x07", ""),
        ("\x1b]52;c;aGk=", "52;c;aGk="),  # Unfinished: it must not hide what follows.
        ("\x1bPq sixel \x1b\\after", "after"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("a\x00b\x08c\x7f\x9b", "abc"),
        ("tab\there", "tab\there"),
        ("漢字 👍🏽", "漢字 👍🏽"),
    ],
)
def test_control_sequences_do_not_reach_the_model(raw: str, shown: str):
    assert printed(raw) == shown


@given(st.lists(st.binary(max_size=50), max_size=40), st.integers(10, 200), st.integers(1, 60))
def test_however_output_arrives_little_is_kept_and_nothing_is_miscounted(
    chunks: list[bytes], limit: int, piece: int
):
    output = Output(limit, piece)
    shown: list[str] = []
    for number, chunk in enumerate(chunks):
        if chunk:
            output.feed(chunk)
        if number % 3 == 0:
            shown.append(output.take_piece())
    output.feed(b"")
    shown.append(output.take_piece())
    data = b"".join(chunks)
    text = data.decode("utf-8", "replace")
    assert output.size == len(data)
    if len(text) <= 2 * (limit // 2):
        assert output.text() == printed(text)
    else:
        half = limit // 2
        assert output.text().startswith(printed(text[:half]))
        assert output.text().endswith(printed(text[-half:]))
        assert f"[… {len(text) - 2 * half} of {len(text)} characters left out" in output.text()
    if not any("characters …]" in part for part in shown):
        assert "".join(shown) == text
    assert all(len(part) <= piece + 40 for part in shown)


KEY = "sk-ant-api03-" + "a1B2c3D4" * 12
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEabc123/+\n" * 60 + "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize("secret", [KEY, PEM, "plain-value-of-a-variable"])
@pytest.mark.parametrize("lines", [5, 5_000], ids=["little is left out", "very much is left out"])
def test_no_cut_of_the_output_goes_through_a_secret(secret: str, lines: int):
    limit = 2_000
    for shift in range(0, len(secret) + 2, max(1, len(secret) // 40)):
        output = Output(limit, 100, values=["plain-value-of-a-variable"])
        before = "a" * (limit // 2 - shift - 1) + "\n"
        after = "\n" + "z" * (limit // 2 - len(secret) + shift - 1)
        middle = "line of words\n" * lines
        for part in (before, secret, middle, secret, after):
            output.feed(part.encode())
        text = output.text()
        head, _, tail = text.partition("\n[… ")
        tail = tail.partition("…]\n")[2]
        assert len(head) <= limit // 2
        assert len(tail) <= limit // 2
        for part in (head, tail):
            rest = part.replace(secret, "")
            assert not set(rest) - set("az\nline of words"), rest[-200:]


@given(st.lists(st.integers(1, 40), max_size=40), st.sampled_from([KEY, PEM, "value-of-variable"]))
def test_no_piece_begins_or_ends_within_a_secret(sizes: list[int], secret: str):
    output = Output(1_000, 4_000, values=["value-of-variable"])
    data = f"before {secret} after\n" * 3
    pieces = []
    for size in sizes:
        output.feed(data[:size].encode())
        data = data[size:]
        pieces.append(output.take_piece())
    output.feed(data.encode())
    pieces.append(output.take_piece())
    output.feed(b"")
    pieces.append(output.take_piece())
    assert "".join(pieces) == f"before {secret} after\n" * 3
    for piece in pieces:
        assert set(piece.replace(secret, "")) <= set("before after\n")
