import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockEnded,
    Failed,
    HookTraced,
    ModeChanged,
    Notice,
    SessionOpened,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.turns.queue import WaitingPrompts
from tests.host.driving import MODULES, Driver, Project, calling, saying

Make = Callable[..., Driver]


def test_a_resumed_session_shows_what_was_said_and_goes_on(project: Project, drive: Make) -> None:
    name = project.bundle(script=calling({"echo": {"text": "x"}}, then="I said {{prompt}}."))
    first = drive()
    opened = first.open(name)
    first.turn("hello")
    first.close()
    live = [e for e in first.events if isinstance(e, ToolEnded)]
    again = drive()
    resumed = again.open(resume=opened.session_id)
    assert resumed.resumed and resumed.session_id == opened.session_id
    assert resumed.bundle == name and resumed.earlier == 0
    replayed = [e for e in again.events if e.replayed and not isinstance(e, HookTraced)]
    assert [type(e).__name__ for e in replayed] == [
        "TurnStarted",
        "ApprovalResolved",
        "ToolStarted",
        "ToolEnded",
        "BlockEnded",
        "TurnEnded",
    ]
    (ended,) = [e for e in replayed if isinstance(e, ToolEnded)]
    assert (ended.output, ended.duration_ms) == ("x", live[0].duration_ms)
    before = [e.seq for e in first.of(HookTraced)]
    traced = [e for e in again.of(HookTraced) if e.replayed]
    assert [e.seq for e in traced] == before[: len(traced)] and len(traced) > 20
    (call,) = [e for e in traced if e.event == "tool:pre"]
    assert (call.source, call.call_id) == ("echo", ended.call_id)
    assert "echo" in again.client.payload(call.seq).result(5)
    assert again.turn("and again").turn == 2
    assert again.answers()[-1] == "I said and again."
    rows = project.rows(opened.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant"] * 2


def test_a_stored_session_whose_opening_was_stopped_is_opened_again(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.turn("hello")
    first.close()
    mark = tmp_path / "mounting"
    project.bundle(hooks=(("hooks-test", {"hang_in_mount": str(mark)}),))
    driver = drive()
    driver.client.open(OpenRequest(cwd=project.folder, resume="last", mode="plan"))
    driver.wait_for_file(mark)
    driver.client.interrupt()
    assert driver.wait(Failed).kind == "cancelled"
    project.bundle()
    driver.client.open_again()
    again = driver.wait(SessionOpened)
    assert (again.session_id, again.resumed) == (opened.session_id, True)
    assert driver.wait(ModeChanged).mode == "plan"


def test_the_model_gets_the_stored_conversation(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    dump = tmp_path / "messages.json"
    first = drive()
    opened = first.open(project.bundle(loop="loop-test", loop_config={"dump": str(dump)}))
    first.turn("one")
    first.close()
    again = drive()
    assert again.open(resume="last").session_id == opened.session_id
    again.turn("two")
    messages = [m for m in json.loads(dump.read_text()) if m["role"] != "system"]
    assert [m["content"] for m in messages] == ["one", "You said one", "two"]


def test_what_was_used_before_counts_on(project: Project, drive: Make) -> None:
    first = drive()
    first.open(project.bundle())
    used = first.turn("one").usage
    first.close()
    again = drive()
    again.open(resume="last")
    assert again.wait(UsageChanged).session == used


def test_a_session_is_found_by_the_beginning_of_its_id(project: Project, drive: Make) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.turn("one")
    first.close()
    assert drive().open(resume=opened.session_id[:8]).session_id == opened.session_id


@pytest.mark.parametrize("wanted", ["last", "deadbeef", "../x", ".", ""])
def test_a_session_that_is_not_there_is_refused(
    project: Project, driver: Driver, wanted: str
) -> None:
    project.bundle()
    request = OpenRequest(cwd=project.folder, resume=wanted or "\0")
    driver.client.open(request)
    failed = driver.wait(Failed)
    assert failed.kind == "no_session" and failed.remedy


def test_a_session_that_is_open_elsewhere_is_refused(project: Project, drive: Make) -> None:
    one = drive()
    opened = one.open(project.bundle())
    one.turn("hello")
    other = drive()
    other.client.open(OpenRequest(cwd=project.folder, resume=opened.session_id))
    failed = other.wait(Failed)
    assert failed.kind == "busy" and str(os.getpid()) in failed.message
    assert one.turn("still mine").status == "success"


def test_sessions_are_listed_newest_first(project: Project, drive: Make) -> None:
    name = project.bundle()
    ids = []
    for number, text in enumerate(("first words", "second words")):
        driver = drive()
        ids.append(driver.open(name).session_id)
        driver.turn(text)
        driver.client.rename(f"Title {number}")
        driver.close()
        transcript = project.folder_of(ids[-1]) / "transcript.jsonl"
        os.utime(transcript, (1_000_000 + number, 1_000_000 + number))
    last = drive()
    last.open(name)
    cards = last.client.sessions().result(10).cards
    assert [card.session_id for card in cards] == ids[::-1]
    assert [card.first_prompt for card in cards] == ["second words", "first words"]
    last.close()
    again = drive()
    again.client.open(OpenRequest(cwd=project.folder, resume=ids[0]))
    opened = again.wait(SessionOpened)
    assert (opened.title, opened.first_prompt) == ("Title 0", "first words")
    assert cards[0].title == "Title 1" and cards[0].turns == 1 and cards[0].bundle == name


def test_resuming_from_a_running_program_replaces_its_session(
    project: Project, drive: Make
) -> None:
    name = project.bundle()
    driver = drive()
    first = driver.open(name)
    driver.turn("hello")
    driver.open(name)
    driver.client.resume(first.session_id)
    assert driver.wait(SessionOpened).session_id == first.session_id
    driver.client.resume(first.session_id)
    assert "open already" in driver.wait(Notice).text


def test_a_long_session_opens_with_its_end_and_gives_the_rest_page_by_page(
    project: Project, drive: Make
) -> None:
    session = "11111111-2222-3333-4444-555555555555"
    folder = project.folder_of(session)
    folder.mkdir(parents=True)
    rows = []
    for number in range(300):
        call = {"id": f"c{number}", "name": "echo", "arguments": {"text": str(number)}}
        rows += [
            {"role": "user", "content": f"prompt {number}"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "name": "echo", "content": "out"},
            {"role": "assistant", "content": f"answer {number}"},
        ]
    lines = [json.dumps(row) for row in rows]
    (folder / "transcript.jsonl").write_text("\n".join(lines) + "\n")
    name = project.bundle()
    driver = drive()
    opened = driver.open(name, resume=session)
    assert opened.earlier == 1_000
    shown = [e for e in driver.events if e.replayed]
    turns = [e.turn for e in shown if isinstance(e, TurnStarted)]
    assert turns == list(range(251, 301))
    before, found = opened.earlier, []
    while before > 0:
        page = list(driver.client.history(before, 150).result(10))
        found = page + found
        before = max(0, before - 150)
    everything = found + shown
    prompts = [e.prompt for e in everything if isinstance(e, TurnStarted)]
    assert prompts == [f"prompt {n}" for n in range(300)]
    assert [e.turn for e in everything if isinstance(e, TurnStarted)] == list(range(1, 301))
    started = [e.call_id for e in everything if isinstance(e, ToolStarted)]
    ended = [e.call_id for e in everything if isinstance(e, ToolEnded)]
    assert started == ended == [f"c{n}" for n in range(300)]
    ids = [e.block_id for e in everything if isinstance(e, BlockEnded)]
    assert len(ids) == len(set(ids)) == 300


def test_a_call_without_a_result_is_answered_for_the_model_and_not_on_disk(
    project: Project, drive: Make, tmp_path: Path
) -> None:
    session = "11111111-2222-3333-4444-555555555555"
    dump = tmp_path / "messages.json"
    folder = project.folder_of(session)
    folder.mkdir(parents=True)
    call = {"id": "c1", "name": "echo", "arguments": {}}
    stored = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    text = "".join(json.dumps(row) + "\n" for row in stored)
    (folder / "transcript.jsonl").write_text(text)
    driver = drive()
    name = project.bundle(loop="loop-test", loop_config={"dump": str(dump)})
    driver.open(name, resume=session)
    driver.turn("go on")
    messages = json.loads(dump.read_text())
    assert [m["role"] for m in messages if m["role"] != "system"] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert (folder / "transcript.jsonl").read_text().startswith(text)
    assert [row["role"] for row in project.rows(session)][2:] == ["user", "assistant"]


def test_a_torn_end_is_moved_aside(project: Project, drive: Make) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.turn("hello")
    first.close()
    path = project.folder_of(opened.session_id) / "transcript.jsonl"
    with path.open("a") as file:
        file.write('{"role": "user", "content": "half a l')
    again = drive()
    again.open(resume="last")
    assert any("torn" in e.text for e in again.of(Notice))
    assert len(project.rows(opened.session_id)) == 2
    (aside,) = path.parent.glob("transcript.jsonl.torn-*")
    assert aside.read_text() == '{"role": "user", "content": "half a l'


CHILD = """
import sys, threading
from pathlib import Path
from amplifier_tui.host.events import BlockDelta, ToolEnded
from tests.host.driving import Driver
driver = Driver(Path(sys.argv[1]))
driver.open("test")
driver.client.submit("tell me")
driver.wait(ToolEnded)
shown = ""
while len(shown) < 40:
    shown += driver.wait(BlockDelta, lambda e: "word" in e.text).text
print(driver.events[0].session_id, flush=True)
print(len(shown), flush=True)
threading.Event().wait()
"""


def test_the_first_prompt_of_a_session_survives_a_kill(project: Project, drive: Make) -> None:
    folder = project.folder_of("killed")
    project.bundle()
    store = SessionStore(folder, Redactor({}), lambda _: None)
    store.open()
    store.metadata.bundle = "test"
    store.save_metadata()
    store.prompt_begins("a long thought")
    # As a kill leaves it, its lock given back.
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    store.close()
    assert not folder.exists()
    driver = drive()
    (card,) = driver.client.sessions(here=False).result(5).cards
    assert (card.session_id, card.first_prompt) == ("kept", "a long thought")
    driver.open(resume="last")
    assert [e.prompt for e in driver.of(TurnStarted)] == ["a long thought"]
    assert [row["content"] for row in project.rows("kept")] == ["a long thought"]


def test_what_was_on_the_screen_survives_a_kill(project: Project, drive: Make) -> None:
    script = calling({"echo": {"text": "the output"}}, then="word " * 2_000)
    project.bundle(script=script, speed=400)
    environment = {**os.environ, "AMPLIFIER_MODULES": str(MODULES)}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(project.folder)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[3],
    )
    assert child.stdout is not None
    session, shown = child.stdout.readline().strip(), int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    before = project.rows(session)
    assert [row["role"] for row in before] == ["user", "assistant", "tool"]
    driver = drive()
    driver.open(resume=session)
    # After what names the session: beside others it is told with that name.
    driver.wait(Notice, lambda e: "could be recovered" in e.text)
    rows = project.rows(session)
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant"]
    assert rows[3]["metadata"]["interrupted"] is True
    text = rows[3]["content"][0]["text"]
    assert text.startswith("word word") and len(text) >= shown
    blocks = [e for e in driver.of(BlockEnded) if e.replayed]
    assert blocks[-1].interrupted and blocks[-1].text == text
    driver.client.submit("go on")
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded, lambda e: not e.replayed)


def test_a_session_is_said_to_be_open_only_when_it_can_be_asked(
    project: Project, drive: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = drive()
    opened = first.open(project.bundle())
    first.turn("hello")
    first.close()
    began, until = threading.Event(), threading.Event()

    def leave(_: WaitingPrompts) -> None:
        began.set()
        until.wait(10)

    monkeypatch.setattr(WaitingPrompts, "leave", leave)
    again = drive()
    request = OpenRequest(cwd=project.folder, resume=opened.session_id, restores_queue=False)
    again.client.open(request)
    again.wait_until(began.is_set, "the queue was not left")
    again.drain()
    assert again.of(SessionOpened) == []
    until.set()
    again.wait(SessionOpened)
    assert again.client.history(1).result(5) != ()


def test_a_resumed_or_forked_session_says_how_long_thinking_took(
    project: Project, drive: Make
) -> None:
    first = drive()
    name = project.bundle(script=saying("Yes.", thinking="Is it so?"), speed=400)
    opened = first.open(name)
    first.turn("one")
    first.turn("two")
    live = thinking_times(first)
    assert len(live) == 2 and all(took > 0 for took in live)
    first.close()
    second = drive()
    second.open(resume=opened.session_id)
    assert thinking_times(second) == live
    second.client.fork(2)
    second.wait(SessionOpened, lambda told: told.session_id != opened.session_id)
    forked = [event for event in second.of(BlockEnded) if event.session_id != opened.session_id]
    assert [event.duration_ms for event in forked if event.kind == "thinking"] == live[:1]


def thinking_times(driver: Driver) -> list[float]:
    ended = [event for event in driver.of(BlockEnded) if event.kind == "thinking"]
    return list({event.block_id: event.duration_ms for event in ended}.values())


@pytest.mark.parametrize("shows_busy", [False, True])
def test_the_last_session_is_a_demo_only_where_there_is_no_other(
    project: Project, drive: Make, shows_busy: bool
) -> None:
    def last(**values: bool) -> str:
        driver = drive()
        driver.client.open(
            OpenRequest(cwd=project.folder, resume="last", shows_busy=shows_busy, **values)
        )
        found = driver.wait(SessionOpened).session_id
        driver.close()
        return found

    demo = drive()
    shown = demo.open(demo=True).session_id
    demo.client.submit("hello")
    demo.wait(ApprovalRequested)
    demo.client.interrupt(immediate=True)
    demo.wait(TurnEnded)
    demo.close()
    assert last() == shown
    own = drive()
    kept = own.open(project.bundle()).session_id
    own.turn("hello")
    own.close()
    os.utime(project.folder_of(kept) / "transcript.jsonl", (1, 1))
    assert (last(), last(demo=True)) == (kept, shown)


def test_what_a_script_ran_is_not_the_last_session_of_a_screen_that_has_its_own(
    project: Project, drive: Make
) -> None:
    name = project.bundle(script=saying("I said {{prompt}}."))

    def spoken(resume: str = "", *, script: bool) -> str:
        driver = drive()
        request = OpenRequest(
            cwd=project.folder,
            bundle="" if resume else name,
            resume=resume,
            shows_busy=not script,
            unattended=script,
        )
        driver.client.open(request)
        opened = driver.wait(SessionOpened).session_id
        driver.turn("hello")
        driver.close()
        return opened

    alone = spoken(script=True)
    assert spoken("last", script=False) == alone, "there is no other"
    ran = spoken(script=True)
    assert spoken("last", script=True) == ran
    assert spoken("last", script=False) == alone
    # One that a script goes on with is still the user's.
    assert spoken(alone, script=True) == spoken("last", script=False) == alone
