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
