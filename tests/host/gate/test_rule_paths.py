"""A rule means the same file however its path is written, and never another."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace whose own name is a pattern, beside other folders."""
    for name in ("w[ab]/src", "w[ab]/secrets", "wa/src", "lib"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "w[ab]"


def is_about(rule: str, verdict: Verdict, path: str, workspace: Path) -> bool:
    """Whether a rule is about reading or writing a file."""
    tool = "read_file" if rule.startswith("read") else "write_file"
    call = describe_call(tool, {"file_path": path, "content": "x"}, workspace)
    return RuleBook((parse_rule(rule, verdict),)).match(call.parts) is not None


@pytest.mark.parametrize("verdict", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    ("rule", "path"),
    [
        *(("write(./src/**)", "src/a.py"), ("write(./a.py)", "a.py"), ("write(./)", "src/a.py")),
        *(("write(src/./**)", "src/a.py"), ("write(src//**)", "src/a.py")),
        *(("write(lib/../src/**)", "src/a.py"), ("write(lib/../a.py)", "a.py")),
        *(("write(../lib/**)", "../lib/x/a.py"), ("write(../lib/a.py)", "../lib/a.py")),
        *(("write(src/../../**)", "../lib/a.py"), ("write(../**)", "../b.py")),
        *(("write(../lib/)", "../lib/a.py"), ("write(.././lib/*.py)", "../lib/a.py")),
        ("write(../w\\[ab]/src/*)", "src/a.py"),
    ],
)
def test_a_path_with_dots_is_the_file_it_leads_to(
    workspace: Path, verdict: Verdict, rule: str, path: str
) -> None:
    assert is_about(rule, verdict, path, workspace)
    assert is_about(rule, verdict, str(workspace / path), workspace)


@pytest.mark.parametrize("verdict", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    ("rule", "path"),
    [
        *(("write(./src/**)", "a.py"), ("write(./src/**)", "lib/src/a.py")),
        *(("write(../lib/**)", "lib/a.py"), ("write(../lib/**)", "a.py")),
        *(("write(./**)", "../a.py"), ("write(src/../**)", "../a.py")),
        *(("write(../src/**)", "../wa/src/a.py"), ("write(../*/../src/a.py)", "src/a.py")),
        *(("write(src/../../src/**)", "src/a.py"), ("write(../lib/a.py)", "../lib/b.py")),
    ],
)
def test_it_is_no_other_file(workspace: Path, verdict: Verdict, rule: str, path: str) -> None:
    assert not is_about(rule, verdict, path, workspace)


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        *(("write(./src)", "src/a.py"), ("write(src/.)", "src/a.py"), ("write(src/..)", "a.py")),
        *(("write(..)", "../a.py"), ("write(../lib)", "../lib/a.py"), ("write(.)", "a.py")),
        *(("write(../**)", ".env"), ("write(./**)", ".git/config"), ("write(/)", "a.py")),
        ("write(src/../**)", "link/a.py"),
    ],
)
def test_what_allows_a_path_allows_nothing_below_it_and_nothing_of_note(
    workspace: Path, rule: str, path: str
) -> None:
    (workspace / "link").symlink_to(workspace.parent / "lib")
    assert not is_about(rule, "allow", path, workspace)


@pytest.mark.parametrize("verdict", ["ask", "deny"])
@pytest.mark.parametrize(
    ("rule", "path"),
    [
        *(("read(./src)", "src/a.py"), ("read(src/.)", "src/a.py"), ("read(.)", "src/a.py")),
        *(("read(/)", "src/a.py"), ("read(..)", "../lib/a.py"), ("read(link/**)", "link/a.py")),
        *(("read({}/link/**)", "link/a.py"), ("read({}/link/**)", "../lib/a.py")),
    ],
)
def test_what_restricts_a_path_restricts_what_is_below_it_and_behind_a_link(
    workspace: Path, verdict: Verdict, rule: str, path: str
) -> None:
    (workspace / "link").symlink_to(workspace.parent / "lib")
    # Without a name that is a pattern.
    (workspace.parent / "plain").symlink_to(workspace)
    assert is_about(rule.format(workspace.parent / "plain"), verdict, path, workspace)


def test_a_path_that_is_that_of_no_file_is_said_to_be_that() -> None:
    assert "leads nowhere" in parse_rule("read(src/*/../x)", "deny").matches_nothing
    assert parse_rule("read(src/*/../x)", "deny").meaning.startswith("no path: `..` behind")
    assert "`/**`" in parse_rule("write(/)").matches_nothing
    for rule in ("read(../x/**)", "read(a..b/*)", "read(*/..b)", "read(~)", "read", "bash(ls *)"):
        assert parse_rule(rule, "deny").matches_nothing == ""
