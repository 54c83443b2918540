import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from amplifier_tui.base.files import FileLock
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest, SessionCard
from amplifier_tui.host.door import open_sessions
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.door.open_sessions import OpenSessions
from amplifier_tui.host.door.service import Service
from amplifier_tui.host.events import Failed, HostEvent, SessionOpened
from amplifier_tui.paths import sessions_dir, user_state_dir
from tests.host.door.three_sessions import kill_window, lost, write_bundle
from tests.host.driving import Driver, Project
from tests.waiting import within

WINDOW = """
import os, signal, sys
from pathlib import Path
from amplifier_tui.host.door.open_sessions import OpenSessions
window = OpenSessions()
for session in sys.argv[2:]:
    window.opened(session, Path(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def store(cwd: Path, *sessions: str, text: str = '{"role": "user", "content": "Hello"}\n') -> None:
    for session in sessions:
        folder = sessions_dir(cwd) / session
        folder.mkdir(parents=True)
        (folder / "transcript.jsonl").write_text(text)


def killed(cwd: Path, *sessions: str) -> None:
    done = subprocess.run([sys.executable, "-c", WINDOW, str(cwd), *sessions], check=False)
    assert done.returncode == -signal.SIGKILL


def left(window: OpenSessions) -> list[str]:
    return sorted(card.session_id for card in window.left())


def test_all_sessions_of_a_window_that_was_killed_are_offered(cwd: Path) -> None:
    store(cwd, "one", "two", "three")
    store(cwd, "empty", "asked", "commands", text="")
    (sessions_dir(cwd) / "asked" / "partial.jsonl").write_text('{"k": "prompt", "text": "Hello"}\n')
    command = '{"row": 0, "event": {"type": "ShellEnded", "command": "ls"}}\n'
    (sessions_dir(cwd) / "commands" / "display.jsonl").write_text(command)
    killed(cwd, "one", "two", "empty", "asked", "commands", "never-stored", "../one")
    window = OpenSessions()
    assert left(window) == ["asked", "commands", "one", "two"]
    assert {card.cwd for card in window.left()} == {str(cwd)}
    window.opened("one", cwd)
    assert left(window) == ["asked", "commands", "two"], "it is open here"
    window.dismiss(["asked", "commands", "two"])
    assert left(window) == []
    window.close()
    assert list((user_state_dir() / "windows").iterdir()) == []


BESIDE = """
import os, signal, sys
from pathlib import Path
from amplifier_tui.host.door.open_sessions import OpenSessions
places = [OpenSessions(place) for place in range(3)]
for place, session in map(str.split, sys.argv[2:]):
    places[int(place)].opened(session, Path(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_with_places(cwd: Path, *sessions: str) -> None:
    done = subprocess.run([sys.executable, "-c", BESIDE, str(cwd), *sessions], check=False)
    assert done.returncode == -signal.SIGKILL


def test_what_a_window_had_open_is_offered_in_the_order_of_its_places(cwd: Path) -> None:
    store(cwd, "one", "two", "three", "other", "old")
    killed_with_places(cwd, "0 other")
    # They open in any order, and another one was used last.
    killed_with_places(cwd, "2 three", "0 one", "1 two")
    for at, name in enumerate(("one", "three", "two", "other")):
        os.utime(sessions_dir(cwd) / name / "transcript.jsonl", (at, at))
    old = user_state_dir() / "windows" / "0.json"
    old.write_text(json.dumps({"sessions": {"old": str(cwd)}}))

    def offered() -> list[str]:
        return [card.session_id for card in OpenSessions().left()]

    assert offered() == ["one", "two", "three", "other", "old"]
    OpenSessions().dismiss(["two"])
    assert offered() == ["one", "three", "other", "old"]


def test_what_another_window_has_open_is_not_offered(cwd: Path) -> None:
    store(cwd, "one", "two")
    other = OpenSessions()
    other.opened("one", cwd)
    killed(cwd, "two")
    busy = FileLock(sessions_dir(cwd) / "two" / "session.lock")
    busy.acquire()
    window = OpenSessions()
    assert left(window) == []
    busy.release()
    assert left(window) == ["two"]
    other.close()


def test_a_session_that_was_closed_in_order_is_not_offered(cwd: Path) -> None:
    store(cwd, "one", "two")
    window = OpenSessions()
    window.opened("one", cwd)
    window.opened("two", cwd)
    window.closed("one")
    window._lock.release()
    assert left(OpenSessions()) == ["two"]


def test_sessions_that_are_opened_while_another_looks_are_offered_no_more(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(cwd, "one", "two")
    killed(cwd, "one")
    killed(cwd, "two")
    looking, go_on, read = threading.Event(), threading.Event(), open_sessions.card_of

    def slow(folder: Path, updated: float) -> SessionCard:
        looking.set()
        go_on.wait(10)
        return read(folder, updated)

    monkeypatch.setattr(open_sessions, "card_of", slow)
    first, second = OpenSessions(), OpenSessions()
    with ThreadPoolExecutor() as threads:
        offered = threads.submit(left, first)
        assert looking.wait(10)
        opening = threads.submit(second.opened, "one", cwd)
        # It waits for the one that looks; where it did not, it would be through.
        wait([opening], timeout=0.3)
        go_on.set()
        assert offered.result() == ["one", "two"]
    assert left(OpenSessions()) == ["two"]
    assert "one" not in "".join(
        path.read_text()
        for path in (user_state_dir() / "windows").glob("*.json")
        if path != second._path
    ), "it is noted as left open still"


@pytest.mark.parametrize("text", ["", "[]", '{"sessions": 3}', '{"sessions": {"a": 1}}', "{"])
def test_a_record_that_makes_no_sense_offers_nothing(text: str) -> None:
    folder = user_state_dir() / "windows"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(text)
    assert left(OpenSessions()) == []
    os.chmod(folder / "x.json", 0o600)


def test_a_client_notes_what_it_opens_and_leaves_no_record(project: Project) -> None:
    driver = Driver(project.folder, LocalClient(trust_everything, window=True))
    opened = driver.open(project.bundle(providers=[]))

    def noted() -> list[str]:
        records = (user_state_dir() / "windows").glob("*.json")
        return [name for path in records for name in json.loads(path.read_text())["sessions"]]

    driver.wait_until(lambda: noted() == [opened.session_id], "it was not noted")
    driver.client.switch_bundle("test", carry=False)
    second = driver.wait(SessionOpened)
    driver.wait_until(lambda: noted() == [second.session_id], "it was not noted")
    driver.close()
    assert noted() == []


def test_what_a_signal_ends_is_offered_by_the_next_window(project: Project) -> None:
    driver = Driver(project.folder, LocalClient(trust_everything, window=True))
    opened = driver.open(project.bundle())
    driver.turn("hello")
    driver.client.keep_left_open()
    driver.close()
    assert left(OpenSessions()) == [opened.session_id]
    again = Driver(project.folder, LocalClient(trust_everything, window=True))
    again.open(resume=opened.session_id)
    again.close()
    assert left(OpenSessions()) == [], "it was closed in order since"


def test_a_folder_that_cannot_be_used_hinders_nothing(cwd: Path) -> None:
    place = user_state_dir() / "windows"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file")
    record = OpenSessions()
    record.opened("s1", cwd)
    assert record.left() == ()
    record.dismiss(["s1"])
    record.close()
    assert place.read_text() == "a file"


async def test_a_session_is_left_in_order_also_where_the_next_one_is_chosen_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    project = Project(tmp_path / "project")
    name = project.bundle()
    events: list[HostEvent] = []
    service = Service(events.append, trust_everything, window=True)
    await service.open(OpenRequest(cwd=project.folder, bundle=name))
    first = service._live
    assert first is not None
    await service.submit("hello")
    async with within(20):
        while first.turns.running or not first.store.rows:
            await asyncio.sleep(0)
    noting, noted = threading.Event(), OpenSessions.opened

    def slow(window: OpenSessions, session_id: str, folder: Path) -> None:
        noting.wait(10)
        noted(window, session_id, folder)

    monkeypatch.setattr(OpenSessions, "opened", slow)
    second = asyncio.create_task(service.open(OpenRequest(cwd=project.folder, bundle=name)))
    async with within(20):
        while service._live is first:
            await asyncio.sleep(0)
    third = asyncio.create_task(
        service.open(OpenRequest(cwd=project.folder, resume=first.session_id))
    )
    await asyncio.sleep(0)
    noting.set()
    await asyncio.gather(second, third)
    failed = [event for event in events if isinstance(event, Failed)]
    assert not failed and service._live.session_id == first.session_id
    await service.close()


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_three_sessions_of_a_killed_window_come_back_whole(
    project: Project, seconds: float
) -> None:
    write_bundle(project)
    assert lost(project, kill_window(project, seconds)) == []
