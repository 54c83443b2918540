# A module is taken out of a running session, or its source is run anew in its place.

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.mounting.mount import mount_module
from amplifier_tui.kernel.mounting.mounted import MountedModule
from amplifier_tui.kernel.mounting.replacing import replace_module, unmount_module

SOURCE = """
from amplifier_module_tool_dice.value import VALUE

__amplifier_module_type__ = "tool"
heard = []


class Dice:
    name = description = "dice"

    async def execute(self, input):
        return VALUE


async def mount(coordinator, config=None):
    await coordinator.mount("tools", Dice())
    hooks = coordinator.hooks

    async def on_start(event, data):
        hooks.register("tool:post", listen, name="late")
        coordinator.register_capability("dice.late", Dice())
        coordinator.register_contributor("numbers", "late", lambda: VALUE)
        faces.append(Dice())

    async def listen(event, data):
        heard.append((event, VALUE))

    hooks.register("tool:pre", listen, priority=5, name="dice")
    hooks.register("session:start", on_start, name="start")
    coordinator.register_capability("dice.value", VALUE)
    coordinator.register_contributor("numbers", "dice", lambda: VALUE)
    coordinator.cancellation.on_cancel(print)
    hooks.observe(heard.__contains__)
    faces = coordinator.get_capability("faces")
    if faces is not None:
        faces.append(VALUE)
    # A module is mounted for a trial, too, before it counts.
    trial = coordinator.session_id == "test-session"
    done = [] if trial else config["cleaned"]
    if VALUE == "bad" and not trial:
        coordinator.register_cleanup(lambda: done.append(VALUE))
        raise RuntimeError("half way")

    async def cleanup():
        done.append(VALUE)
        await coordinator.unmount("tools", "dice")
        hooks.unregister("dice")
        coordinator.register_capability("dice.value", None)

    return cleanup
"""
PACKAGE = "amplifier_module_tool_dice"


@pytest.fixture(autouse=True)
def clean_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


class Sources:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resolve(self, module_id: str, source_hint: Any = None) -> Path:
        return self.folder


class Author:
    # Somebody who edits a module while a session has it.

    def __init__(self, folder: Path) -> None:
        self.package = folder / PACKAGE
        self.package.mkdir()
        (self.package / "__init__.py").write_text(SOURCE)
        self.write("one")
        self.coordinator = ModuleCoordinator()
        self.coordinator.mount_points["module-source-resolver"] = Sources(folder)
        self.loader = ModuleLoader(self.coordinator)
        self.faces: list[Any] = []
        self.coordinator.share_list(self.faces)
        self.coordinator.register_capability("faces", self.faces)
        self.cleaned: list[Any] = []
        self.spec = {"module": "tool-dice", "config": {"cleaned": self.cleaned}}

    def write(self, value: str) -> None:
        (self.package / "value.py").write_text(f"VALUE = {value!r}\n")

    async def mount(self) -> MountedModule:
        return await mount_module(self.coordinator, self.loader, "tool", self.spec, [])

    async def reload(self, module: MountedModule) -> MountedModule:
        with self.loader.fresh(module.module_id, module.package):
            return await replace_module(self.coordinator, self.loader, module, self.spec)

    async def throw(self) -> Any:
        return await self.coordinator.get("tools", "dice").execute({})

    def offers(self) -> dict[str, Any]:
        hooks = self.coordinator.hooks.list_handlers()
        return {
            "tools": list(self.coordinator.get("tools")),
            "hooks": {event: names for event, names in hooks.items() if names},
            "capability": self.coordinator.get_capability("dice.value"),
            "late": self.coordinator.get_capability("dice.late") is not None,
            "contributors": len(self.coordinator.channels.get("numbers", [])),
            "faces": list(self.faces),
            "at a stop": len(self.coordinator.cancellation._callbacks),
            "observers": len(self.coordinator.hooks._observers),
            "modules": [each.module_id for each in self.coordinator.mounted_modules],
        }


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


async def test_taking_a_module_out_leaves_nothing_of_it(author: Author) -> None:
    before = author.offers()
    module = await author.mount()
    await author.coordinator.hooks.emit("session:start", {})
    assert author.offers()["hooks"]["tool:post"] == ["late"]
    assert author.offers()["late"] and len(author.faces) == 2
    await unmount_module(author.coordinator, module)
    assert author.offers() == before
    await author.coordinator.cleanup()
    assert author.cleaned == ["one"]


async def test_a_reload_runs_the_new_source_and_nothing_of_the_old(author: Author) -> None:
    module = await author.mount()
    old = sys.modules[PACKAGE]
    await author.coordinator.hooks.emit("session:start", {})
    # As long as before, and within the same second.
    author.write("two")
    module = await author.reload(module)
    assert await author.throw() == "two"
    await author.coordinator.hooks.emit("tool:pre", {})
    await author.coordinator.hooks.emit("tool:post", {})
    assert (old.heard, sys.modules[PACKAGE].heard) == ([], [("tool:pre", "two")])
    assert author.cleaned == ["one"]
    assert author.offers() == {
        "tools": ["dice"],
        "hooks": {"tool:pre": ["dice"], "session:start": ["start"]},
        "capability": "two",
        "late": False,
        "contributors": 1,
        "faces": ["two"],
        "at a stop": 1,
        "observers": 1,
        "modules": ["tool-dice"],
    }
    await author.coordinator.cleanup()
    assert author.cleaned == ["one", "two"]


@pytest.mark.parametrize("broken", ["VALUE = (\n", "VALUE = 'bad'\n"])
async def test_a_reload_that_fails_leaves_what_was_there(author: Author, broken: str) -> None:
    module = await author.mount()
    before, tool = author.offers(), author.coordinator.get("tools", "dice")
    (author.package / "value.py").write_text(broken)
    with pytest.raises((ValueError, RuntimeError)):
        await author.reload(module)
    assert author.cleaned in ([], ["bad"])
    assert author.offers() == before
    assert author.coordinator.get("tools", "dice") is tool
    assert await author.throw() == "one"
    author.write("two")
    await author.reload(module)
    assert await author.throw() == "two"


async def test_a_reload_keeps_the_places_of_tools_and_handlers(author: Author) -> None:
    class Other:
        def __init__(self, name: str) -> None:
            self.name = name

    def listen(event: str, data: Any) -> None: ...

    author.faces.append("before")
    await author.coordinator.mount("tools", Other("before"))
    author.coordinator.hooks.register("tool:pre", listen, 5, "before")
    module = await author.mount()
    author.faces.append("after")
    await author.coordinator.mount("tools", Other("after"))
    author.coordinator.hooks.register("tool:pre", listen, 5, "after")
    author.write("two")
    await author.reload(module)
    assert author.faces == ["before", "two", "after"]
    assert list(author.coordinator.get("tools")) == ["before", "dice", "after"]
    listed = author.coordinator.hooks.list_handlers("tool:pre")["tool:pre"]
    assert listed == ["before", "dice", "after"]


async def test_what_others_register_while_a_module_mounts_is_not_taken_out_with_it(
    author: Author,
) -> None:
    class Other:
        name = "other"

    class SlowLoader:
        async def load(self, *spec: Any, **hints: Any) -> Any:
            async def mount(coordinator: ModuleCoordinator) -> None:
                await coordinator.mount("tools", Other(), "own")
                await asyncio.sleep(0)

            return mount

    async def meanwhile() -> None:
        await author.coordinator.mount("tools", Other())
        author.coordinator.hooks.register("tool:pre", lambda event, data: None, name="other")

    mounting = asyncio.create_task(
        mount_module(author.coordinator, SlowLoader(), "tool", {"module": "slow"}, [])
    )
    await asyncio.create_task(meanwhile())
    await unmount_module(author.coordinator, await mounting)
    assert list(author.coordinator.get("tools")) == ["other"]
    assert author.coordinator.hooks.list_handlers("tool:pre")["tool:pre"] == ["other"]
