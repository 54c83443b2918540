"""A rule that allows with a `*` reads as it stands: its options have to be in the command."""

from pathlib import Path

import pytest

from amplifier_tui.base.shell import options_missing
from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.rules.book import RuleBook, propose
from amplifier_tui.host.gate.rules.matching import Part
from amplifier_tui.host.gate.rules.near import nearly
from amplifier_tui.host.gate.rules.text import read_rule_line, rule_words


def parts(line: str, workspace: Path) -> tuple[Part, ...]:
    return describe_call("bash", {"command": line}, workspace).parts


def decides(rule: str, line: str, workspace: Path) -> str:
    found = RuleBook([read_rule_line(rule)]).match(parts(line, workspace))
    return found.verdict if found is not None else ""


@pytest.mark.parametrize(
    ("approved", "rule", "also", "asks"),
    [
        (
            "ansible-playbook --check site.yml",
            "ansible-playbook --check *",
            "ansible-playbook other.yml --check",
            "ansible-playbook site.yml",
        ),
        ("black --check src", "black --check *", "black a.py b.py --check", "black ."),
        ("ruff format --check", "ruff format --check *", "ruff format --check .", "ruff format ."),
        (
            "uv run black --check src",
            "uv run black --check *",
            "uv run black a.py --check",
            "uv run black src",
        ),
        (
            "npm run release -- --dry-run",
            "npm run release -- --dry-run *",
            "npm run release -- --dry-run beta",
            "npm run release --dry-run --",
        ),
    ],
)
def test_what_is_remembered_with_an_option_asks_without_it(
    approved: str, rule: str, also: str, asks: str, tmp_path: Path
) -> None:
    rules = propose(parts(approved, tmp_path), RuleBook())
    assert rule_words(rules) == f"bash({rule})"
    for line in (approved, also):
        assert RuleBook(rules).match(parts(line, tmp_path)) is not None, line
    assert RuleBook(rules).match(parts(asks, tmp_path)) is None


@pytest.mark.parametrize(
    ("rule", "goes", "asks"),
    [
        ("alembic downgrade base --sql", "alembic downgrade base --sql", "alembic downgrade base"),
        (
            "python3 manage.py migrate --plan",
            "python3 manage.py migrate app --plan",
            "python3 manage.py migrate",
        ),
        ("git push --dry-run", "git push origin main --dry-run", "git push origin main"),
        (
            "kubectl apply --dry-run=client",
            "kubectl apply --dry-run=client",
            "kubectl apply --dry-run=none",
        ),
        ("git commit --dry-run -m", "git commit --dry-run -m x", "git commit -m --dry-run"),
        ("release -- --check", "release a -- --check", "release --check -- a"),
        ("release --check --", "release --check -- a", "release -- --check"),
        ("release -w -- --check", "release -w -- --check", "release -w b --check -- --"),
        ("sed -n -i", "sed -n -i s/a/b/ c", "sed -i s/a/b/ c"),
    ],
)
def test_a_rule_asks_for_its_options_as_they_stand_in_it(
    rule: str, goes: str, asks: str, tmp_path: Path
) -> None:
    assert decides(f"allow bash({rule} *)", goes, tmp_path) == "allow"
    assert not decides(f"allow bash({rule} *)", asks, tmp_path)


@pytest.mark.parametrize(
    ("rule", "line"), [("sort -u", "sort a"), ("git log --oneline", "git log"), ("sed -i", "sed p")]
)
def test_what_only_reads_needs_no_option_of_its_rule(rule: str, line: str, tmp_path: Path) -> None:
    assert decides(f"allow bash({rule} *)", line, tmp_path) == "allow"


@pytest.mark.parametrize(
    ("approved", "rule"),
    [
        ("ansible-playbook -i hosts --check site.yml", "ansible-playbook -i hosts --check *"),
        ("ansible-playbook -i hosts site.yml --check", "ansible-playbook --check -i *"),
        ("pytest -k some tests -q", "pytest -q -k *"),
        ("git commit -m x --author y", "git commit -m x --author *"),
        ("npm test -w a -- --check", "npm test -w a -- --check *"),
    ],
)
def test_no_option_of_a_remembered_rule_can_be_the_value_of_another(
    approved: str, rule: str, tmp_path: Path
) -> None:
    rules = propose(parts(approved, tmp_path), RuleBook())
    assert rule_words(rules) == f"bash({rule})"
    assert RuleBook(rules).match(parts(approved, tmp_path)) is not None
    assert RuleBook(rules).match(parts("ansible-playbook -i --check site.yml", tmp_path)) is None


@pytest.mark.parametrize(
    ("options", "words", "missing"),
    [
        ("-q -x", "-q -x a", ""),
        ("-q -x", "a -x b -q", ""),
        ("-q -x", "a -x", "-q"),
        ("--check -m", "-m --check", "--check"),
        ("--check --mode=a", "--mode=a --check", ""),
        ("--check", "-- --check", "--check"),
        ("-- --check", "a -- --check", ""),
    ],
)
def test_an_option_that_may_be_a_value_or_an_operand_is_missing(
    options: str, words: str, missing: str
) -> None:
    assert " ".join(options_missing(options.split(), words.split())) == missing


@pytest.mark.parametrize("verdict", ["deny", "ask"])
def test_a_rule_that_restricts_takes_other_options_and_their_order_as_before(
    verdict: str, tmp_path: Path
) -> None:
    rule = f"{verdict} bash(rm -rf *)"
    for line in ("rm -rf a", "rm -v -rf a", "sudo rm -rf a", "rm -rf --no-preserve-root a"):
        assert decides(rule, line, tmp_path) == verdict, line


def test_a_command_without_the_option_is_told_which_rule_would_cover_it(tmp_path: Path) -> None:
    said = "the rule bash(black --check *) covers only what has --check; bash(black *) would cover"
    book = RuleBook([read_rule_line("bash(black --check *)")])
    assert nearly(parts("black .", tmp_path), book) == f"{said} it"
    book = RuleBook([read_rule_line("bash(pytest -q -x *)")])
    said = "covers only what has -q, and not where that may be a value or an operand"
    assert nearly(parts("pytest -x -q", tmp_path), book) == (
        f"the rule bash(pytest -q -x *) {said}; bash(pytest -x -q *) would cover it"
    )
