from pathlib import Path

import pytest

from amplifier_tui.host.gate.describe import Description, describe_call, describe_question
from amplifier_tui.host.gate.rules import ApprovalRule, RuleBook, propose, rule_words

BASH = "bash"


def command(line: str, cwd: Path) -> Description:
    return describe_call(BASH, {"command": line}, cwd)


def remember(line: str, cwd: Path, *, allow: bool = True) -> RuleBook:
    book = RuleBook()
    rules = propose(command(line, cwd).parts, book, allow=allow)
    book.add(rules)
    return book


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q tests", "pytest *"),
        ("git add -A", "git add *"),
        ("git -C x add", "git -C x add"),
        ("python -m pytest -q", "python -m pytest *"),
        ("python setup.py test", "python setup.py *"),
        ("python -c 'x'", "python -c 'x'"),
        ("make test", "make test *"),
        ("rm -rf build/", "rm -rf build/"),
        ("bash -c 'ls'", "bash -c 'ls'"),
        ("A=1 pytest", "A=1 pytest"),
        ("git add -A && pytest -q", "git add *, pytest *"),
    ],
)
def test_what_remembering_would_allow_is_said_in_words(
    tmp_path: Path, line: str, words: str
) -> None:
    assert rule_words(propose(command(line, tmp_path).parts, RuleBook())) == words


def test_critical_commands_are_not_remembered(tmp_path: Path) -> None:
    assert propose(command("ls && rm -rf /", tmp_path).parts, RuleBook()) == ()


def test_a_rule_covers_the_same_program_with_other_arguments(tmp_path: Path) -> None:
    book = remember("pytest -q", tmp_path)
    match = book.match(command("pytest tests/x.py", tmp_path).parts)
    assert match is not None and match.allow and match.rule == "pytest *"


@pytest.mark.parametrize(
    "line",
    [
        "pytest; rm x",
        "pytest $(rm x)",
        "pytest > ../out.txt",
        "pytest > ~/.bashrc",
        "sudo pytest",
        "pytest-watch",
        "./pytest",
        "A=1 pytest",
        "pytest 'open",
        "$x pytest",
        "",
    ],
)
def test_a_rule_covers_nothing_more_than_it_says(tmp_path: Path, line: str) -> None:
    assert remember("pytest -q", tmp_path).match(command(line, tmp_path).parts) is None


def test_a_compound_command_needs_a_rule_for_each_of_its_parts(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    line = "pytest && git add -A"
    assert book.match(command(line, tmp_path).parts) is None
    book.add(propose(command(line, tmp_path).parts, book))
    assert [str(rule) for rule in book.rules] == ["pytest *", "git add *"]
    assert book.match(command("git add x && pytest -q", tmp_path).parts) is not None


def test_what_is_riskier_than_the_remembered_call_is_asked_again(tmp_path: Path) -> None:
    book = remember("cat file.txt", tmp_path)
    assert book.match(command("cat other.txt", tmp_path).parts) is not None
    assert book.match(command("cat ~/.ssh/id_rsa", tmp_path).parts) is None
    assert book.match(command("cat x > file.txt", tmp_path).parts) is None


def test_one_refused_part_refuses_the_whole(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    book.add([ApprovalRule("command", BASH, ("rm -rf build",), allow=False)])
    match = book.match(command("pytest && rm -rf build", tmp_path).parts)
    assert match is not None and not match.allow and match.rule == "rm -rf build"


def test_writing_in_the_workspace_is_remembered_as_such(tmp_path: Path) -> None:
    def write(path: str) -> Description:
        return describe_call("write_file", {"file_path": path, "content": "x"}, tmp_path)

    book = RuleBook()
    rules = propose(write("a.txt").parts, book)
    assert rule_words(rules) == "write_file in the workspace"
    book.add(rules)
    assert book.match(write("src/b.txt").parts) is not None
    assert book.match(write("../b.txt").parts) is None
    assert book.match(write(".git/hooks/pre-commit").parts) is None
    assert book.match(write(".env").parts) is None
    outside = propose(write("../b.txt").parts, book)
    assert rule_words(outside) == f"write_file {tmp_path.parent / 'b.txt'}"


def test_other_tools_are_remembered_whole_or_with_their_arguments(tmp_path: Path) -> None:
    book = RuleBook(propose(describe_call("mcp_x", {"a": 1}, tmp_path).parts, RuleBook()))
    assert book.match(describe_call("mcp_x", {"a": 2}, tmp_path).parts) is not None
    assert book.match(describe_call("mcp_y", {"a": 1}, tmp_path).parts) is None
    no = RuleBook(
        propose(describe_call("mcp_x", {"a": 1}, tmp_path).parts, RuleBook(), allow=False)
    )
    assert no.match(describe_call("mcp_x", {"a": 2}, tmp_path).parts) is None
    refused = no.match(describe_call("mcp_x", {"a": 1}, tmp_path).parts)
    assert refused is not None and not refused.allow


def test_a_question_is_remembered_for_its_asker_and_its_words() -> None:
    book = RuleBook(propose(describe_question("gate", "Go on?").parts, RuleBook()))
    assert book.match(describe_question("gate", "Go on?").parts) is not None
    assert book.match(describe_question("gate", "Really?").parts) is None
    assert book.match(describe_question("other", "Go on?").parts) is None


def test_a_request_without_parts_is_never_covered(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    assert book.match(()) is None


def test_a_rule_can_be_taken_back(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    book.remove(book.rules[0])
    assert book.match(command("pytest", tmp_path).parts) is None
