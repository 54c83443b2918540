from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_tui.host.gate.approvals.describe import Description, describe_call, describe_question
from amplifier_tui.host.gate.calls import searching
from amplifier_tui.host.gate.modes import Verdict
from amplifier_tui.host.gate.rules.book import RuleBook, propose
from amplifier_tui.host.gate.rules.text import Rule, RuleError, parse_rule, rule_words

BASH = "bash"


def command(line: str, cwd: Path) -> Description:
    return describe_call(BASH, {"command": line}, cwd)


def remember(line: str, cwd: Path, *, allow: bool = True) -> RuleBook:
    book = RuleBook()
    rules = propose(command(line, cwd).parts, book, "allow" if allow else "deny")
    book.add(rules)
    return book


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q tests", "bash(pytest -q *)"),
        ("git add -A", "bash(git add -A *)"),
        ("git -C x add", "bash(git -C x add)"),
        ("python -m pytest -q", "bash(python -m pytest -q *)"),
        ("python setup.py test", "bash(python setup.py *)"),
        ("python -c 'x'", "bash(python -c 'x')"),
        ("make test", "bash(make test)"),
        ("make", "bash(make)"),
        ("./gradlew test", "bash(./gradlew test)"),
        ("dotnet test -v q", "bash(dotnet test -v *)"),
        ("git apply x.patch", "bash(git apply x.patch)"),
        ("patch -p1 -i x.patch", "bash(patch -p1 -i x.patch)"),
        ("rm -rf build/", "bash(rm -rf build/)"),
        ("bash -c 'ls'", "bash(bash -c 'ls')"),
        ("A=1 pytest", "bash(A=1 pytest)"),
        ("git add -A && pytest -q", "bash(git add -A *), bash(pytest -q *)"),
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
    match = book.match(command("pytest tests/x.py -q", tmp_path).parts)
    assert match is not None and match.verdict == "allow" and match.rule == "bash(pytest -q *)"


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
    assert remember("pytest", tmp_path).match(command(line, tmp_path).parts) is None


def test_a_compound_command_needs_a_rule_for_each_of_its_parts(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    line = "pytest && git add -A"
    assert book.match(command(line, tmp_path).parts) is None
    book.add(propose(command(line, tmp_path).parts, book))
    assert [str(rule) for rule in book.rules] == ["bash(pytest *)", "bash(git add -A *)"]
    assert book.match(command("git add -A x && pytest tests", tmp_path).parts) is not None


def test_what_is_riskier_than_the_remembered_call_is_asked_again(tmp_path: Path) -> None:
    book = remember("chmod 644 x", tmp_path)
    assert book.match(command("chmod 600 x", tmp_path).parts) is not None
    assert book.match(command("chmod 777 x", tmp_path).parts) is None
    assert book.match(command("chmod 600 ~/.ssh/id_rsa", tmp_path).parts) is None
    assert book.match(command("chmod 600 x > file.txt", tmp_path).parts) is None


def test_one_refused_part_refuses_the_whole(tmp_path: Path) -> None:
    book = remember("pytest", tmp_path)
    book.add([Rule(BASH, "rm -rf build", "deny")])
    match = book.match(command("pytest && rm -rf build", tmp_path).parts)
    assert match is not None and match.verdict == "deny" and match.rule == "bash(rm -rf build)"


def test_writing_in_the_workspace_is_remembered_as_such(tmp_path: Path) -> None:
    def write(path: str) -> Description:
        return describe_call("write_file", {"file_path": path, "content": "x"}, tmp_path)

    book = RuleBook()
    rules = propose(write("a.txt").parts, book)
    assert rule_words(rules) == "write_file(**)"
    book.add(rules)
    assert book.match(write("src/b.txt").parts) is not None
    assert book.match(write("../b.txt").parts) is None
    assert book.match(write(".git/hooks/pre-commit").parts) is None
    assert book.match(write(".env").parts) is None
    outside = propose(write("../b.txt").parts, book)
    assert rule_words(outside) == f"write_file({tmp_path.parent / 'b.txt'})"


@pytest.mark.parametrize("tool", ["write_file", "read_file"])
@pytest.mark.parametrize(
    "asked", ["", "**", "*.txt", "[a-z].txt", "?.txt", "b.txt ", "b.txt", ".claude", "in/.claude"]
)
def test_a_path_that_is_remembered_is_that_path_and_nothing_below_or_like_it(
    tmp_path: Path, asked: str, tool: str
) -> None:
    workspace, near = tmp_path / "in", tmp_path / "near"
    workspace.mkdir()
    (near / "sub").mkdir(parents=True)
    base = tmp_path if asked.startswith("in/") else near

    def call(path: Path) -> Description:
        return describe_call(tool, {"file_path": str(path), "content": "x"}, workspace)

    first = base / asked
    book = RuleBook(propose(call(first).parts, RuleBook()))
    others = (near / "b.txt", near / "sub" / "b.txt", near / ".bashrc", first / "x", first / ".env")
    found = [path for path in others if path != first and book.match(call(path).parts)]
    assert found == [] and all("**" not in str(rule) for rule in book.rules)


@pytest.mark.parametrize(
    ("rule", "path", "goes"),
    [
        ("write(src)", "src/a.txt", False),
        ("write(src/)", "src/a.txt", True),
        ("write(src/**)", "src/a.txt", True),
        ("write(src/a.txt)", "src/a.txt", True),
        ("write(./src/a.txt)", "src/a.txt", True),
        ("write({near}/a.txt)", "../near/a.txt", True),
        ("write({near})", "../near/a.txt", False),
        ("write({near}/*.txt)", "../near/a.txt", True),
        ("write({near}/*.json)", "../near/.claude/settings.json", False),
        ("write(**/*.json)", ".claude/settings.json", False),
        ("write(~nobody-at-all/a.txt)", "src/a.txt", False),
    ],
)
def test_a_rule_for_one_path_allows_no_folder_and_a_pattern_nothing_that_configures(
    tmp_path: Path, rule: str, path: str, goes: bool
) -> None:
    workspace, near = tmp_path / "in", tmp_path / "near"
    workspace.mkdir()
    called = describe_call("write_file", {"file_path": path, "content": "x"}, workspace)
    book = RuleBook([parse_rule(rule.format(near=near))])
    assert (book.match(called.parts) is not None) is goes


def test_a_rule_that_denies_a_folder_denies_what_is_below_it(tmp_path: Path) -> None:
    called = describe_call("write_file", {"file_path": "src/a.txt", "content": "x"}, tmp_path)
    for rule in ("write(src)", f"write({tmp_path}/src)"):
        match = RuleBook([parse_rule(rule, "deny")]).match(called.parts)
        assert match is not None and match.verdict == "deny", rule


def test_other_tools_are_remembered_whole_or_with_their_arguments(tmp_path: Path) -> None:
    book = RuleBook(propose(describe_call("mcp_x", {"a": 1}, tmp_path).parts, RuleBook()))
    assert book.match(describe_call("mcp_x", {"a": 2}, tmp_path).parts) is not None
    assert book.match(describe_call("mcp_y", {"a": 1}, tmp_path).parts) is None
    no = RuleBook(propose(describe_call("mcp_x", {"a": 1}, tmp_path).parts, RuleBook(), "deny"))
    assert no.match(describe_call("mcp_x", {"a": 2}, tmp_path).parts) is None
    refused = no.match(describe_call("mcp_x", {"a": 1}, tmp_path).parts)
    assert refused is not None and refused.verdict == "deny"


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


@pytest.fixture
def places(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "docs").mkdir(parents=True)
    (workspace / "more").mkdir()
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere" / "secret").write_text("x")
    (workspace / "a").write_text("a")
    (workspace / ".env").write_text("KEY=x")
    (workspace / "docs" / "link").symlink_to(tmp_path / "elsewhere" / "secret")
    (workspace / "out").symlink_to(tmp_path / "elsewhere" / "deep")
    return workspace


def reads(line: str, workspace: Path) -> bool:
    return all(part.reads for part in command(line, workspace).parts)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cat a",
            "cat a*",
            "cd docs && ls",
            "ls d*",
            "git log -- a",
            "cd docs && git diff | wc -l",
        ),
        *("cat [ab]", "cat .n*", "ls ../workspace/d*", "diff a a", "git diff --no-index a a"),
        *("md5sum a", "git config --list"),
    ],
)
def test_reading_inside_the_workspace_only_reads(places: Path, line: str) -> None:
    assert reads(line, places)


@pytest.mark.parametrize(
    "line",
    [
        "cat docs/link",
        "cat docs/*",
        "cat docs/l*",
        "cd docs; cat link",
        "cat out/../secret",
        "cat out/../s*",
        "cd out; cat ../secret",
        "cd missing; cat ../../elsewhere/secret",
        "cd docs/..; cat a",
        "cat {/etc/passwd,a}",
        "echo /root/*",
        "cat ~nobody/x",
        "grep -R x .",
        "cat < /etc/passwd",
        "git -C .. log",
        "git diff --no-index /etc/passwd a",
        "sort -o a a",
        "cat .env",
        "cat .[^z]nv",
        "cat .[[:lower:]]nv",
        "cat .[e]nv",
        "cat docs/[^z]ink",
        "cat docs/[[:alpha:]]*",
        "ls o[^z]t",
        "ls .*",
        "ls docs/.?",
        "diff docs more",
        "diff -q docs a",
        "git diff --no-index more docs",
        "md5sum -c a",
        "sha256sum --check a",
        "git config -f a --includes --list",
        r"cat ./{.en\v,x}",
        r'cat ./{.en\v"",a}',
        r"cat docs/{lin\k,}",
        r"cat docs/[link\][link\][link\][link\]]",
        r"cat docs/[l\]]ink",
        "cat docs/[l']']ink",
        'cat docs/"["l]ink*',
        "sort -y .env",
        "file -m . a",
        "strings -n @.env a",
        "git log --alternate-refs",
    ],
)
def test_what_may_lead_out_of_the_workspace_or_to_secrets_does_not(places: Path, line: str) -> None:
    assert not reads(line, places)


@pytest.mark.parametrize(
    ("name", "line"),
    [("-R", "grep x *"), ("--files0-from=.env", "wc *"), ("@.env", "strings ?.env")],
)
def test_a_pattern_that_finds_what_a_program_takes_for_an_option_does_not_only_read(
    places: Path, name: str, line: str
) -> None:
    (places / "odd").mkdir()
    (places / "odd" / "file").touch()
    assert reads(line, places / "odd")
    (places / "odd" / name).touch()
    assert not reads(line, places / "odd")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("write_file(**)", "write_file on any path in the workspace"),
        ("write(src/**)", "write on paths like src/**"),
        ("read(~/notes.md)", "read on the path ~/notes.md"),
        (
            "write(*.lock)",
            "write on paths like *.lock in the top folder; write(**/*.lock) is about every folder",
        ),
        ("write(**/*.lock)", "write on paths like **/*.lock"),
        ("write(a.lock)", "write on the path a.lock"),
        ("write(*)", "write on any path in the workspace"),
        ("bash(git status)", "the command git status"),
        ("bash(npm run test *)", "commands that begin with npm run test, without options"),
        (
            "bash(pytest -q -x *)",
            "commands that begin with pytest, with -q -x and no other options",
        ),
        ("bash(git log *)", "commands that begin with git log, with options that only read"),
        (
            "bash(sort -u *)",
            "commands that begin with sort, with -u or with options that only read",
        ),
        (
            "bash(make *)",
            "no command: make runs what is named behind it: name that too, as in bash(make NAME *)",
        ),
        ("web(docs.python.org)", "web on the server docs.python.org"),
        ("web(*.python.org)", "web on servers like *.python.org"),
        ("todo", "any call of todo"),
        ("write_file", "write_file on any path in the workspace"),
        ('lookup({"a": 1})', 'lookup with {"a": 1}'),
    ],
)
def test_a_rule_can_be_said_in_words(rule: str, words: str) -> None:
    assert parse_rule(rule).meaning == words


def test_a_rule_for_changing_folders_does_not_hide_where_the_shell_comes_back_to(
    tmp_path: Path,
) -> None:
    for folder in ("a", "deep/x"):
        (tmp_path / "workspace" / folder).mkdir(parents=True)
    workspace = tmp_path / "workspace"
    (workspace / "a" / "b").symlink_to("../deep/x")
    (workspace / "a" / "f").symlink_to(tmp_path / "secret")
    (workspace / "deep" / "f").touch()
    book = RuleBook((parse_rule("bash(cd *)"),))
    assert book.match(command("cd a/b; cd ..; cat f", workspace).parts) is None
    for line in ("cd -P a/b; cd ..; cat f", "cd deep; cd ..; cat deep/f"):
        assert book.match(command(line, workspace).parts) is not None, line


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("sed -i *", "sed -i s/a/b/ CLAUDE.md"),
        ("sort -o *", "sort a -o CLAUDE.md"),
        ("prettier --write *", "prettier --write docs/AGENTS.md"),
        ("cat *", "cat id_rsa"),
        ("check *", "check keys.env"),
        ("check *", "check file:.env"),
        ("check *", "check a:/etc/passwd"),
        ("check *", "check @options"),
        ("gcc *", "gcc a @options"),
        ("git push origin *", "git push origin +main"),
        ("git push origin *", "git push origin :main"),
        ("vimdiff *", "vimdiff a +!x"),
    ],
)
def test_a_rule_covers_no_secrets_configuration_or_words_that_do_more(
    places: Path, rule: str, line: str
) -> None:
    book = RuleBook((parse_rule(f"bash({rule})"),))
    assert book.match(command(line, places).parts) is None
    plain = " ".join((*line.split()[:-1], "a"))
    assert book.match(command(plain, places).parts) is not None


def test_a_rule_covers_packages_and_single_tests(places: Path) -> None:
    for rule, line in (("npm test *", "npm test @scope/name"), ("pytest *", "pytest a.py::test_b")):
        assert RuleBook((parse_rule(f"bash({rule})"),)).match(command(line, places).parts)


@pytest.mark.parametrize(
    ("rule", "url"),
    [
        ("web(example.org)", "https://example.org./"),
        ("web(*.example.org)", "https://a.EXAMPLE.org.:443/x"),
        ("web(2606:4700::1111)", "http://[2606:4700:0:0:0::1111]/"),
        ("web(1.2.3.4)", "http://[::ffff:1.2.3.4]/"),
        ("web(1.2.3.4)", "http://[::ffff:102:304]/"),
    ],
)
def test_a_rule_that_denies_a_server_knows_its_other_spellings(
    tmp_path: Path, rule: str, url: str
) -> None:
    book = RuleBook((replace(parse_rule(rule), verdict="deny"),))
    match = book.match(describe_call("web_fetch", {"url": url}, tmp_path).parts)
    assert match is not None and match.verdict == "deny"


@pytest.mark.parametrize("verdict", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    "inside",
    ["https://evil.example/*", "http://evil.example:8080", "evil.example/x", "evil.example:443",
     "https://you@evil.example"],
)  # fmt: skip
def test_an_address_is_no_server_and_the_rule_that_would_hold_is_named(
    inside: str, verdict: Verdict
) -> None:
    for tool in ("web", "web_fetch"):
        with pytest.raises(RuleError, match=rf"no path here: {tool}\(evil.example\)"):
            parse_rule(f"{tool}({inside})", verdict)


@pytest.mark.parametrize("server", ["evil.example", "*.evil.example", "::1", "127.0.0.1"])
def test_a_server_is_named_alone(server: str) -> None:
    assert parse_rule(f"web_fetch({server})", "deny").inside == server


@pytest.mark.parametrize("words", ["rg", "grep -r", "rg TODO src", "git grep"])
def test_a_rule_means_the_same_whatever_files_the_machine_has(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(searching, "secrets_nearby", lambda folder: looked.append(folder) or [])
    assert parse_rule(f"bash({words} *)").ceiling == "medium"
    assert looked == []
