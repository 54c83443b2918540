"""Rules for programs that run others: they are about what is run, never about any program."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.rules.book import RuleBook, propose
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.rules.text import read_rule_line, rule_words


def parts(line: str, workspace: Path) -> tuple[Part, ...]:
    return describe_call("bash", {"command": line}, workspace).parts


def decides(rule: str, line: str, workspace: Path) -> str:
    found = RuleBook([read_rule_line(rule)]).match(parts(line, workspace))
    return found.verdict if found is not None else ""


@pytest.mark.parametrize(
    ("approved", "rule", "not_covered"),
    [
        ("uv run pytest -q a", "bash(uv run pytest -q *)", "uv run rm a"),
        ("uv run pytest", "bash(uv run pytest *)", "uv run bash a.sh"),
        ("poetry run python a.py b", "bash(poetry run python a.py *)", "poetry run python b.py"),
        ("npm exec foo", "bash(npm exec foo *)", "npm exec rm a"),
        ("npm run test", "bash(npm run test *)", "npm run deploy"),
        ("bundle exec rspec a", "bash(bundle exec rspec *)", "bundle exec rm a"),
        ("go run a.go", "bash(go run a.go *)", "go run b.go"),
        ("gh pr list", "bash(gh pr list *)", "gh pr merge"),
        ("git bisect start", "bash(git bisect start *)", "git bisect run ./a"),
        ("git submodule update", "bash(git submodule update *)", "git submodule foreach ./a"),
        ("git stash", "bash(git stash)", "git stash pop"),
        ("docker compose up", "bash(docker compose up *)", "docker compose exec a rm b"),
        ("docker exec a ls", "bash(docker exec a ls)", "docker exec a rm b"),
        ("docker run a b", "bash(docker run a b)", "docker run a c"),
        ("flock a make", "bash(flock a make)", "flock a ./b"),
        ("tmux new", "bash(tmux new)", "tmux run-shell a"),
        ("sqlite3 a.db", "bash(sqlite3 a.db)", "sqlite3 a.db '.shell a'"),
        ("uv run --with a pytest", "bash(uv run --with a pytest)", "uv run --with b pytest"),
    ],
)
def test_what_is_remembered_covers_no_other_program(
    approved: str, rule: str, not_covered: str, tmp_path: Path
) -> None:
    rules = propose(parts(approved, tmp_path), RuleBook())
    assert rule_words(rules) == rule
    assert RuleBook(rules).match(parts(approved, tmp_path)) is not None
    assert RuleBook(rules).match(parts(not_covered, tmp_path)) is None


@pytest.mark.parametrize("rule", ["bash(uv *)", "bash(uv run *)", "bash(uv run python *)"])
def test_a_rule_that_does_not_say_what_is_run_covers_nothing(rule: str, tmp_path: Path) -> None:
    assert not decides(rule, "uv run python a.py", tmp_path)
    assert decides("bash(uv run python a.py *)", "uv run python a.py b", tmp_path) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "uv run rm a",
        "uv run --with a rm b",
        "uv run --unknown a rm b",
        "timeout 5 uv run rm a",
        "poetry run bash -c 'rm a'",
        "npm exec -- rm a",
        "git submodule foreach 'rm a'",
        "git bisect run rm a",
        "flock a rm b",
        "parallel rm ::: a",
        "rustup run stable rm a",
    ],
)
def test_a_rule_that_denies_sees_through_what_runs_others(line: str, tmp_path: Path) -> None:
    assert decides("deny bash(rm *)", line, tmp_path) == "deny"


def test_what_is_run_is_judged(tmp_path: Path) -> None:
    for line, risk in (
        ("uv run rm -rf /", "critical"),
        ("uv run sudo rm a", "critical"),
        ("uv run touch .git/hooks/pre-commit", "high"),
        ("uv run pytest", "medium"),
    ):
        assert describe_call("bash", {"command": line}, tmp_path).judgement.risk == risk
