"""The rules of an open session: listed with their uses, changed, explained, and the audit log."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest

from amplifier_tui.host.client import Decision, RuleCard
from amplifier_tui.host.events import (
    ApprovalRequested,
    ApprovalResolved,
    Notice,
    SessionClosed,
    SessionOpened,
    ToolEnded,
    TurnEnded,
)
from amplifier_tui.host.gate.explain import read_call
from amplifier_tui.host.gate.rules.file import (
    add_rules,
    load_rules,
    project_rules_path,
    user_rules_path,
)
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.session.carrying import fork_stored
from tests.host.driving import Driver, Project, calling

T = TypeVar("T")
RUN: dict[str, Any] = {"bash": {"command": "touch ran.txt"}}


def got(asked: "Future[T]") -> T:
    return asked.result(10)


def opened(project: Project, driver: Driver, *calls: dict[str, Any], **more: Any) -> str:
    name = project.bundle(script=calling(*calls), tools=("tool-filesystem", "tool-bash"))
    project.allow([])
    return driver.open(name, **more).session_id


def shown(cards: tuple[RuleCard, ...]) -> list[tuple[str, ...]]:
    return [(card.verdict, card.text, card.scope, card.owner) for card in cards]


def test_a_rule_for_a_project_above_is_changed_and_revoked_where_it_is_kept(
    project: Project, driver: Driver
) -> None:
    above = project.folder.resolve().parent
    (above / ".git").mkdir()
    opened(project, driver)
    add_rules(user_rules_path(), (parse_rule("read(one/**)", "deny"),), above)

    def mine() -> list[RuleCard]:
        return [card for card in got(driver.client.rules()) if card.text.startswith("read(")]

    def kept_above() -> list[str]:
        return [f"{rule.verdict} {rule}" for rule in load_rules(above)[0]]

    (card,) = mine()
    assert card.editable and card.where.endswith(f", for {above}")
    assert not got(driver.client.change_rule(card.key, "deny read(two/**)"))
    assert kept_above() == ["deny read(two/**)"]
    (card,) = mine()
    assert not got(driver.client.remove_rule(card.key)) and kept_above() == [] and mine() == []
    assert not got(driver.client.add_rule("deny read(two/**)", "project"))
    assert kept_above() == ["deny read(two/**)"], "what is put back is not where it was"


def test_a_rule_is_kept_for_the_project_after_its_reach_was_said_and_counts_its_uses(
    project: Project, driver: Driver
) -> None:
    opened(project, driver, RUN)
    driver.client.submit("go")
    request = driver.deny_next()
    driver.wait(TurnEnded)
    driver.client.submit("again")
    request = driver.wait(ApprovalRequested)
    assert request.kept_in == str(user_rules_path())
    assert request.meaning == "commands that begin with touch, without options"
    assert got(driver.client.rule_reach(request.request_id)) == 1
    arguments = got(driver.client.call_arguments(request.request_id))
    assert not got(driver.client.change_call(request.request_id, arguments))
    request = driver.wait(ApprovalRequested, lambda e: e.request_id != request.request_id)
    assert got(driver.client.rule_reach(request.request_id)) == 1, "what was changed never ran"
    assert got(driver.client.rule_reach("gone")) == 0
    driver.client.decide(request.request_id, Decision(allow=True, scope="project"))
    driver.wait(TurnEnded)
    said = "allow bash(touch *): kept for this project"
    driver.wait_until(lambda: said in [e.text for e in driver.of(Notice)], "it was not written")
    driver.client.submit("and again")
    assert driver.wait(ApprovalResolved, lambda e: e.by == "rule").rule == "bash(touch *)"
    driver.wait(TurnEnded)
    (card,) = got(driver.client.rules())
    assert shown((card,)) == [("allow", "bash(touch *)", "project", "user")]
    assert (
        card.meaning == request.meaning
        and card.uses == 1
        and card.last_use > 0
        and card.where.startswith(str(user_rules_path()))
    )
    newest, *_, oldest = got(driver.client.audit())
    assert (newest.by, newest.outcome, newest.tool) == ("rule", "allowed", "bash")
    assert (oldest.by, oldest.outcome) == ("user", "denied")
    assert newest.arguments == RUN["bash"] and newest.call_id


def test_a_rule_counts_no_uses_of_one_of_the_same_words_in_another_session(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    opened(project, first, RUN)
    got(first.client.add_rule("bash(touch *)", "session"))
    got(first.client.add_rule("deny bash(touch *)", "project"))
    got(first.client.remove_rule(got(first.client.rules())[1].key))
    first.turn("go")
    assert [card.uses for card in got(first.client.rules())] == [1]
    first.close()
    second = drive()
    opened(project, second, RUN)
    for line, scope in (("bash(touch *)", "session"), ("deny bash(touch *)", "always")):
        assert not got(second.client.add_rule(line, scope))
    assert [(card.scope, card.uses) for card in got(second.client.rules())] == [
        *(("session", 0), ("always", 0)),
    ]


def test_rules_are_added_changed_and_taken_out_of_their_file_again(
    project: Project, driver: Driver
) -> None:
    opened(project, driver, RUN)
    client = driver.client
    assert got(client.add_rule("deny bash(git*)", "always")) == (
        "Column 14: a `*` stands alone, behind a blank."
    )
    assert got(client.add_rule("deny bash(git push *)", "always")) == ""
    assert got(client.add_rule("ask web", "project")) == ""
    assert got(client.add_rule("bash(ls)", "session")) == ""
    # Another window, and a hand in an editor.
    add_rules(user_rules_path(), (parse_rule("read(notes/**)", "deny"),))
    project_rules_path(project.folder).write_text("allow: [grep]\ndeny: [glob]\n")
    cards = got(client.rules())
    assert shown(cards) == [
        ("allow", "bash(ls)", "session", "session"),
        ("ask", "web", "project", "user"),
        ("deny", "glob", "project", "project"),
        ("deny", "bash(git push *)", "always", "user"),
        ("deny", "read(notes/**)", "always", "user"),
        ("allow", "grep", "project", "project"),
    ]
    assert [card.editable for card in cards] == [True, True, False, True, True, False]
    assert "you did not let it" in cards[-1].problem
    by_text = {card.text: card.key for card in cards}
    assert got(client.change_rule(by_text["bash(git push *)"], "deny bash(git reset *)")) == ""
    assert got(client.change_rule(by_text["web"], "ask web")) == ""
    assert "changed elsewhere" in got(client.change_rule(by_text["bash(git push *)"], "web"))
    assert got(client.remove_rule(by_text["bash(ls)"])) == ""
    assert got(client.remove_rule(by_text["read(notes/**)"])) == ""
    assert "changed elsewhere" in got(client.remove_rule(by_text["glob"]))
    assert "bash(git reset *)" in user_rules_path().read_text()
    assert [card.text for card in got(client.rules())] == [
        *("web", "glob", "bash(git reset *)", "grep"),
    ]


def test_a_rule_whose_secret_is_not_shown_comes_back_whole(
    project: Project, driver: Driver
) -> None:
    opened(project, driver, RUN)
    client = driver.client
    secret = "ghp_" + "a1B2c3D4e5" * 4
    assert got(client.add_rule(f"deny bash(deploy {secret})", "always")) == ""
    (card,) = got(client.rules())
    assert secret not in card.text
    assert got(client.remove_rule(card.key)) == ""
    assert secret not in user_rules_path().read_text()
    assert got(client.add_rule(f"{card.verdict} {card.text}", card.scope)) == ""
    assert f"bash(deploy {secret})" in user_rules_path().read_text()


def test_a_rule_added_while_a_call_waits_answers_it(project: Project, driver: Driver) -> None:
    opened(project, driver, RUN)
    driver.client.submit("go")
    driver.wait(ApprovalRequested)
    assert got(driver.client.add_rule("bash(touch *)", "session")) == ""
    assert driver.wait(ApprovalResolved).rule == "bash(touch *)"
    assert driver.wait(ToolEnded).ok


def test_a_call_is_explained_by_rule_mode_and_risk(project: Project, driver: Driver) -> None:
    opened(project, driver, RUN)
    found = got(driver.client.explain_call("git push"))
    assert (found.verdict, found.rule, found.mode) == ("ask", "", "ask")
    assert "mode ask: asks before commands" in found.reason
    got(driver.client.add_rule("deny bash(git push)", "always"))
    found = got(driver.client.explain_call("git push --force"))
    assert (found.verdict, found.rule) == ("deny", "bash(git push)")
    assert found.where.startswith(f"{user_rules_path()}:")
    assert got(driver.client.explain_call("write(src/a.py)")).verdict == "ask"
    assert got(driver.client.explain_call("rm -rf /")).risk == "critical"
    error = driver.client.explain_call("mcp_x(what)").exception(10)
    assert isinstance(error, ValueError) and "as JSON" in str(error)


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("write_file ledger/z.py", "write_file", {"file_path": "ledger/z.py", "content": ""}),
        ("write_file(a b)", "write_file", {"file_path": "a b", "content": ""}),
        ("bash 'sleep 1'", "bash", {"command": "sleep 1"}),
        ("bash script.sh", "bash", {"command": "bash script.sh"}),
        ("bash 'it", "bash", {"command": "bash 'it"}),
        ("ls -l src", "bash", {"command": "ls -l src"}),
        ("make {all,test}", "bash", {"command": "make {all,test}"}),
        ('mcp_x {"a": 1}', "mcp_x", {"a": 1}),
        ("make all", "bash", {"command": "make all"}),
        ("mcp_x", "mcp_x", {}),
        ("mcp__other__tool", "mcp__other__tool", {}),
        ('mcp__other__tool {"a": 1}', "mcp__other__tool", {"a": 1}),
        ("memory", "memory", {}),
        ("task", "task", {}),
        ("ls", "bash", {"command": "ls"}),
        ("pytest", "bash", {"command": "pytest"}),
    ],
)
def test_a_call_is_read_as_a_rule_has_it_with_its_tool_before_it_or_as_a_command(
    text: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert read_call(text, ("make", "mcp_x")) == (tool, arguments)


def test_what_a_tool_will_refuse_itself_is_explained_as_refused(
    project: Project, driver: Driver
) -> None:
    opened(project, driver, RUN)
    found = got(driver.client.explain_call("write_file ~/.ssh/authorized_keys"))
    assert (found.tool, found.verdict) == ("write_file", "deny")
    assert ".ssh" in found.reason
    assert got(driver.client.explain_call("write_file ../x/a.txt")).verdict == "ask"


def test_what_a_bundle_denies_or_asks_about_is_listed_and_explained(
    project: Project, driver: Driver
) -> None:
    approval = {"allow": ["bash(git status)"], "deny": ["bash(rm *)"], "ask": ["bash(ls)"]}
    driver.open(project.bundle(tools=("tool-bash",), hooks=(("hooks-approval", approval),)))
    assert shown(got(driver.client.rules())) == [
        ("allow", "bash(git status *)", "session", "bundle"),
        ("deny", "bash(rm *)", "session", "bundle"),
        ("ask", "bash(ls *)", "session", "bundle"),
    ]
    found = got(driver.client.explain_call("rm x"))
    assert (found.verdict, found.rule, found.where) == ("deny", "bash(rm *)", "test")
    found = got(driver.client.explain_call("ls src"))
    assert (found.verdict, found.rule, found.where) == ("ask", "bash(ls *)", "test")
    assert found.reason == "the rule bash(ls *) asks"
    assert got(driver.client.explain_call("git status")).verdict == "allow"


def test_while_the_rules_cannot_be_read_no_mode_lets_anything_through(
    project: Project, driver: Driver
) -> None:
    user_rules_path().parent.mkdir(parents=True, exist_ok=True)
    user_rules_path().write_bytes(b"\xff\xfe")
    opened(project, driver, {"write_file": {"file_path": "a.txt", "content": ""}}, mode="edits")
    user_rules_path().write_bytes(b"\xff\xfe\xff")
    driver.client.submit("go")
    request = driver.deny_next()
    assert request.why == "rules.yaml can't be read wholly, and may deny this"
    cost = "until then nothing goes unasked, not even reading."
    said = [notice.text for notice in driver.of(Notice) if "it is no text" in notice.text]
    assert said and said[0].endswith(cost)
    assert "it is no text" in got(driver.client.rules())[-1].problem
    assert "Correct it first" in got(driver.client.add_rule("echo", "always"))
    assert got(driver.client.explain_call("git status")).verdict == "ask"
    user_rules_path().write_text("")
    assert got(driver.client.explain_call("write(a.txt)")).verdict == "allow"


def marks(driver: Driver) -> set[tuple[str, str, str | None]]:
    """The calls of one answer are judged side by side: which is first differs."""
    found = [(e.tool, e.rule, e.mode) for e in driver.of(ApprovalResolved)]
    assert len(set(found)) == len(found)
    return set(found)


def test_what_a_rule_or_a_mode_let_through_is_known_after_resume_and_fork(
    project: Project, drive: Callable[..., Driver]
) -> None:
    write = {"write_file": {"file_path": "a.txt", "content": "a\nb\n"}}
    first = drive()
    opened(project, first, write, RUN, {"read_file": {"file_path": "a.txt"}}, mode="edits")
    got(first.client.add_rule("bash(touch *)", "session"))
    first.turn("go")
    live = marks(first)
    assert live == {("write_file", "", "edits"), ("bash", "bash(touch *)", None)}
    first.close()
    second = drive()
    second.open(resume="last")
    assert marks(second) == live
    order = [type(e).__name__ for e in second.events if isinstance(e, ApprovalResolved | ToolEnded)]
    assert order == [*("ApprovalResolved", "ToolEnded") * 2, "ToolEnded"]
    second.client.fork()
    fork = second.wait(SessionOpened).session_id
    second.close()
    third = drive()
    third.open(resume=fork)
    assert marks(third) == live


def test_a_rule_for_a_tool_of_other_agents_is_told_of_with_the_one_that_holds(
    project: Project, driver: Driver
) -> None:
    path = project_rules_path(project.folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("deny:\n  - Edit(secrets/**)\n  - write_file(keys/**)\n")
    opened(project, driver)
    words = "no tool of the program is called Edit; write write(secrets/**)"
    said = f"{path}:2:1: Edit(secrets/**): {words}"
    driver.wait_until(lambda: said in [e.text for e in driver.of(Notice)], "it was not told")
    assert not any("keys" in notice.text for notice in driver.of(Notice))
    assert not got(driver.client.add_rule("deny shell(git push)", "session"))
    found = {card.text: card for card in got(driver.client.rules())}
    assert found["Edit(secrets/**)"].meaning == words and found["Edit(secrets/**)"].doubtful
    assert found["shell(git push)"].meaning.endswith("; write bash(git push)")
    assert not found["write_file(keys/**)"].doubtful and "" not in found


def test_what_a_session_denies_and_asks_about_holds_for_as_long_as_there_is_it(
    project: Project, drive: Callable[..., Driver]
) -> None:
    read = {"read_file": {"file_path": "a.txt"}}
    (project.folder / "a.txt").write_text("the plan")
    first = drive()
    session = opened(project, first, read, RUN, mode="edits")
    for line in ("deny read(a.txt)", "ask bash(touch *)", "deny write(gone/**)", "allow web"):
        assert not got(first.client.add_rule(line, "session"))
    (gone,) = (card for card in got(first.client.rules()) if "gone" in card.text)
    assert not got(first.client.remove_rule(gone.key))
    kept = [
        ("deny", "read(a.txt)", "session", "session"),
        ("ask", "bash(touch *)") + ("session",) * 2,
    ]

    def holds(driver: Driver) -> None:
        assert shown(got(driver.client.rules())) == kept
        driver.client.submit("go")
        assert driver.deny_next().why == "the rule bash(touch *) asks"
        driver.wait(TurnEnded)
        assert not any("the plan" in event.output for event in driver.of(ToolEnded))

    first.client.submit("go")
    first.deny_next()
    first.wait(TurnEnded)
    # As after `kill -9`: nothing that is done when it closes has been done.
    copy = project.folder_of(session).with_name("killed")
    shutil.copytree(project.folder_of(session), copy)
    first.client.fork()
    fork = first.wait(SessionOpened).session_id
    holds(first)
    first.client.switch_bundle("test")
    first.wait(SessionOpened)
    holds(first)
    first.close()
    for session_id in (session, "killed", fork):
        again = drive()
        again.open(resume=session_id)
        holds(again)
        again.close()
    copied = fork_stored(project.folder_of(session), None)
    last = drive()
    last.open(resume=copied.name)
    holds(last)


@pytest.mark.parametrize(("line", "ends"), [("allow web", True), ("deny web", False)])
def test_what_was_allowed_for_a_session_ends_with_it_and_that_is_said(
    project: Project, drive: Callable[..., Driver], line: str, ends: bool
) -> None:
    first = drive()
    opened(project, first, {"read_file": {"file_path": "a.txt"}})
    assert not got(first.client.add_rule(line, "session"))
    first.turn("go")
    first.close()
    (closed,) = first.of(SessionClosed)
    assert bool(closed.ends) is ends
    again = drive()
    again.open(resume="last")
    assert len(got(again.client.rules())) == (0 if ends else 1)
    again.close()
    assert not again.of(SessionClosed)[0].ends


def test_rules_of_a_session_that_can_t_be_read_again_let_nothing_through(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive()
    session = opened(project, first, {"read_file": {"file_path": "a.txt"}}, mode="edits")
    first.turn("go")
    first.close()
    card = project.folder_of(session) / "metadata.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "rules": {"deny": [["read"]]}}))
    again = drive()
    again.open(resume=session)
    again.client.submit("go")
    assert again.deny_next().why == "a rule of this session can't be read, and may deny this"
    again.wait(TurnEnded)
    assert any("The rules of this session can't be read" in e.text for e in again.of(Notice))


def test_an_answer_with_a_secret_in_it_is_not_stored_and_that_is_said(
    project: Project, drive: Callable[..., Driver]
) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 6
    first = drive()
    session = opened(project, first, {"bash": {"command": f"touch {secret}"}})
    first.client.submit("go")
    first.deny_next(scope="session")
    first.wait(TurnEnded)
    said = "holds until the session is closed: a secret in it is not stored"
    first.wait_until(lambda: any(said in e.text for e in first.of(Notice)), "it was not said")
    first.close()
    assert secret not in (project.folder_of(session) / "metadata.json").read_text()
