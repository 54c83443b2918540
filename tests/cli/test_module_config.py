import pytest

from amplifier_tui.cli.group import run


def test_a_setting_the_module_does_not_have_is_a_check_and_no_line_of_a_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["module", "validate", "tool-bash", "--config", '{"timeot": 3}']
    assert [run(command), run([*command, "--strict"])] == [0, 1]
    printed = capsys.readouterr()
    assert printed.out.count("`timeot` is no setting of tool-bash; did you mean `timeout`?") == 2
    assert printed.err == ""
