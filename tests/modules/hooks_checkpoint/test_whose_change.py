"""Whose a change is that came while a command ran."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.modules.hooks_checkpoint.watching import NamedWrites
from tests.modules.hooks_checkpoint.support import Session, edit, write

TESTS = "python3 -m pytest -q"
PERHAPS = f"changed while `{TESTS}` ran, perhaps by you"


async def opened(tmp_path: Path, **config: Any) -> Session:
    """A session in which each command counts as a long one, unless it is told otherwise."""
    session = await Session(tmp_path / "work", tmp_path / "store").mount(
        **{"own_seconds": 0, **config}
    )
    (session.root / "app.py").write_text("one\n")
    (session.root / "web").mkdir()
    (session.root / "web" / "a.ts").write_text("one\n")
    return session


async def conflicts(session: Session) -> dict[str, str]:
    again = await Session(session.root, session.folder).mount()
    files = (await again.preview((await again.listed())[0]["id"]))["files"]
    assert all(file["perhaps"] is ("perhaps by you" in file["conflict"]) for file in files)
    return {file["path"]: file["conflict"] for file in files}


async def test_what_the_user_saved_while_a_long_command_ran_is_left_alone(tmp_path: Path):
    session = await opened(tmp_path)

    def save() -> None:
        (session.root / "app.py").write_text("two\nby hand\n")
        (session.root / "design.md").write_text("by hand")

    await session.turn("x", edit("app.py", "one", "two"), write("by_agent.py", "a"))
    await session.command(TESTS, save)
    assert await conflicts(session) == {
        "app.py": PERHAPS,
        "by_agent.py": "",
        "design.md": PERHAPS,
    }
    (checkpoint,) = await session.listed()
    done = await session.restore(checkpoint["id"])
    assert (done["conflicts"], done["removed"]) == (["app.py", "design.md"], ["by_agent.py"])
    assert session.read("app.py") == "two\nby hand\n" and session.read("design.md") == "by hand"
    done = await session.restore(checkpoint["id"], force=["app.py", "design.md"])
    assert (done["restored"], done["removed"]) == (["app.py"], ["design.md"])
    assert session.read("app.py") == "one\n"


async def test_what_changed_while_a_short_command_ran_is_its_own(tmp_path: Path):
    session = await opened(tmp_path, own_seconds=600)
    await session.turn("x")
    await session.command("make fmt", lambda: (session.root / "app.py").write_text("two\n"))
    assert await conflicts(session) == {"app.py": ""}


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("sleep 9; ./generate > web/a.ts", True),
        ("cd web && npx prettier --write ./a.ts", True),
        ("python3 - <<'E'\nopen('web/a.ts', 'w')\nE", True),
        ("generate --out=web/a.ts", True),
        ("pytest web/a.ts", False),
        ("go test ./... | tee web/a.ts", True),
        ("cat web/a.ts && make", False),
        ("npx prettier --write a.ts", False),
        ("npx prettier --write other/web/a.ts web/a.ts.orig", False),
        ("npm install", False),
    ],
)
async def test_a_long_command_owns_the_files_that_its_text_says_it_works_on(
    tmp_path: Path, command: str, own: bool
):
    session = await opened(tmp_path)
    await session.turn("x")
    await session.command(command, lambda: (session.root / "web/a.ts").write_text("two\n"))
    said = await conflicts(session)
    assert ("perhaps by you" in said["web/a.ts"]) is not own


async def test_what_another_call_wrote_while_a_command_ran_is_the_agents(tmp_path: Path):
    session = await opened(tmp_path)
    await session.turn("x")
    hooks = session.coordinator.hooks
    data = {"tool_name": "bash", "tool_input": {"command": TESTS}, "tool_call_id": "c1"}
    await hooks.emit("tool:pre", data)
    await session.call(*write("app.py", "two\n"))
    await session.command("make other", lambda: (session.root / "made").write_text("made"))
    await hooks.emit("tool:post", data)
    said = await conflicts(session)
    assert said["app.py"] == "" and "make other" in said["made"]


class Together:
    """Commands of one answer: each ends when it is told to."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def begin(self, *commands: str) -> None:
        for command in commands:
            await self._emit("tool:pre", command)

    async def end(self, *commands: str) -> None:
        # What one ended is compared while others end.
        await asyncio.gather(*(self._emit("tool:post", command) for command in commands))

    async def _emit(self, event: str, command: str) -> None:
        data = {"tool_name": "bash", "tool_input": {"command": command}, "tool_call_id": command}
        await self.session.coordinator.hooks.emit(event, data)


async def told(session: Session) -> dict[str, tuple[str, int]]:
    again = await Session(session.root, session.folder).mount()
    files = (await again.preview((await again.listed())[0]["id"]))["files"]
    return {file["path"]: (file["command"], file["together"]) for file in files}


async def test_of_commands_that_ran_together_the_one_that_names_a_file_is_told_as_its_changer(
    tmp_path: Path,
):
    session = await opened(tmp_path, own_seconds=600)
    (session.root / "t1.txt").write_text("one")
    commands = "git branch b1", "git checkout -- app.py", "ls | wc -l; rm t1.txt", "make x"
    await session.turn("x")
    together = Together(session)
    await together.begin(*commands)
    (session.root / "app.py").write_text("two\n")
    (session.root / "t1.txt").unlink()
    (session.root / "made").write_text("")
    await together.end(*commands)
    found = await told(session)
    assert found["app.py"] == ("git checkout -- app.py", 0)
    assert found["t1.txt"] == ("ls | wc -l; rm t1.txt", 0)
    assert found["made"][1] == 4, "none of them names it"


async def test_a_file_that_two_commands_name_is_by_one_of_those_that_ran_together(tmp_path: Path):
    session = await opened(tmp_path, own_seconds=600)
    commands = "git branch b1", "black app.py", "isort app.py"
    await session.turn("x")
    together = Together(session)
    await together.begin(*commands)
    (session.root / "app.py").write_text("two\n")
    await together.end(*commands)
    assert (await told(session))["app.py"][1] == 3
    index = session.folder / "checkpoints" / "index.jsonl"
    index.write_text(index.read_text().replace(', "together": 3', "").replace(',"together":3', ""))
    assert (await told(session))["app.py"] == ("git branch b1", 0), "as in an older record"


async def test_only_what_runs_when_a_file_changes_can_have_changed_it(tmp_path: Path):
    session = await opened(tmp_path, own_seconds=600)
    hooks, asked = session.coordinator.hooks, "git push"
    await session.turn("x")
    together = Together(session)
    await together.begin("make a", "git branch b1", asked, "git tag t1")
    await hooks.emit("approval:required", {"tool_call_id": asked})
    await hooks.emit("approval:denied", {"tool_call_id": "git tag t1"})
    await together.end("git branch b1")
    (session.root / "app.py").write_text("two\n")
    await together.end("make a")
    (session.root / "web/a.ts").write_text("two\n")
    await hooks.emit("approval:granted", {"tool_call_id": asked})
    await together.begin("make c")
    (session.root / "made").write_text("")
    await together.end("make c", asked)
    found = await told(session)
    assert found["app.py"] == ("make a", 0), "the others had ended, or waited, or did not run"
    assert found["made"][1] == 2


async def test_what_a_command_may_have_planted_comes_back_only_by_force(tmp_path: Path):
    session = await opened(tmp_path, own_seconds=600)
    root = session.root
    for words in (["init", "-q"], ["config", "core.hooksPath", "checks"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    (root / ".tool-versions").write_text("one")
    subprocess.run(["git", "add", ".tool-versions"], cwd=root, check=True)
    planted = [".envrc", ".vscode/tasks.json", "checks/pre-push", "lib/sitecustomize.py"]
    for name in planted:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("planted")
    (root / ".github").symlink_to("web")
    planted.append(".github")

    def moved_aside() -> None:
        for name in planted:
            (root / name).unlink()
        (root / ".tool-versions").write_text("two")

    await session.turn("x")
    await session.command("make test", moved_aside)
    found = await conflicts(session)
    assert found.pop(".tool-versions") == "", "git has it, and it is there"
    assert sorted(found) == sorted(planted)
    assert all("a command in the sandbox may have made it" in why for why in found.values())
    (checkpoint,) = await session.listed()
    done = await session.restore(checkpoint["id"])
    assert (done["restored"], done["conflicts"]) == ([".tool-versions"], sorted(planted))
    assert not any((root / name).exists() for name in planted)
    done = await session.restore(checkpoint["id"], force=[".envrc"])
    assert done["restored"] == [".envrc"] and session.read(".envrc") == "planted"


async def test_what_going_back_took_away_is_brought_back_as_what_it_was(tmp_path: Path):
    session = await opened(tmp_path, own_seconds=600)
    await session.turn("x", write("AGENTS.md", "by hand"))
    await session.command("make x", lambda: (session.root / ".envrc").write_text("planted"))
    (checkpoint,) = await session.listed()
    done = await session.restore(checkpoint["id"])
    assert done["removed"] == [".envrc", "AGENTS.md"]
    again = await session.restore(done["id"])
    assert (again["restored"], again["conflicts"]) == (["AGENTS.md"], [".envrc"])


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("echo a >> app.py; sleep 7; echo built", False),
        ("echo a >> app.py; sleep 7; echo b >> app.py", False),
        ("cd web; echo a > ../app.py; sleep 7", False),
        ("npm test 2>&1 > app.py; tail app.py", True),
        ("npm test | tee app.py", True),
        ("npm ci && npm test | tee app.py", False),
        ("npm test | tee -a app.py", False),
    ],
)
@pytest.mark.parametrize("is_new", [False, True])
async def test_a_named_file_that_is_written_again_after_a_pause_is_perhaps_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, own: bool, is_new: bool
):
    session = await opened(tmp_path)
    if is_new:
        (session.root / "app.py").unlink()
    seen = asyncio.Event()
    loop = asyncio.get_running_loop()
    look = NamedWrites.look

    def looks(self: NamedWrites) -> None:
        look(self)
        loop.call_soon_threadsafe(seen.set)

    monkeypatch.setattr(NamedWrites, "look", looks)
    await session.turn("x")
    hooks = session.coordinator.hooks
    data = {"tool_name": "bash", "tool_input": {"command": command}, "tool_call_id": "c1"}
    await hooks.emit("tool:pre", data)
    (session.root / "app.py").write_text("a\n")
    seen.clear()
    for _ in range(2):  # A look may have begun before the file was written.
        await asyncio.wait_for(seen.wait(), 30)
        seen.clear()
    (session.root / "app.py").write_text("a\nMINE 1\n")
    await hooks.emit("tool:post", data)
    assert ("perhaps by you" in (await conflicts(session))["app.py"]) is not own
