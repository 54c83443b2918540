"""The permissions screen, the explanation of a call, and the audit log."""

import time

import pytest

from amplifier_tui.host.client import AuditCard, CallExplanation, PastCall, RuleCard
from amplifier_tui.ui.dialogs.permissions.audit import AuditLog
from amplifier_tui.ui.dialogs.permissions.details import DetailSheet
from amplifier_tui.ui.dialogs.permissions.rules import RuleList, ScopePicker
from amplifier_tui.ui.dialogs.permissions.words import decided_by, explanation
from amplifier_tui.ui.dialogs.questions import AskLine
from tests.ui.driving import Driver, running
from tests.ui.fake_client import SESSION, FakeClient
from tests.ui.state.make import tool, tool_ended, turn

FILE = "/home/u/.config/amplifier-tui/rules.yaml"
NOW = time.time()


def decided(key: str, **more: object) -> AuditCard:
    values: dict[str, object] = {
        "session_id": SESSION,
        "at": NOW - 300,
        "tool": "bash",
        "arguments": {"command": "git push \x1b[31morigin"},
        "outcome": "allowed",
        "call_id": "c1",
    }
    return AuditCard(key=key, **{**values, **more})


def client() -> FakeClient:
    audited = (
        decided("s1:3", by="rule", rule="bash(git push *)", risk="high", reasons=("network",)),
        decided("s1:2", outcome="timed_out", by="timeout", tool="write_file",
                arguments={"file_path": "a.py", "content": "[b]x"}, reason="nobody answered"),
        decided("old:1", outcome="denied", session_id="old", reason="not today", scope="always"),
    )  # fmt: skip
    explained = CallExplanation(
        tool="bash", verdict="deny", reason="The rule bash(git push) denies this.",
        rule="bash(git push)", where=f"{FILE}:7", risk="high", reasons=("network",),
        past=(PastCall(card=audited[0], verdict="deny"),),
    )  # fmt: skip
    return FakeClient(
        audited=audited,
        explained=explained,
        standing=(
            RuleCard(key="a", text="bash(ls [b]*)", meaning="as [i] say", editable=True),
            RuleCard(key="b", text="bash(npm run test *)", scope="project", owner="user",
                     where=f"{FILE}:9", uses=12, last_use=NOW - 7200, editable=True),
            RuleCard(key="c", text="bash(git push *)", verdict="deny", scope="always",
                     owner="user", where=f"{FILE}:2", editable=True),
            RuleCard(key="d", text="read(.env)", verdict="ask", scope="project", owner="project",
                     where="/work/.amplifier/rules.yaml:1"),
            RuleCard(key="e", text="web", scope="project", owner="project",
                     where="/work/.amplifier/rules.yaml:4", problem="you did not let it"),
            RuleCard(key="f", where=f"{FILE}:3:14", problem="a `*` stands alone"),
        ),
    )  # fmt: skip


async def listed(drive: Driver) -> RuleList:
    await drive.press("f5")
    found = await drive.dialog(RuleList)
    await drive.settle()
    return found


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_rules_are_listed_by_how_long_they_hold_with_file_and_uses(
    size: tuple[int, int],
) -> None:
    async with running(client(), size=size) as drive:
        await listed(drive)
        text = drive.text()
        assert "This session" in text and "allow bash(ls [b]*)" in text
        assert "This project · " in text and "as [i] say" in text
        if size[1] >= 24:
            assert "12 uses · 2 h ago" in text and f"Everywhere · {FILE}" in text
            assert "Add" in text and "Revoke" in text and "Audit log" in text
            await drive.press(*("j",) * 4)
            assert "Does not count" in drive.text() and "you did not let it" in drive.text()
            await drive.press("j")
            assert "rules.yaml:3:14" in drive.text() and "stands alone" in drive.text()


async def test_a_list_without_rules_offers_no_filter() -> None:
    async with running(FakeClient(standing=())) as drive:
        await listed(drive)
        assert "There is no rule" in drive.text() and "Filter" not in drive.text()


async def test_the_meaning_of_a_rule_is_marked_where_a_small_screen_cuts_it() -> None:
    meaning = "commands that begin with npm run test --watch, in any folder of the workspace"
    card = RuleCard(key="a", text="bash(npm run test --watch *)", meaning=meaning, editable=True)
    host = FakeClient(standing=(card,))
    async with running(host, size=(40, 12)) as drive:
        await listed(drive)
        said = drive.text().split("commands that")[1].splitlines()[0]
        assert said.rstrip().endswith("…")


async def test_a_rule_is_added_after_what_was_wrong_with_it_was_said() -> None:
    async with running(client()) as drive:
        await listed(drive)
        drive.client.wrong = "Column 9: a `*` stands alone, behind a blank."
        await drive.press("a")
        await drive.dialog(ScopePicker)
        await drive.press("down", "enter")
        await drive.dialog(AskLine)
        assert "New rule, this project" in drive.text()
        await drive.write("bash(git*)")
        await drive.press("enter")
        await drive.until(lambda: "Column 9" in drive.text())
        line = await drive.dialog(AskLine)
        assert "Column 9" in drive.text() and line.query_one("#line").value == "bash(git*)"
        drive.client.wrong = ""
        added = RuleCard(key="n", text="Edit(a)", verdict="deny", scope="always", owner="user",
                         where=f"{FILE}:5", doubtful=True, meaning="write write(a)")  # fmt: skip
        drive.client.standing = (*drive.client.standing, added)
        await drive.press("enter")
        await drive.dialog(RuleList)
        assert drive.client.named("add_rule") == [("bash(git*)", "project")] * 2
        await drive.until(lambda: "write write(a)" in drive.text())
        assert "! deny  Edit(a)" in drive.text(), "what is doubtful of a new rule is shown at once"
        await drive.press("a", "escape")
        await drive.dialog(RuleList)


async def test_a_rule_is_changed_revoked_and_put_back() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("j", "j", "e")
        line = await drive.dialog(AskLine)
        assert line.query_one("#line").value == "deny bash(git push *)"
        await drive.write("x")
        await drive.press("enter")
        await drive.dialog(RuleList)
        assert drive.client.named("change_rule") == [("c", "deny bash(git push *)x")]
        await drive.press("j", "j", "d")
        assert drive.client.named("remove_rule") == [("c",)]
        assert "Undo" in drive.text()
        await drive.press("u")
        assert drive.client.named("add_rule") == [("deny bash(git push *)", "always")]
        assert "Undo" not in drive.text()


async def test_a_rule_of_the_project_is_not_changed_here() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press(*("j",) * 3)
        assert "Revoke" not in drive.text() and "only in that file" in drive.text()
        await drive.press("d", "e")
        assert drive.client.named("remove_rule") == []
        await drive.dialog(RuleList)


async def test_rules_are_filtered_by_words_and_escape_leaves_the_filter_first() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("slash")
        await drive.write("deny push")
        assert "git push" in drive.text() and "npm run" not in drive.text()
        await drive.press("escape", "escape")
        assert "npm run" in drive.text()
        await drive.press("escape")
        await drive.closed()


async def test_rules_that_cannot_be_listed_say_why() -> None:
    asked = client()
    asked.standing = RuntimeError("No session is open")
    async with running(asked) as drive:
        await listed(drive)
        assert "cannot be listed: No session is open" in drive.text()


async def test_a_call_is_explained_from_the_list_or_by_its_command() -> None:
    async with running(client()) as drive:
        await listed(drive)
        await drive.press("question_mark")
        await drive.dialog(AskLine)
        await drive.write("git push")
        await drive.press("enter")
        await drive.dialog(DetailSheet)
        text = drive.text()
        assert drive.client.named("explain_call") == [("git push",)]
        assert "✗ is refused" in text and f"{FILE}:7" in text and "▲▲ high" in text
        assert "1 call decided by this rule in the last 30 days" in text
        await drive.press("escape")
        await drive.dialog(RuleList)
        await drive.press("escape")
        await drive.closed()
        drive.client.explained = ValueError("give the arguments of x as JSON")
        await drive.write("/explain x(y)")
        await drive.press("enter")
        assert "as JSON" in drive.text()


def test_an_explanation_names_the_rule_that_nearly_covers_the_call() -> None:
    near = "the rule bash(pytest *) does not cover -q; bash(pytest -q *) would cover it"
    assert f"near {near}" in explanation(CallExplanation(tool="bash", near=near)).plain


def test_what_nobody_could_be_asked_about_is_not_said_to_be_the_users_decision() -> None:
    assert decided_by(decided("s1:4")) == "you"
    assert decided_by(decided("s1:4", by="nobody")) == "nobody to be asked"
    assert decided_by(decided("s1:4", by="stop")) == "a stop"


async def test_the_audit_log_is_filtered_opened_and_leads_to_the_conversation() -> None:
    async with running(client()) as drive:
        await drive.push(turn(), tool("c1", arguments={"command": "git push"}), tool_ended("c1"))
        await drive.press("ctrl+x", "F")
        await drive.dialog(AuditLog)
        text = drive.text()
        assert "timed out write_file  a.py  " in text and "\x1b" not in text
        assert text.index("allowed") < text.index("timed out") < text.index("denied")
        await drive.write("write timed [b]x")
        assert "rule bash(git push *)" not in drive.text()
        await drive.press("enter")
        await drive.dialog(DetailSheet)
        assert "nobody answered" in drive.text() and '"content": "[b]x"' in drive.text()
        await drive.press("y")
        assert '"file_path": "a.py"' in drive.app.clipboard
        await drive.write("/audit denied")
        await drive.press("enter")
        await drive.dialog(AuditLog)
        await drive.press("enter")
        await drive.dialog(DetailSheet)
        await drive.press("escape")
        await drive.dialog(AuditLog)
        await drive.press("enter")
        await drive.dialog(DetailSheet)
        assert "session old" in drive.text()
        await drive.press("g")
        assert "/resume old" in drive.text()
        await drive.press("ctrl+x", "F")
        await drive.dialog(AuditLog)
        await drive.press("enter")
        await drive.dialog(DetailSheet)
        await drive.press("g")
        await drive.closed()
        assert drive.app.focused is drive.app.main.transcript
