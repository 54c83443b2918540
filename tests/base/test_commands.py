import pytest

from amplifier_tui.base.commands import command_words


def test_a_command_line_is_split_as_people_quote() -> None:
    assert command_words("code --wait") == ["code", "--wait"]
    assert command_words("'/opt/my editor/bin' -n \"a b\"") == ["/opt/my editor/bin", "-n", "a b"]
    assert command_words("") == []


def test_an_open_quote_is_no_command_line() -> None:
    with pytest.raises(ValueError, match="quotation"):
        command_words("vi 'x")
