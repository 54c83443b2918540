"""A `*` of a rule covers no address of another machine, whichever way it is spelt."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule


def covered(rule: str, line: str, folder: Path) -> bool:
    parts = describe_call("bash", {"command": line}, folder).parts
    return RuleBook([parse_rule(f"bash({rule})", "allow")]).match(parts) is not None


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("git push *", "push me@host.com:repo main; push host.com:repo; push host: main"),
        ("git push *", "push ext::thing main; push -- host:repo; push https://host/x main"),
        ("git push -o *", "push -o value host:repo main; push -o host:repo main"),
        ("git push -u *", "push -u host:repo main"),
        ("git fetch *", "fetch ext::thing; fetch fd::7; fetch a:b"),
        ("git pull *", "pull me@h:x; pull h:x main"),
        ("git clone *", "clone h:x y"),
        ("git submodule add *", "submodule add h:x y"),
    ],
)
def test_an_address_in_scp_s_spelling_or_of_a_transport_is_not_covered(
    tmp_path: Path, rule: str, lines: str
) -> None:
    for line in lines.split("; "):
        assert not covered(rule, f"git {line}", tmp_path), line


@pytest.mark.parametrize("line", ["scp a.txt host:x", "rsync a.txt host::mod/x", "npm i me@h:x"])
def test_nor_is_one_of_other_programs(tmp_path: Path, line: str) -> None:
    begin = "npm i" if line.startswith("npm") else line.split()[0]
    assert not covered(f"{begin} *", line, tmp_path)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("git push *", "git push origin main"),
        ("git push *", "git push origin main:other"),
        ("git push -u *", "git push -u origin a:other"),
        ("git push *", "git push origin HEAD"),
        ("git push *", "git push origin HEAD:main"),
        ("git rebase *", "git rebase HEAD"),
        ("git push host:repo *", "git push host:repo main"),
        ("git fetch *", "git fetch origin a:b"),
    ],
)
def test_names_of_remotes_and_what_the_rule_names_are_covered(
    tmp_path: Path, rule: str, line: str
) -> None:
    assert covered(rule, line, tmp_path)


def test_a_file_called_head_that_a_command_would_make_is_none_of_a_rule(tmp_path: Path) -> None:
    assert covered("git mv *", "git mv a b", tmp_path)
    assert not covered("git mv *", "git mv a HEAD", tmp_path)
