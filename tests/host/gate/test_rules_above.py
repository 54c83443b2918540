"""What a user's rules for a project deny and ask about holds in the folders below it."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.file import (
    RuleFiles,
    add_rules,
    load_rules,
    not_counting,
    user_rules_path,
)
from amplifier_tui.host.gate.rules.text import read_rule_line
from amplifier_tui.host.session.places.worktrees import make_worktree
from tests.host.session.worktree_stage import git, make_repository


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """Return a folder in a repository, with files that rules for the top folder are about."""
    repository = make_repository(tmp_path)
    folder = repository / "packages" / "api"
    for name in ("secret/plan.txt", "src/a.py", "notes.lock"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


def keep(project: Path, *lines: str) -> None:
    add_rules(user_rules_path(), tuple(map(read_rule_line, lines)), project)


def verdict(folder: Path, tool: str, **arguments: Any) -> str:
    book = RuleBook(load_rules(folder)[0])
    gate = Gate(folder, lambda: book, "auto", sandbox=lambda: "")
    return gate.decide(tool, arguments, confines=True).verdict


def said(folder: Path) -> list[str]:
    rules, problems = load_rules(folder)
    assert problems == ()
    return [f"{rule.verdict} {rule}" for rule in rules]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "deny read(**/secret/**)",
            "deny read(packages/api/secret/)",
            "deny read(packages/*/s*/*)",
        ),
        *("deny read(./packages/../packages/api/secret/plan.txt)", "deny read(packages/**)"),
    ],
)
def test_a_path_of_such_a_rule_begins_in_the_folder_it_was_made_for(below: Path, line: str) -> None:
    keep(below.parents[1], line)
    assert verdict(below, "read_file", file_path="secret/plan.txt") == "deny"
    assert verdict(below, "read_file", file_path=str(below / "secret/plan.txt")) == "deny"
    assert verdict(below, "bash", command="cat secret/plan.txt") == "deny"
    assert verdict(below, "bash", command="cat ../api/secret/plan.txt") == "deny"
    assert verdict(below, "bash", command="cd secret && cat plan.txt") == "deny"
    assert verdict(below, "bash", command="grep -r x .") in ("ask", "deny")
    left_out = RuleBook(load_rules(below)[0]).left_out(below, asked=False)
    assert left_out is not None and left_out(below / "secret" / "plan.txt")


def test_a_path_that_is_another_one_seen_from_there_is_not_meant(below: Path) -> None:
    keep(below.parents[1], "deny read(secret/**)", "deny write(*.lock)", "ask write(src/)")
    assert verdict(below, "read_file", file_path="secret/plan.txt") == "allow"
    assert verdict(below, "bash", command="cat secret/plan.txt") == "allow"
    assert verdict(below, "bash", command="grep -r x .") == "allow"
    assert verdict(below, "write_file", file_path="notes.lock", content="") == "allow"
    assert verdict(below, "write_file", file_path="src/a.py", content="") == "allow"


def test_what_is_denied_and_asked_about_holds_below_and_what_is_allowed_does_not(
    below: Path,
) -> None:
    top = below.parents[1]
    keep(top, "deny bash(git push --force *)", "ask write(packages/**)", "bash(make test *)")
    keep(below.parent, "deny web", "echo")
    keep(below, "bash(ls)")
    keep(top / "docs", "deny write")
    held = ["deny bash(git push --force *)", "ask write(packages/**)", "deny web"]
    assert sorted(said(below)) == sorted([*held, "allow bash(ls)"])
    assert list(not_counting(below)) == [
        f"Rules for {folder} that allow do not count in this folder (1)."
        for folder in (below.parent, top)
    ]
    assert verdict(below, "bash", command="git push --force origin main") == "deny"
    assert verdict(below, "write_file", file_path="src/a.py", content="") == "ask"
    assert list(not_counting(top)) == []
    assert "deny web" not in said(top)


def test_no_rule_holds_beyond_the_top_of_a_checkout(below: Path, tmp_path: Path) -> None:
    keep(tmp_path.resolve(), "deny web")
    keep(below.parents[1], "deny read")
    git(below, "init", "-q")
    assert said(below) == [] and said(below.parent) == ["deny read"]
    outside = tmp_path / "elsewhere" / "deep"
    outside.mkdir(parents=True)
    assert said(outside) == []


def test_in_a_worktree_rules_hold_below_and_begin_in_its_own_folders(below: Path) -> None:
    top = below.parents[1]
    keep(top, "deny read(docs/deep/**)", "echo")
    tree = Path(make_worktree(top, "fix").path)
    (tree / "docs" / "deep").mkdir()
    (tree / "docs" / "deep" / "plan.txt").write_text("x")
    assert said(tree / "docs") == ["deny read(docs/deep/**)"]
    assert verdict(tree / "docs", "read_file", file_path="deep/plan.txt") == "deny"
    assert len(list(not_counting(tree / "docs"))) == 1


def test_one_text_for_two_folders_is_two_rules_and_each_is_read_again(below: Path) -> None:
    files = RuleFiles(below, (), lambda _: None)
    keep(below.parents[1], "deny read(secret/**)")
    book = RuleBook(files.read() or (), files.read)
    keep(below, "deny read(secret/**)")
    book.refresh()
    assert {rule.root for rule in book.rules} == {None, below.parents[1]}
    path = user_rules_path()
    path.write_text(path.read_text().replace(f"{below}", f"{below.parent}"))
    book.refresh()
    assert {rule.root for rule in book.rules} == {below.parent, below.parents[1]}
    (written,) = [rule for rule in book.rules if rule.root == below.parents[1]]
    assert written.where == f"{written.origin}, for {below.parents[1]}"


def test_a_rule_above_that_cannot_be_read_may_be_lost_below(below: Path) -> None:
    keep(below.parents[1], "deny read(**/secret/**)")
    path = user_rules_path()
    path.write_text(path.read_text().replace("/**)", "/**"))
    (problem,) = load_rules(below)[1]
    assert problem.restricts
