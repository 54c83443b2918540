from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.approvals.describe import describe_call
from amplifier_tui.host.gate.calls import obeyed_by_git
from amplifier_tui.host.gate.explain import explain
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.near import nearly
from amplifier_tui.host.gate.rules.text import parse_rule

ROOM = "covers further operands in the workspace, and not all that is in this command"
NAMED = "runs what is named behind it: name that too, as in"
WHOLE = "runs what stands behind it: only a whole command, without `*`, can be allowed"


def book(*rules: str) -> RuleBook:
    return RuleBook([parse_rule(rule) for rule in rules])


@pytest.mark.parametrize(
    ("rule", "command", "why", "better"),
    [
        ("pytest *", "pytest -q", "does not cover -q", "pytest -q *"),
        ("pytest -q *", "pytest -q -x", "does not cover -x", "pytest -q -x *"),
        ("pytest *", "pytest -k foo tests", "does not cover -k", "pytest -k *"),
        (
            "npm run test *",
            "npm run test -- --watch",
            "does not cover -- --watch",
            "npm run test -- --watch *",
        ),
        ("pytest", "pytest -q", "is that command and no other", "pytest -q"),
        ("pytest *", "pytest /etc", ROOM, "pytest /etc"),
        ("pytest *", "pytest -q > out.txt", ROOM, "pytest -q > out.txt"),
        ("pytest *", "FOO=1 pytest", ROOM, "FOO=1 pytest"),
        ("touch *", "touch .envrc", "does not cover what is of high risk", "touch .envrc"),
    ],
)
def test_a_rule_that_nearly_covers_a_command_is_named_with_the_one_that_would(
    tmp_path: Path, rule: str, command: str, why: str, better: str
) -> None:
    parts = describe_call("bash", {"command": command}, tmp_path).parts
    said = f"the rule bash({rule}) {why}; bash({better}) would cover it"
    assert nearly(parts, book("bash(ls)", f"bash({rule})", "write_file")) == said
    assert book(f"bash({rule})").match(parts) is None
    assert book(f"bash({better})").match(parts) is not None


@pytest.mark.parametrize(
    ("rule", "commands", "why"),
    [
        ("make *", ("make", "make all", "make -j4"), f"make {NAMED} bash(make NAME *)"),
        ("make -j4 *", ("make -j4",), f"make {NAMED} bash(make NAME -j4 *)"),
        ("python -m *", ("python -m x",), f"python {NAMED} bash(python -m NAME *)"),
        ("uv run *", ("uv run pytest",), f"uv run {NAMED} bash(uv run NAME *)"),
        ("env *", ("env A=b make",), f"env {WHOLE}"),
        ("bash *", ("bash x.sh",), f"bash {WHOLE}"),
        ("sqlite3 *", ("sqlite3 a.db",), f"sqlite3 {WHOLE}"),
    ],
)
def test_of_a_rule_that_covers_no_command_it_is_said_why(
    tmp_path: Path, rule: str, commands: tuple[str, ...], why: str
) -> None:
    found = parse_rule(f"bash({rule})")
    assert found.covers_nothing == why and found.meaning == f"no command: {why}"
    for command in commands:
        parts = describe_call("bash", {"command": command}, tmp_path).parts
        assert RuleBook([found]).match(parts) is None
        assert nearly(parts, RuleBook([found])) == f"the rule {found} covers no command: {why}"


@pytest.mark.parametrize("rule", ["make test *", "python x.py *", "uv run pytest *", "git log *"])
def test_a_rule_that_covers_commands_is_not_said_to_cover_none(rule: str, tmp_path: Path) -> None:
    found = parse_rule(f"bash({rule})")
    assert not found.covers_nothing
    parts = describe_call("bash", {"command": rule.removesuffix(" *")}, tmp_path).parts
    assert RuleBook([found]).match(parts) is not None


@pytest.mark.parametrize("rule", ["bash(git push *)", "bash(git push)"])
def test_a_rule_that_denies_says_that_it_takes_options_along(rule: str) -> None:
    assert parse_rule(rule, "deny").meaning == "commands that begin with git push"
    assert not parse_rule("bash(make *)", "deny").covers_nothing


def test_of_several_commands_the_one_without_a_rule_is_told_of(tmp_path: Path) -> None:
    parts = describe_call("bash", {"command": "pytest a.py && pytest -q; rm x"}, tmp_path).parts
    said = "does not cover -q; bash(pytest -q *) would cover that part of the line"
    assert nearly(parts, book("bash(pytest *)")) == f"the rule bash(pytest *) {said}"
    assert nearly(parts, book("bash(npm test *)")) == ""


@pytest.mark.parametrize(
    ("mode", "command", "near"),
    [
        ("ask", "pytest -q", True),
        ("plan", "pytest -q", True),
        ("ask", "pytest", False),
        ("ask", "pytest -q > ~/.bashrc", False),
    ],
)
def test_an_explanation_names_the_rule_that_nearly_decides(
    tmp_path: Path, mode: Mode, command: str, near: bool
) -> None:
    gate = Gate(tmp_path, lambda: book("bash(pytest *)"), mode)
    found = explain(gate, "bash", {"command": command}, ())
    assert bool(found.near) is near


def test_of_an_address_it_is_said_that_the_rule_does_not_name_it(tmp_path: Path) -> None:
    found = explain(
        Gate(tmp_path, lambda: book("bash(dig *)"), "ask"), "bash", {"command": "dig a.b"}, ()
    )
    assert found.near == (
        "the rule bash(dig *) covers no address that it does not name; bash(dig a.b) would cover it"
    )


def test_of_a_file_deeper_down_the_rule_for_the_top_folder_is_named(tmp_path: Path) -> None:
    def near(path: str) -> str:
        described = describe_call("write_file", {"file_path": path, "content": ""}, tmp_path)
        return nearly(described.parts, book("write(*.lock)"))

    said = "the rule write(*.lock) is about the top folder alone; write(**/*.lock) would cover it"
    assert near("deep/er/a.lock") == said
    assert near("a.lock") == near("deep/a.txt") == ""


def test_a_rule_that_writes_a_file_is_read_without_a_look_at_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(obeyed_by_git, "nearby", lambda root, _: looked.append(root) or ())
    assert str(parse_rule("bash(echo x > out.txt)", "allow")) == "bash(echo x > out.txt)"
    assert looked == []
