"""Files of rules: read, spoiled in every way, written by the program."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.file import (
    RuleFiles,
    RuleProblem,
    RulesFileError,
    add_rules,
    load_rules,
    project_rules_path,
    read_rules,
    remove_rule,
    user_rules_path,
)
from amplifier_tui.host.gate.rules.text import Rule, RuleError, parse_rule
from amplifier_tui.host.session.places.worktrees import make_worktree, remove_worktree
from tests.host.session.worktree_stage import make_repository

GOOD = """
allow: ["bash(git status)", "write(src/**)"]
deny:
  - bash(git push *)
projects:
  {project}:
    allow: [web(docs.python.org)]
  /somewhere/else:
    allow: [echo]
"""


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def said(project: Path, **more: list[str]) -> list[str]:
    rules, problems = load_rules(project, **more)
    assert problems == ()
    return [f"{rule.verdict} {rule}" for rule in rules]


def test_the_users_rules_hold_everywhere_and_those_of_a_project_there(tmp_path: Path) -> None:
    write(user_rules_path(), GOOD.format(project=tmp_path))
    everywhere = ["allow bash(git status)", "allow write(src/**)", "deny bash(git push *)"]
    assert said(tmp_path) == [*everywhere, "allow web(docs.python.org)"]
    assert said(tmp_path / "other") == everywhere


def test_what_a_project_allows_counts_only_when_it_is_trusted(tmp_path: Path) -> None:
    text = "allow: [bash]\nask: [read]\ndeny: [web]\n"
    write(project_rules_path(tmp_path), text)
    assert said(tmp_path) == ["ask read", "deny web"]
    assert said(tmp_path, trusted=["bash"]) == ["allow bash", "ask read", "deny web"]


@pytest.mark.parametrize(
    ("rule", "message", "column"),
    [
        ("", "begins with the name", 1),
        ("(x)", "begins with the name", 1),
        ("my tool", "no blanks", 3),
        ("bash(git status", "not closed", 16),
        ("bash()", "nothing stands", 6),
        ("bash(git*)", "stands alone", 9),
        ("bash(git * push *)", "only one", 10),
        ("bash(git; ls *)", "one plain command", 6),
        ("bash(X=1 git *)", "no variables", 6),
        ("bash(git $x *)", "no variables", 6),
        ("bash(ls > x *)", "no variables", 6),
        ('mcp_x({"a": )', "no JSON", 12),
        ("write(!x)", "does not begin", 7),
    ],
)
def test_what_is_no_rule_is_refused_with_its_column(rule: str, message: str, column: int) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        parse_rule(rule)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "rule",
    ["bash", "bash(git status)", "bash(npm run test *)", "write(src/**)", "web(docs.python.org)",
     'mcp_x({"a": 1})', "mcp_*", "read(~/docs/**)"],
)  # fmt: skip
def test_a_rule_is_shown_as_it_was_written(rule: str) -> None:
    assert str(parse_rule(rule)) == rule


def test_a_wrong_rule_does_not_count_and_is_said_with_file_line_and_column(tmp_path: Path) -> None:
    path = write(user_rules_path(), "allow:\n  - echo\n  - 'bash(git*)'\n  - [x]\n")
    rules, problems = load_rules(tmp_path)
    assert [str(rule) for rule in rules] == ["echo"]
    assert [str(problem).split(": ")[0] for problem in problems] == [f"{path}:3:14", f"{path}:4:5"]
    assert all("does not count" in str(problem) for problem in problems)


def fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


SPOILED = {
    "torn": lambda path: write(path, "allow: [bash(git sta"),
    "binary": lambda path: write(path, b"\x00\xff\xfe\x01" * 100),
    "from the future": lambda path: write(path, "version: 2\nallow: [bash]\n"),
    "a list": lambda path: write(path, "- bash\n"),
    "too large": lambda path: write(path, "#" * 2_000_000),
    "nested": lambda path: write(path, "[" * 5_000),
    "lists in lists": lambda path: write(path, "- " * 20_000),
    "a pipe": fifo,
    "a folder": lambda path: path.mkdir(parents=True),
    "a text in place of a list": lambda path: write(path, "allow: bash\n"),
    "unreadable": lambda path: write(path, "allow: [bash]").chmod(0),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_is_said_and_none_of_its_rules_counts(tmp_path: Path, name: str) -> None:
    if name == "unreadable" and os.geteuid() == 0:
        path = user_rules_path().parent / "no" / ".." / "rules.yaml"
        assert not path.exists()
        return
    SPOILED[name](user_rules_path())
    rules, problems = load_rules(tmp_path)
    assert rules == ()
    assert problems and str(user_rules_path()) in str(problems[0])
    with pytest.raises((RulesFileError, OSError)):
        add_rules(user_rules_path(), (parse_rule("echo"),))


def test_rules_are_read_with_the_limits_of_other_yaml(tmp_path: Path) -> None:
    write(project_rules_path(tmp_path), "[" * 101 + "]" * 101)
    rules, (problem,) = read_rules(project_rules_path(tmp_path), None)
    assert rules == () and "nested deeper than 100 levels" in str(problem)


def test_a_name_that_is_there_twice_counts_twice_and_nothing_is_lost_by_a_change(
    tmp_path: Path,
) -> None:
    path = write(user_rules_path(), "deny: [web]\nask: [echo]\ndeny: [grep]\n")
    rules, problems = load_rules(tmp_path)
    assert [str(rule) for rule in rules] == ["web", "echo", "grep"]
    assert [str(problem) for problem in problems] == [f"{path}:3:1: `deny` is here twice"]
    with pytest.raises(RulesFileError, match="twice"):
        add_rules(path, (parse_rule("cat"),))
    assert path.read_text().count("deny") == 2


@pytest.mark.parametrize(
    "odd",
    [
        'projects: {"a\\0b": {allow: [web]}}',
        "projects: {5: {allow: [web]}}",
        "projects: {/other: {deny: [2020-13-45, 7]}}",
        "deny: [!mine web]",
        "allow: ~",
    ],
)
def test_odd_yaml_is_read_as_texts_and_does_not_hinder_a_change(tmp_path: Path, odd: str) -> None:
    path = write(user_rules_path(), f"# mine\n{odd}\n")
    assert load_rules(tmp_path)[1] == ()
    add_rules(path, (parse_rule("echo", scope="project"),), tmp_path)
    rules, problems = load_rules(tmp_path)
    assert "echo" in map(str, rules) and not problems


def test_a_projects_file_that_is_a_link_does_not_count(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere.yaml", "deny: [bash]\n")
    project_rules_path(tmp_path).parent.mkdir()
    project_rules_path(tmp_path).symlink_to(target)
    rules, problems = read_rules(project_rules_path(tmp_path), None)
    assert rules == () and "it is a link" in str(problems[0])


def test_rules_are_written_for_all_projects_or_one_and_taken_out_again(tmp_path: Path) -> None:
    add_rules(user_rules_path(), (parse_rule("echo"), parse_rule("bash(ls)", "deny")))
    add_rules(user_rules_path(), (parse_rule("write(**)"),), tmp_path)
    add_rules(user_rules_path(), (parse_rule("echo"),))
    assert said(tmp_path) == ["allow echo", "deny bash(ls)", "allow write(**)"]
    assert said(tmp_path.parent) == ["allow echo", "deny bash(ls)"]
    assert remove_rule(user_rules_path(), "echo")
    assert not remove_rule(user_rules_path(), "echo")
    assert remove_rule(user_rules_path(), "write(**)", tmp_path)
    assert said(tmp_path) == ["deny bash(ls)"]


def test_rules_of_a_project_hold_in_its_worktrees_and_those_made_there_are_the_projects(
    tmp_path: Path,
) -> None:
    repository = make_repository(tmp_path)
    tree = Path(make_worktree(repository, "fix").path)
    add_rules(user_rules_path(), (parse_rule("write(secrets/**)", "deny"),), repository)
    add_rules(user_rules_path(), (parse_rule("echo"),), repository / "docs")
    assert said(repository) == said(tree) == ["deny write(secrets/**)"]
    assert said(tree / "docs") == ["deny write(secrets/**)", "allow echo"]
    add_rules(user_rules_path(), (parse_rule("web", "ask"),), tree)
    assert said(repository) == said(tree) == ["deny write(secrets/**)", "ask web"]
    assert remove_rule(user_rules_path(), "write(secrets/**)", tree)
    remove_worktree(tree)
    assert said(repository) == ["ask web"]


def test_rules_that_a_worktree_has_of_its_own_hold_there_and_can_be_taken_out(
    tmp_path: Path,
) -> None:
    repository = make_repository(tmp_path)
    tree = Path(make_worktree(repository, "fix").path)
    write(user_rules_path(), f"projects:\n  {tree}:\n    deny: [echo]\n")
    add_rules(user_rules_path(), (parse_rule("web"),), tree)
    assert said(tree) == ["deny echo", "allow web"] and said(repository) == ["allow web"]
    assert remove_rule(user_rules_path(), "echo", tree)
    assert said(tree) == said(repository) == ["allow web"]


def test_a_folder_that_says_it_is_a_worktree_borrows_no_rules(tmp_path: Path) -> None:
    repository = make_repository(tmp_path)
    make_worktree(repository, "fix")
    add_rules(user_rules_path(), (parse_rule("bash"),), repository)
    write(tmp_path / "cloned" / ".git", f"gitdir: {repository}/.git/worktrees/site-fix\n")
    assert said(repository) == ["allow bash"] and said(tmp_path / "cloned") == []


def test_no_rule_that_allows_holds_where_a_worktree_may_be_another_than_the_one_made(
    tmp_path: Path,
) -> None:
    repository = make_repository(tmp_path)
    tree = Path(make_worktree(repository, "fix").path)
    add_rules(user_rules_path(), (parse_rule("bash"), parse_rule("web", "deny")), repository)
    assert said(tree) == ["allow bash", "deny web"]
    next(repository.glob(".git/worktrees/*/commondir")).unlink()
    assert said(tree) == ["deny web"]
    add_rules(user_rules_path(), (parse_rule("echo"),), tree)
    assert said(tree) == ["deny web", "allow echo"]
    assert said(repository) == ["allow bash", "deny web"]


@pytest.mark.parametrize("rule", [Rule(""), Rule("", '{"a": 1}'), Rule("two words")])
def test_what_could_not_be_read_again_is_never_written(rule: Rule, tmp_path: Path) -> None:
    with pytest.raises(RulesFileError, match="could not be read again"):
        add_rules(user_rules_path(), (parse_rule("echo"), rule))
    assert not user_rules_path().exists()


def test_a_rule_in_another_spelling_is_taken_out_and_an_empty_list_is_filled(
    tmp_path: Path,
) -> None:
    write(user_rules_path(), "allow: ['bash(git:*)']\ndeny:\nprojects:\n")
    assert remove_rule(user_rules_path(), "bash(git *)", None, "allow")
    add_rules(user_rules_path(), (parse_rule("echo", "deny"),))
    add_rules(user_rules_path(), (parse_rule("web"),), tmp_path)
    assert said(tmp_path) == ["deny echo", "allow web"]


def test_the_file_a_link_leads_to_is_written_with_its_comments_and_the_link_stays(
    tmp_path: Path,
) -> None:
    target = write(tmp_path / "dotfiles" / "rules.yaml", "allow: [echo]  # mine\n")
    user_rules_path().parent.mkdir(parents=True, exist_ok=True)
    user_rules_path().symlink_to(target)
    add_rules(user_rules_path(), (parse_rule("web", "deny"),))
    assert user_rules_path().is_symlink()
    assert target.read_text() == 'allow: [echo]  # mine\ndeny:\n  - "web"\n'


def test_a_change_by_hand_or_of_another_window_counts_from_the_next_call_on(
    tmp_path: Path,
) -> None:
    files = [RuleFiles(tmp_path, (), lambda _: None) for _ in range(2)]
    books = [RuleBook(each.read() or (), each.read) for each in files]
    kept = parse_rule("echo", scope="always")
    books[0].add((kept, parse_rule("web", scope="session")))
    add_rules(user_rules_path(), (kept,))
    for book in books:
        book.refresh()
    assert [str(rule) for rule in books[0].rules] == ["echo", "web"]
    assert [str(rule) for rule in books[1].rules] == ["echo"]
    write(user_rules_path(), "deny: [grep]\n")
    books[0].refresh()
    assert [str(rule) for rule in books[0].rules] == ["grep", "web"]


@pytest.mark.parametrize("name", sorted(SPOILED.keys() - {"a pipe", "unreadable"}))
def test_of_a_file_that_is_spoiled_meanwhile_all_holds_on_that_denies(
    tmp_path: Path, name: str
) -> None:
    told: list[tuple[RuleProblem, ...]] = []
    path = write(user_rules_path(), "allow: [echo]\nask: [web]\ndeny: [grep]\n")
    files = RuleFiles(tmp_path, (), told.append)
    book = RuleBook(files.read() or (), files.read)
    path.unlink()
    SPOILED[name](path)
    book.refresh()
    left = [str(rule) for rule in book.rules]
    if any(problem.restricts for problem in told[-1]):
        assert left == ["web", "grep"]
    else:
        assert left == [] and told[-1], "it can be read, and holds no rule"


@pytest.mark.parametrize(
    "slip", ["deny: ['bash(ls', grep]", "denny: [bash]\ndeny: [grep]", "ask: bash\ndeny: [grep]"]
)
def test_a_slip_in_what_denies_or_asks_lets_neither_a_mode_nor_a_rule_let_more_through(
    tmp_path: Path, slip: str
) -> None:
    told: list[tuple[RuleProblem, ...]] = []
    path = write(user_rules_path(), "allow: [write_file]\ndeny: ['bash(ls)']\n")
    files = RuleFiles(tmp_path, (), told.append)
    book = RuleBook(files.read() or (), files.read)
    assert told[-1] == ()
    write(path, f"allow: [write_file]\n{slip}\n")
    book.refresh()
    assert any(problem.restricts for problem in told[-1])
    assert {"grep", "bash(ls)"} <= {str(rule) for rule in book.rules}, "what denied denies on"
    call = {"file_path": "a.txt", "content": ""}
    for unread, verdict in (("", "allow"), ("rules.yaml can't be read", "ask")):
        gate = Gate(tmp_path, lambda: book, "edits", unread=unread)
        assert gate.decide("write_file", call).verdict == verdict
        assert gate.decide("read_file", {"file_path": "a.txt"}).verdict == verdict
        assert gate.decide("bash", {"command": "wc a.txt"}).verdict == verdict


@pytest.mark.parametrize(
    ("text", "place"),
    [("deny:\n  - 'read(s/**)\n\nallow: []\n", ":2:5: "), ("deny: []\n }\n", ":2:2: ")],
)
def test_where_a_file_stops_being_yaml_is_said_with_the_remedy_and_the_cost(
    tmp_path: Path, text: str, place: str
) -> None:
    path = write(user_rules_path(), text)
    (problem,) = read_rules(path, tmp_path)[1]
    assert problem.told == (
        f"{path}{place}it is no YAML. None of its rules counts. Correct it, or move it away; "
        "until then nothing goes unasked, not even reading."
    )


def test_a_slip_in_what_allows_takes_that_rule_alone(tmp_path: Path) -> None:
    write(user_rules_path(), "allow: ['bash(ls', grep]\ndeny: [web]\n")
    rules, problems = read_rules(user_rules_path(), tmp_path)
    assert sorted(map(str, rules)) == ["grep", "web"]
    assert [problem.restricts for problem in problems] == [False]


def test_rules_that_several_windows_keep_at_once_are_all_kept() -> None:
    rules = [parse_rule(f"bash(make {number})") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda rule: add_rules(user_rules_path(), (rule,)), rules))
    found, problems = read_rules(user_rules_path(), Path("/"))
    assert sorted(map(str, found)) == sorted(map(str, rules)) and not problems
