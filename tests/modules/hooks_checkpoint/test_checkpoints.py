import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import hooks_checkpoint
from tests.modules.hooks_checkpoint.support import Session, edit, write


@pytest.fixture
async def session(tmp_path: Path) -> Session:
    return await Session(tmp_path / "work", tmp_path / "store").mount()


async def test_it_is_found_by_its_id_and_unregisters_itself():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("hooks-checkpoint", {})
    cleanup = await mount(coordinator)
    assert coordinator.hooks.list_handlers("tool:pre") == {"tool:pre": ["hooks-checkpoint"]}
    cleanup()
    assert not any(coordinator.hooks.list_handlers().values())


async def test_a_turn_can_be_undone(session: Session):
    (session.root / "a.txt").write_text("one\n")
    await session.turn("make it two", edit("a.txt", "one", "two"), write("sub/new.txt", "x"))
    (checkpoint,) = await session.listed()
    assert (checkpoint["turn"], checkpoint["prompt"]) == (1, "make it two")
    assert [(file["path"], file["action"]) for file in checkpoint["files"]] == [
        ("a.txt", "changed"),
        ("sub/new.txt", "created"),
    ]
    outcome = await session.restore(checkpoint["id"])
    assert (outcome["restored"], outcome["removed"]) == (["a.txt"], ["sub/new.txt"])
    assert session.read("a.txt") == "one\n"
    assert not (session.root / "sub" / "new.txt").exists()
    assert await session.listed() == [], "what is undone needs no undoing"


async def test_going_back_further_undoes_later_turns_too(session: Session):
    (session.root / "a.txt").write_text("0")
    for number in range(1, 4):
        await session.turn(f"turn {number}", write("a.txt", str(number)))
    await session.turn("other", write("b.txt", "b"))
    listed = await session.listed()
    assert [checkpoint["turn"] for checkpoint in listed] == [1, 2, 3, 4]
    await session.restore(listed[2]["id"])
    assert session.read("a.txt") == "2" and not (session.root / "b.txt").exists()
    await session.restore(listed[0]["id"])
    assert session.read("a.txt") == "0"


async def test_the_first_state_of_a_turn_counts(session: Session):
    (session.root / "a.txt").write_text("0")
    await session.turn("twice", write("a.txt", "1"), write("a.txt", "2"))
    (checkpoint,) = await session.listed()
    await session.restore(checkpoint["id"])
    assert session.read("a.txt") == "0"


async def test_turns_are_counted_by_the_users_prompts(session: Session):
    await session.context.add_message({"role": "user", "content": "before"})
    await session.context.add_message(
        {"role": "user", "content": "hook", "metadata": {"source": "hook"}}
    )
    await session.turn("nothing changes here")
    await session.turn("now", write("a.txt", "1"))
    (checkpoint,) = await session.listed()
    assert checkpoint["turn"] == 3


async def test_what_somebody_else_changed_since_is_left_alone_unless_forced(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"), write("new.txt", "n"))
    (checkpoint,) = await session.listed()
    (session.root / "a.txt").write_text("the user's own")
    (session.root / "new.txt").write_text("this too")
    outcome = await session.restore(checkpoint["id"])
    assert outcome["conflicts"] == ["a.txt", "new.txt"]
    assert session.read("a.txt") == "the user's own"
    outcome = await session.restore(checkpoint["id"], force=True, paths=["a.txt"])
    assert outcome["restored"] == ["a.txt"] and session.read("a.txt") == "one"
    assert session.read("new.txt") == "this too"


async def test_a_file_that_was_deleted_comes_back_with_its_permissions(session: Session):
    file = session.root / "run.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    await session.turn("x", write("run.sh", "changed"))
    file.unlink()
    (checkpoint,) = await session.listed()
    assert (await session.restore(checkpoint["id"]))["conflicts"] == ["run.sh"]
    assert (await session.restore(checkpoint["id"], force=True))["restored"] == ["run.sh"]
    assert file.read_text() == "#!/bin/sh\n" and stat.S_IMODE(file.stat().st_mode) == 0o755


async def test_a_call_that_was_denied_is_no_change(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x")
    await session.call(*write("a.txt", "two"), denied=True)
    await session.call(*write("new.txt", "two"), denied=True)
    assert await session.listed() == []


async def test_every_tool_that_changes_files_is_known(tmp_path: Path):
    session = await Session(tmp_path / "w", tmp_path / "s").mount(tools={"my_*": "target"})
    for name in "abcdef":
        (session.root / name).write_text(name)
    patch = "*** Begin Patch\n*** Update File: c\n@@\n*** Delete File: d\n*** End Patch"
    await session.turn("x")
    await session.call("create_file", {"path": "a"})
    await session.call("delete_file", {"file_path": "b"})
    await session.call("apply_patch", {"input": patch})
    await session.call("my_writer", {"target": ["e", "f"]})
    await session.call("read_file", {"file_path": "g"})
    await session.call("bash", {"command": "rm a"})
    lines = (session.folder / "checkpoints" / "index.jsonl").read_text().splitlines()
    files = [json.loads(line) for line in lines if '"file"' in line]
    assert [Path(file["path"]).name for file in files] == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize("path", ["../out.txt", "/etc/passwd", "~/x", "a\0b", "link/x", ".", ""])
async def test_what_is_outside_is_never_copied(session: Session, tmp_path: Path, path: str):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("secret")
    (tmp_path / "out.txt").write_text("secret")
    (session.root / "link").symlink_to(outside)
    await session.turn("x")
    await session.call("write_file", {"file_path": path, "content": ""}, denied=True)
    assert not (session.folder / "checkpoints").exists()


async def test_a_link_inside_means_the_file_behind_it(session: Session):
    (session.root / "real.txt").write_text("one")
    (session.root / "link.txt").symlink_to("real.txt")
    await session.turn("x", write("link.txt", "two"))
    (checkpoint,) = await session.listed()
    assert [file["path"] for file in checkpoint["files"]] == ["real.txt"]
    await session.restore(checkpoint["id"])
    assert session.read("real.txt") == "one" and (session.root / "link.txt").is_symlink()


async def test_a_restore_does_not_follow_a_link_that_was_put_in_the_way(
    session: Session, tmp_path: Path
):
    (session.root / "sub").mkdir()
    (session.root / "sub" / "a.txt").write_text("one")
    (session.root / "b.txt").write_text("one")
    await session.turn("x", write("sub/a.txt", "two"), write("b.txt", "two"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("precious")
    (session.root / "sub" / "a.txt").unlink()
    (session.root / "sub").rmdir()
    (session.root / "sub").symlink_to(outside)
    (session.root / "b.txt").unlink()
    (session.root / "b.txt").symlink_to(outside / "a.txt")
    (checkpoint,) = await session.listed()
    outcome = await session.restore(checkpoint["id"])
    assert outcome["conflicts"] == ["b.txt"] and (session.root / "b.txt").is_symlink()
    outcome = await session.restore(checkpoint["id"], force=True)
    assert set(outcome["failed"]) == {"sub/a.txt"} and outcome["restored"] == ["b.txt"]
    assert not (session.root / "b.txt").is_symlink() and session.read("b.txt") == "one"
    assert (outside / "a.txt").read_text() == "precious"


async def test_large_and_binary_files_are_skipped_with_the_reason(tmp_path: Path):
    session = await Session(tmp_path / "w", tmp_path / "s").mount(
        max_file_bytes=100, max_binary_bytes=10, max_total_bytes=150
    )
    (session.root / "big.txt").write_text("x" * 101)
    (session.root / "big.bin").write_bytes(b"\0" * 11)
    (session.root / "fine.bin").write_bytes(b"\0" * 10)
    (session.root / "fine.txt").write_text("x" * 100)
    (session.root / "more.txt").write_text("y" * 100)
    names = ("big.txt", "big.bin", "fine.bin", "fine.txt", "more.txt")
    await session.turn("x", *(write(name, "changed") for name in names))
    (checkpoint,) = await session.listed()
    skipped = {file["path"]: file["skipped"] for file in checkpoint["files"]}
    assert skipped["big.txt"] == "it is larger than 100 bytes"
    assert skipped["big.bin"] == "it is no text and larger than 10 bytes"
    assert skipped["more.txt"] == "the copies of this session have 150 bytes already"
    assert skipped["fine.txt"] == skipped["fine.bin"] == ""
    outcome = await session.restore(checkpoint["id"])
    assert sorted(outcome["restored"]) == ["fine.bin", "fine.txt"]
    assert "there is no copy" in outcome["failed"]["big.txt"]
    assert (session.root / "fine.bin").read_bytes() == b"\0" * 10


async def test_a_folder_or_pipe_in_the_way_is_skipped(session: Session):
    (session.root / "folder").mkdir()
    os.mkfifo(session.root / "pipe")
    await session.turn("x")
    for name in ("folder", "pipe"):
        await session.call("write_file", {"file_path": name, "content": ""}, denied=True)
    (checkpoint,) = await session.listed()
    assert [file["skipped"] for file in checkpoint["files"]] == ["it is no file"] * 2


async def test_a_resumed_session_knows_its_checkpoints(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    index = session.folder / "checkpoints" / "index.jsonl"
    with index.open("a") as file:
        file.write('{"kind": "file", "id": "0001", "pa')
    again = await Session(session.root, session.folder).mount()
    again.context.messages += session.context.messages
    (checkpoint,) = await again.listed()
    await again.turn("y", write("a.txt", "three"))
    assert [each["turn"] for each in await again.listed()] == [1, 2]
    await again.restore(checkpoint["id"])
    assert again.read("a.txt") == "one"


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "file", "id": "0001", "path": "/x", "copy": "../../etc/passwd", "existed": true,'
        ' "size": 1, "mode": 420, "skipped": ""}',
        '{"kind": "after", "id": "0009", "path": "x", "after": null}',
        "[]",
        "null",
        "{}",
        '{"kind": "turn", "id": 7}',
    ],
)
async def test_a_line_that_makes_no_sense_is_ignored(session: Session, line: str):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    with (session.folder / "checkpoints" / "index.jsonl").open("a") as file:
        file.write(f"{line}\n")
    again = await Session(session.root, session.folder).mount()
    assert [file["path"] for file in (await again.listed())[0]["files"]] == ["a.txt"]


async def test_a_damaged_copy_is_not_put_back(session: Session):
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"))
    (copy,) = (session.folder / "checkpoints" / "objects").iterdir()
    copy.write_text("something else")
    (checkpoint,) = await session.listed()
    outcome = await session.restore(checkpoint["id"])
    assert outcome["failed"] == {"a.txt": "the copy is damaged"}
    assert session.read("a.txt") == "two"


async def test_copies_are_for_the_owners_eyes_only(session: Session):
    (session.root / "secret.env").write_text("KEY=x")
    await session.turn("x", write("secret.env", "KEY=y"))
    folder = session.folder / "checkpoints"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


async def test_an_agent_works_in_the_turn_of_the_session_that_called_it(
    session: Session, tmp_path: Path
):
    (session.root / "a.txt").write_text("one")
    child = await Session(session.root, tmp_path / "child", "s2").mount()
    store = session.coordinator.get_capability("checkpoint.store")
    child.coordinator.register_capability("checkpoint.store", store)
    await session.turn("do it")
    await child.turn("the task", write("a.txt", "two"))
    (checkpoint,) = await session.listed()
    assert checkpoint["prompt"] == "do it"
    await session.restore(checkpoint["id"])
    assert session.read("a.txt") == "one" and not (tmp_path / "child").exists()


async def test_calls_side_by_side_copy_each_file_once(session: Session):
    for number in range(20):
        (session.root / f"{number}.txt").write_text(str(number))
    await session.turn("x")
    calls = [write(f"{number}.txt", "new") for number in range(20)] * 2
    await asyncio.gather(*(session.call(*call) for call in calls))
    (checkpoint,) = await session.listed()
    assert len(checkpoint["files"]) == 20
    await session.restore(checkpoint["id"])
    assert [session.read(f"{number}.txt") for number in range(20)] == [str(n) for n in range(20)]


async def test_a_disk_that_does_not_take_it_is_told_once_and_stops_nothing(
    session: Session, tmp_path: Path
):
    session.folder.write_text("a file where the folder should be")
    (session.root / "a.txt").write_text("one")
    await session.turn("x", write("a.txt", "two"), write("b.txt", "two"))
    assert session.read("a.txt") == "two"
    assert len(session.notices) == 1 and "can't be undone" in session.notices[0]


async def test_an_unknown_checkpoint_is_a_key_error(session: Session):
    with pytest.raises(KeyError):
        await session.restore("9999")


async def test_without_a_host_the_copies_go_to_the_sessions_folder(tmp_path: Path, own_home: Path):
    session = await Session(tmp_path / "work", tmp_path / "unused").mount()
    session.coordinator.register_capability("session.events_path", None)
    await session.turn("x", write("a.txt", "x"))
    slug = str((tmp_path / "work").resolve()).replace("/", "-")
    folder = own_home / ".amplifier" / "projects" / slug / "sessions" / "s1" / "checkpoints"
    assert (folder / "index.jsonl").is_file()


@pytest.mark.parametrize(
    "config", [{"tools": ["x"]}, {"max_file_bytes": "much"}, {"folder": 3}, {"priority": "high"}]
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(ValueError, match="hooks-checkpoint"):
        await hooks_checkpoint.mount(ModuleCoordinator(), config)


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.text(max_size=5)), max_size=12
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, start=st.dictionaries(st.sampled_from("abc"), st.text(max_size=5)))
async def test_every_checkpoint_leads_back_to_the_state_it_was_made_in(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, str, str]],
    start: dict[str, str],
):
    tmp_path = tmp_path_factory.mktemp("p")
    session = await Session(tmp_path / "w", tmp_path / "s").mount()
    for name, text in start.items():
        (session.root / name).write_text(text, newline="")
    states: list[dict[str, bytes]] = []

    def state() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in session.root.iterdir()}

    last = None
    for turn, name, text in steps:
        if turn != last:
            states.append(state())
            await session.turn(f"turn {len(states)}")
            last = turn
        await session.call(*write(name, text))
    for checkpoint in reversed(await session.listed()):
        await session.restore(checkpoint["id"])
        assert state() == states[checkpoint["turn"] - 1]
