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
