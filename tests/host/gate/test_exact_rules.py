"""A remembered exact rule covers what was approved, and no other script or input."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.rules.book import Match, RuleBook, propose


def matched(approved: str, line: str, workspace: Path) -> Match | None:
    """What remembering one command line means for another."""
    parts, other = (
        describe_call("bash", {"command": each}, workspace).parts for each in (approved, line)
    )
    return RuleBook(propose(parts, RuleBook())).match(other)


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        ("bash <<'E'\nls\nE", "bash <<'E'\nrm x\nE"),
        ("psql <<E\nselect 1\nE", "psql <<E\ndrop table x\nE"),
        ("cat <<E | sh\nls\nE", "cat <<E | sh\nrm x\nE"),
        ("cat > x <<E\na\nE", "cat > x <<E\na\nb\nE"),
        ('bash -c "echo rm x"', 'bash -c "echo\nrm x"'),
        ("sh -c 'a  b'", "sh -c 'a b'"),
        ("cat a | sh", "echo 'rm x' | sh"),
        ("ls sub | xargs rm", "ls src | xargs rm"),
        ("cat a | python3", "echo evil | python3"),
        ('for f in a b; do rm "$f"; done', 'for f in src/*; do rm "$f"; done'),
        ("rm $(cat a)", "rm $(ls)"),
    ],
)
def test_it_covers_the_same_and_nothing_else(tmp_path: Path, approved: str, other: str) -> None:
    assert matched(approved, approved, tmp_path) is not None
    assert matched(approved, other, tmp_path) is None


def test_blanks_between_words_do_not_count(tmp_path: Path) -> None:
    assert matched("sudo  ls", "sudo ls", tmp_path) is not None


def test_no_rule_is_offered_for_a_call_of_no_tool(tmp_path: Path) -> None:
    parts = describe_call("", {"a": 1}, tmp_path).parts
    assert parts and propose(parts, RuleBook()) == propose(parts, RuleBook(), "deny") == ()
    assert propose(describe_call("t1", {"a": 1}, tmp_path).parts, RuleBook())
