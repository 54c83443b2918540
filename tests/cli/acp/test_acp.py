"""What an editor gets from `amplifier-tui acp`."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, helpers, schema

from amplifier_tui.cli.acp.asking import EditorQuestions
from amplifier_tui.cli.acp.calls import change_of, places_of
from amplifier_tui.cli.acp.turn import EditorTurn
from amplifier_tui.cli.acp.updates import Updates
from amplifier_tui.host.events import Failed, HostEvent, ToolProgress, TurnEnded
from amplifier_tui.host.gate.session_gate import ASKER
from amplifier_tui.paths import sessions_dir
from tests.cli.acp.editor import TestEditor
from tests.host.driving import Project, calling, saying
from tests.modules.tool_mcp.support import ROOT
from tests.pixels import plain
from tests.waiting import within

Connect = Callable[..., Awaitable[TestEditor]]
WRITE = {"write_file": {"file_path": "a.txt", "content": "one\n"}}
RUN = {"bash": {"command": "touch b.txt"}}
SLOW = {"bash": {"command": "touch c.txt && sleep 60"}}
TOOLS = ("tool-filesystem", "tool-bash", "tool-todo", "tool-ask-user")


async def opened(editor: TestEditor, project: Project) -> str:
    return (await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])).session_id


async def test_files_of_a_bundle_that_works_on_a_copy_are_named_where_they_are(
    project: Project, connect: Connect
) -> None:
    (project.bundles / "sample").mkdir()
    workspace = {"workspace": {"template": "sample"}}
    script = calling(WRITE, {"read_file": {"file_path": "~/b.txt"}})
    name = project.bundle(script=script, tools=TOOLS, session=workspace)
    project.allow([])
    editor = await connect(name)
    editor.answers = ["once", "once"]
    await editor.say(await opened(editor, project), "go")
    read, write = sorted(editor.of(schema.ToolCallStart), key=lambda call: call.title)
    copy = Path(write.locations[0].path)
    assert copy.read_text() == "one\n" and project.folder not in copy.parents
    assert write.content[0].path == str(copy)
    assert read.locations[0].path == str(Path.home() / "b.txt")
    asked = {place.path for call, _ in editor.asked for place in call.locations}
    assert asked == {str(copy), read.locations[0].path}


async def test_a_prompt_is_answered_in_chunks_with_calls_permissions_and_usage(
    project: Project, connect: Connect
) -> None:
    name = project.bundle(
        script=calling(WRITE, RUN, then="All *done*.", say="Let me."), tools=TOOLS
    )
    project.allow([])
    editor = await connect(name)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    assert [mode.id for mode in new.modes.available_modes] == ["plan", "ask", "edits"]
    assert new.modes.current_mode_id == "ask"
    assert new.config_options[0].id == "model"
    editor.answers = ["session", "deny"]
    ended = await editor.say(new.session_id, "go")
    about = next(
        call.content[-1].content.text
        for call, _ in editor.asked
        if call.title.startswith("write_file")
    )
    for part in (
        *("Risk: medium. ", f"Asked by {ASKER}: mode ask", f"In `{project.folder}`."),
        *("keeps the rule `write_file(**)` (`write_file on any path", "rules.yaml`."),
    ):
        assert part in about, about
    assert ended.stop_reason == "end_turn"
    assert ended.usage.output_tokens > 0
    assert editor.text() == "Let me.All *done*."
    starts = {each.title: each for each in editor.of(schema.ToolCallStart)}
    assert set(starts) == {"write_file a.txt", "touch b.txt"}
    write = starts["write_file a.txt"]
    assert write.kind == "edit" and write.locations[0].path == f"{project.folder}/a.txt"
    (change,) = write.content
    assert (change.old_text, change.new_text) == (None, "one\n")
    over = {each.tool_call_id: each.status for each in editor.of(schema.ToolCallProgress)}
    by_title = {title: over[each.tool_call_id] for title, each in starts.items()}
    assert sorted(by_title.values()) == ["completed", "failed"]
    kinds = [[option.kind for option in options] for _, options in editor.asked]
    assert all(each[0] == "allow_once" and each[-1] == "reject_once" for each in kinds)
    assert {call.title.split()[0] for call, _ in editor.asked} == {"write_file", "bash"}
    await editor.until(lambda: editor.of(schema.UsageUpdate))
    names = {each.name for each in editor.of(schema.AvailableCommandsUpdate)[-1].available_commands}
    assert {"compact", "undo", "redo", "rename"} <= names


async def test_a_kept_answer_holds_for_the_session(project: Project, connect: Connect) -> None:
    name = project.bundle(script=calling(WRITE), tools=TOOLS)
    project.allow([])
    editor = await connect(name)
    session = await opened(editor, project)
    editor.answers = ["session"]
    await editor.say(session, "go")
    await editor.say(session, "again")
    assert len(editor.asked) == 1


@pytest.mark.parametrize("moment", ["asked", "answering", "running", "idle"])
async def test_a_turn_is_cancelled_in_every_state(
    moment: str, project: Project, connect: Connect
) -> None:
    slow = {"when": {"prompt": "go"}, **calling(SLOW)}
    if moment == "answering":
        slow |= saying("one, two, three, " * 100)
    speed = 40 if moment == "answering" else 0
    name = project.bundle(script=[slow, saying("Next.")], tools=TOOLS, speed=speed)
    project.allow([] if moment == "asked" else ["bash(touch *)", "bash(sleep *)"])
    editor = await connect(name)
    session = await opened(editor, project)
    if moment == "idle":
        await editor.agent.cancel(session_id=session)
    else:
        editor.hold = asyncio.Event()
        turn = asyncio.create_task(editor.say(session, "go"))
        if moment == "answering":
            await editor.until(editor.text)
        else:
            await editor.until(lambda: editor.asked or moment == "running")
            await editor.until(lambda: editor.of(schema.ToolCallStart))
        await editor.agent.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"
        editor.hold.set()
    assert (await editor.say(session, "next")).stop_reason == "end_turn"
    assert editor.text().endswith("Next.") and len(editor.text()) < 1_000


async def test_a_stored_session_is_retold_and_gone_on_with(
    project: Project, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = project.bundle(script=calling(RUN, then="It said hello."), tools=TOOLS)
    first = await connect(name)
    session = await opened(first, project)
    await first.say(session, "go")
    await first.leave()
    waits = sessions_dir(project.folder) / session / "queue.json"
    waits.write_text('{"prompts": [{"text": "on the screen"}]}')
    second = await connect(name)
    listed = await second.agent.list_sessions(cwd=str(project.folder))
    assert [(each.session_id, each.title) for each in listed.sessions] == [(session, "go")]
    elsewhere = project.folder.parent / "elsewhere"
    elsewhere.mkdir()
    assert (await second.agent.list_sessions(cwd=str(elsewhere))).sessions == []
    monkeypatch.chdir(elsewhere)
    (everywhere,) = (await second.agent.list_sessions()).sessions
    assert (everywhere.session_id, everywhere.cwd) == (session, str(project.folder))
    await second.agent.load_session(cwd=str(project.folder), session_id=session, mcp_servers=[])
    assert second.text(schema.UserMessageChunk) == "go"
    assert second.text() == "It said hello."
    assert [each.title for each in second.of(schema.ToolCallStart)] == ["touch b.txt"]
    assert second.of(schema.ToolCallProgress)[-1].status == "completed"
    assert (await second.say(session, "more")).stop_reason == "end_turn"
    assert "on the screen" not in second.text(schema.UserMessageChunk)
    assert "on the screen" in waits.read_text()
    fork = await second.agent.fork_session(cwd=str(project.folder), session_id=session)
    assert fork.session_id != session
    assert (await second.say(fork.session_id, "other")).stop_reason == "end_turn"
    await second.agent.close_session(session_id=session)
    second.updates.clear()
    await second.agent.resume_session(cwd=str(project.folder), session_id=session)
    assert second.text(schema.UserMessageChunk) == ""


async def test_files_and_text_of_the_editor_go_along(project: Project, connect: Connect) -> None:
    name = project.bundle(script=saying("{{prompt}}"))
    (project.folder / "near.txt").write_text("from disk")
    editor = await connect(name)
    session = await opened(editor, project)
    link = schema.ResourceContentBlock(
        type="resource_link", name="near", uri=(project.folder / "near.txt").as_uri()
    )
    page = schema.ResourceContentBlock(
        type="resource_link", name="page", uri="https://example.org/x"
    )
    (project.folder / "mine.txt").write_text("wanted")
    (project.folder / "other.txt").write_text("nobody asked")
    text = "not saved yet, see @other.txt"
    draft = schema.TextResourceContents(uri="file:///w/b.txt", text=text)
    inside = schema.EmbeddedResourceContentBlock(type="resource", resource=draft)
    prompt = [schema.TextContentBlock(type="text", text="see @mine.txt"), link, page, inside]
    await editor.agent.prompt(session_id=session, prompt=prompt)
    transcript = sessions_dir(project.folder) / session / "transcript.jsonl"
    sent = transcript.read_text()
    for text in ("see", "(https://example.org/x)", "not saved yet", "from disk", "wanted"):
        assert text in sent
    assert "nobody asked" not in sent
    sound = schema.AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav")
    with pytest.raises(RequestError, match="can't have audio"):
        await editor.agent.prompt(session_id=session, prompt=[sound])


async def test_the_image_in_a_calls_result_is_in_the_call(
    project: Project, connect: Connect
) -> None:
    data = plain(7, 9)
    (project.folder / "chart.png").write_bytes(data)
    read = {"read_file": {"file_path": "chart.png"}}
    editor = await connect(project.bundle(script=calling(read), tools=TOOLS))
    session = await opened(editor, project)
    given = helpers.image_block(base64.b64encode(plain(5, 5)).decode(), "image/png")
    await editor.say(session, "look", given)
    text, image = editor.of(schema.ToolCallProgress)[-1].content
    assert "chart.png" in text.content.text
    assert (image.content.type, image.content.mime_type) == ("image", "image/png")
    assert base64.b64decode(image.content.data) == data
    await editor.say(session, "and again")
    await editor.agent.close_session(session_id=session)
    editor.updates.clear()
    await editor.agent.load_session(cwd=str(project.folder), session_id=session, mcp_servers=[])
    shown = [each.content for each in editor.of(schema.ToolCallProgress)]
    assert [len(each) for each in shown] == [1, 2, 1, 2]
    assert shown[1][-1] == shown[3][-1] == image and "chart.png" in shown[3][0].content.text
    words, also, more = editor.of(schema.UserMessageChunk)
    assert (words.content.text, also.content, more.content.text) == ("look", given, "and again")


async def test_questions_of_the_agent_are_a_form(project: Project, connect: Connect) -> None:
    options = [{"label": "SQLite", "description": "a file"}, {"label": "Postgres"}]
    asked = {"questions": [{"question": "Where?", "header": "Store", "options": options}]}
    script = calling({"ask_user": asked}, then="{{output}}")
    editor = await connect(project.bundle(script=script, tools=TOOLS), forms=True)
    session = await opened(editor, project)
    editor.forms = [{"0": "1"}, None]
    await editor.say(session, "go")
    ((message, _),) = editor.shown
    assert message == "Where?" and "Postgres" in editor.text()
    editor.updates.clear()
    await editor.say(session, "again")
    assert "Postgres" not in editor.text()


async def test_a_plan_is_decided_about_before_the_turn_is_over(
    project: Project, connect: Connect
) -> None:
    name = project.bundle(script=saying("First this, then that."), tools=TOOLS)
    editor = await connect(name)
    session = await opened(editor, project)
    await editor.agent.set_session_mode(session_id=session, mode_id="plan")
    await editor.until(lambda: editor.of(schema.CurrentModeUpdate))
    editor.answers = ["edits"]
    assert (await editor.say(session, "plan it")).stop_reason == "end_turn"
    ((call, _),) = editor.asked
    assert call.kind == "switch_mode"
    assert editor.of(schema.CurrentModeUpdate)[-1].current_mode_id == "edits"
    assert editor.text().count("First this") == 2


@pytest.mark.parametrize("meanwhile", ["another mode", "closed", "closed at once"])
async def test_a_prompt_ends_when_its_plan_can_not_be_carried_out_any_more(
    meanwhile: str, project: Project, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    if meanwhile == "closed at once":
        ask = EditorQuestions.ask

        def closed(questions: EditorQuestions, request_id: str, asking: Any) -> None:
            # Before what asks has had its first step.
            ask(questions, request_id, asking)
            questions.close()

        monkeypatch.setattr(EditorQuestions, "ask", closed)
    name = project.bundle(script=saying("First this, then that."), tools=TOOLS)
    editor = await connect(name)
    session = await opened(editor, project)
    await editor.agent.set_session_mode(session_id=session, mode_id="plan")
    editor.hold, editor.answers = asyncio.Event(), ["edits"]
    turn = asyncio.create_task(editor.say(session, "plan it"))
    await editor.until(lambda: editor.asked)
    if meanwhile.startswith("closed"):
        await editor.agent.close_session(session_id=session)
    else:
        await editor.agent.set_session_mode(session_id=session, mode_id="ask")
        modes = editor.of
        await editor.until(lambda: modes(schema.CurrentModeUpdate)[-1].current_mode_id == "ask")
        editor.hold.set()
    # Where it is closed before the turn has ended, that is said.
    async with within(20):
        await asyncio.wait({turn})
    assert turn.exception() is None or meanwhile.startswith("closed")
    assert editor.text() == "First this, then that."


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_cancellation_ends_the_prompts_that_wait_too(
    is_known: bool, project: Project, connect: Connect
) -> None:
    slow = {"when": {"prompt": "go"}, **calling(SLOW)}
    name = project.bundle(script=[slow, saying("Next.")], tools=TOOLS)
    project.allow(["bash(touch *)", "bash(sleep *)"])
    editor = await connect(name)
    session = await opened(editor, project)
    first = asyncio.create_task(editor.say(session, "go"))
    await editor.until(lambda: editor.of(schema.ToolCallStart))
    waiting = asyncio.create_task(editor.say(session, "waits"))
    await asyncio.sleep(0)
    if is_known:
        await editor.agent.set_session_mode(session_id=session, mode_id="edits")
        modes = editor.of
        await editor.until(lambda: modes(schema.CurrentModeUpdate)[-1].current_mode_id == "edits")
    await editor.agent.cancel(session_id=session)
    assert {(await first).stop_reason, (await waiting).stop_reason} == {"cancelled"}
    assert (await editor.say(session, "next")).stop_reason == "end_turn"
    assert editor.text().endswith("Next.") and len(editor.text()) < 1_000


async def test_what_is_allowed_is_shown_with_everything_that_hides(
    project: Project, connect: Connect
) -> None:
    command = "echo a \u202e\x1b[8m; touch b" + "x" * 80_000
    name = project.bundle(script=calling({"bash": {"command": command}}), tools=TOOLS)
    project.allow([])
    editor = await connect(name)
    session = await opened(editor, project)
    editor.answers = ["deny"]
    await editor.say(session, "go")
    ((call, _),) = editor.asked
    shown = call.content[0].content.text
    assert "‹U+202E›‹U+001B›[8m; touch bx" in shown
    assert shown.count("x") == 80_000


async def test_an_event_that_can_not_be_told_ends_its_prompt_and_not_the_next_one(
    project: Project, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = await connect(project.bundle(script=saying("Well.")))
    session = await opened(editor, project)

    def broken(self: Updates, event: HostEvent) -> list[Any]:
        raise KeyError("odd")

    with monkeypatch.context() as patched:
        patched.setattr(Updates, "of", broken)
        await wrong(editor.say(session, "go"))
    assert (await editor.say(session, "next")).stop_reason == "end_turn"


def test_a_turn_that_was_cancelled_and_did_not_stop_is_cancelled_for_the_editor() -> None:
    with asyncio.Runner() as runner:
        turn = EditorTurn(runner.get_loop().create_future())
        turn.failure = Failed(session_id="s", kind="stuck", message="It goes on.", remedy="Quit.")
        turn.settle(TurnEnded(session_id="s", turn=1, status="cancelled", duration_ms=1.0))
        assert turn.answer.result().stop_reason == "cancelled"


PATCHES = {
    "*** Add File: a.txt\n+one\n+two": [("/p/a.txt", None, "one\ntwo\n")],
    "*** Update File: b.txt\n*** Move to: /c.txt\n@@\n x\n-y\n+z": [
        "Moves b.txt to /c.txt",
        ("/c.txt", "x\ny\n", "x\nz\n"),
    ],
    "*** Delete File: d.txt": ["Deletes d.txt"],
    "*** Rename File: d.txt": [],
}


@pytest.mark.parametrize(("change", "expected"), PATCHES.items())
def test_a_patch_is_shown_as_the_changes_of_its_files(change: str, expected: list[Any]) -> None:
    arguments = {"input": f"*** Begin Patch\n{change}\n*** End Patch"}
    shown: list[Any] = [
        (each.path, each.old_text, each.new_text)
        if isinstance(each, schema.FileEditToolCallContent)
        else each.content.text
        for each in change_of("apply_patch", arguments, "/p")
    ]
    assert shown == expected
    places = [each.path for each in places_of("apply_patch", arguments, "/p")]
    assert places == ([f"/p/{change.split()[3]}"] if expected else [])


def test_the_output_of_a_call_that_is_kept_has_an_end() -> None:
    updates = Updates()
    for number in range(100):
        event = ToolProgress(session_id="s", call_id="c", text=f"{number} " * 5_000)
        (update,) = updates.of(event)
    text = update.content[0].content.text
    assert len(text) < 100_000 and "99 " in text


async def test_todos_are_the_plan_and_commands_are_done_at_once(
    project: Project, connect: Connect
) -> None:
    todo = {"action": "create", "todos": [{"content": "Look", "status": "in_progress"}]}
    name = project.bundle(script=calling({"todo": todo}, WRITE), tools=TOOLS)
    editor = await connect(name)
    session = await opened(editor, project)
    await editor.say(session, "go")
    (plan,) = editor.of(schema.AgentPlanUpdate)
    assert [(entry.content, entry.status) for entry in plan.entries] == [("Look", "in_progress")]
    await editor.say(session, "/rename A name")
    assert editor.of(schema.SessionInfoUpdate)[-1].title == "A name"
    await editor.say(session, "/undo")
    assert "Taken back" in editor.text()
    await editor.say(session, "/redo")
    assert "Brought back" in editor.text()


async def test_the_servers_of_the_editor_are_the_users_own(
    project: Project, connect: Connect
) -> None:
    args = ["-I", str(ROOT / "tests/servers/rude_mcp_server.py")]
    server = schema.McpServerStdio(name="rude", command=sys.executable, args=args, env=[])
    script = calling({"mcp__rude__echo": {"text": "hello"}})
    name = project.bundle(script=script, tools=("tool-mcp",))
    bundle = project.bundles / f"{name}.md"
    # However busy this machine is.
    patient = "module: tool-mcp\n  config: {first_wait: 60}"
    bundle.write_text(bundle.read_text().replace("module: tool-mcp", patient))
    editor = await connect(name)
    new = await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[server])
    await editor.say(new.session_id, "go")
    ((call, _),) = editor.asked
    assert "mcp__rude__echo" in call.title
    assert editor.of(schema.ToolCallProgress)[-1].status == "completed"
    other = await connect(project.bundle("other", script=saying("Hi."), tools=()))
    new = await other.agent.new_session(cwd=str(project.folder), mcp_servers=[server])
    await other.until(lambda: "rude not used" in other.text(schema.AgentThoughtChunk))


async def wrong(asking: Awaitable[Any]) -> str:
    with pytest.raises(RequestError) as caught:
        await asking
    return str(caught.value)


async def test_what_can_not_be_done_is_said_in_words(
    project: Project, connect: Connect, tmp_path: Path
) -> None:
    failing = {"error": {"type": "AuthenticationError", "message": "no such key"}}
    name = project.bundle(script=saying("", **failing))
    editor = await connect(name)
    agent = editor.agent
    assert "no absolute path" in await wrong(agent.new_session(cwd="here", mcp_servers=[]))
    gone = str(tmp_path / "gone")
    assert "no absolute path" in await wrong(agent.new_session(cwd=gone, mcp_servers=[]))
    missing = agent.load_session(cwd=str(project.folder), session_id="x", mcp_servers=[])
    assert "No session 'x'" in await wrong(missing)
    session = await opened(editor, project)
    assert "no such key" in await wrong(editor.say(session, "go"))
    assert "is open here" in await wrong(
        agent.load_session(cwd=str(project.folder), session_id=session, mcp_servers=[])
    )
    assert "not found" in await wrong(editor.say("nobody", "go"))
    assert "no mode" in await wrong(agent.set_session_mode(session_id=session, mode_id="auto"))
    chosen = agent.set_config_option(config_id="colour", session_id=session, value="red")
    assert "colour" in await wrong(chosen)
    assert "is empty" in await wrong(editor.say(session, "  "))


def test_the_program_writes_only_the_protocol_and_ends_with_its_editor(tmp_path: Path) -> None:
    hello = {"protocolVersion": 1, "clientCapabilities": {}}
    nowhere = {"cwd": str(tmp_path / "gone"), "mcpServers": []}
    nonsense = ["nonsense", "[1]", "7", '"a"', "null", "{}", '{"id": [1], "result": 1}', "\x00"]
    nonsense += ['{"id": 9, "error": "no"}', '{"id": 9, "method": 5}', "[" * 100_000, "9" * 5_000]
    lines = [
        *nonsense,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": nowhere}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "session/new", "params": {"cwd": 1}}),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "make/coffee", "params": {}}),
    ]
    command = [sys.executable, "-m", "amplifier_tui", "acp", "--demo"]
    done = subprocess.run(
        command, input="\n".join([*lines, ""]), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    refused = [row["error"]["code"] for row in rows if row["id"] is None]
    assert len(refused) == len(nonsense) and set(refused) == {-32700, -32600}
    answers = {row["id"]: row for row in rows}
    assert answers[1]["result"]["agentInfo"]["name"] == "amplifier-tui"
    assert "no absolute path" in answers[2]["error"]["message"]
    assert answers[3]["error"]["code"] == -32602
    assert answers[4]["error"]["code"] == -32601
