import pytest

from amplifier_tui.modules.hooks_approval.settings import ToolRule


@pytest.mark.parametrize("text", ["", "   ", "bash(", "a b", "(x)", None, 3, "bash(x))("])
def test_what_is_no_rule_is_refused(text: object):
    with pytest.raises(ValueError, match="is not a rule"):
        ToolRule.parse(text)


@pytest.mark.parametrize("text", ["bash(git)", "bash(git *)", "bash(git:*)", " bash( git ) "])
def test_rules_may_be_written_in_several_ways(text: str):
    assert ToolRule.parse(text).words == ("git",)


@pytest.mark.parametrize("text", ["bash", "bash()", "bash(*)"])
def test_a_rule_without_words_is_about_the_whole_tool(text: str):
    assert ToolRule.parse(text).words is None
