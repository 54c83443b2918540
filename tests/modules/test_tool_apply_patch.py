"""apply_patch: several files by one patch, all of them or none."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_apply_patch


class Patched:
    """The tool on a workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.coordinator = ModuleCoordinator()
        self.coordinator.register_capability("session.working_dir", str(root))
        self.events: list[dict[str, Any]] = []
        self.coordinator.hooks.observe(lambda trace: self.events.append(trace.data))

    async def apply(self, *lines: str) -> ToolResult:
        return await self.call(input="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))

    async def call(self, **arguments: Any) -> ToolResult:
        result: ToolResult = await self.coordinator.get("tools", "apply_patch").execute(arguments)
        return result

    def put(self, **files: str) -> None:
        for name, content in files.items():
            (self.root / name).write_text(content)

    @property
    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
async def patched(tmp_path: Path) -> Patched:
    made = Patched(tmp_path.resolve())
    await tool_apply_patch.mount(made.coordinator, {})
    return made


async def test_one_patch_adds_changes_moves_and_deletes(patched: Patched) -> None:
    patched.put(a="one\ntwo\n", b="x\n", c="gone\n")
    result = await patched.apply(
        *("*** Update File: a", "@@", " one", "-two", "+2"),
        *("*** Update File: b", "*** Move to: sub/b2", "@@", "-x", "+y"),
        *("*** Delete File: c", "*** Add File: sub/new", "+hello"),
    )
    assert result.success, result.output
    assert patched.files == {"a": "one\n2\n", "sub/b2": "y\n", "sub/new": "hello\n"}
    assert result.output == ("Done. The patch changed:\nM a\nM b → sub/b2\nD c\nA sub/new")
    told = {each["relative_path"]: each for each in patched.events}
    assert told["a"]["lines_added"] == 1 and "+2" in told["a"]["diff"]
    assert told["c"]["deleted"] and told["sub/new"]["created"]


async def test_two_changes_of_one_file_follow_each_other(patched: Patched) -> None:
    patched.put(a="1\n")
    change = "*** Update File: a"
    await patched.apply(change, "@@", "-1", "+2", change, "@@", "-2", "+3")
    assert patched.files == {"a": "3\n"}
    assert len(patched.events) == 1


@pytest.mark.parametrize(
    ("lines", "kind", "said"),
    [
        (("*** Update File: b", "@@", "-no", "+y"), "no_match", "b: line 7 of the patch: `no`"),
        (("*** Update File: bb", "@@", "-x", "+y"), "not_found", "no file bb. Did you mean b?"),
        (("*** Delete File: bb",), "not_found", "no file bb"),
        (("*** Add File: b", "+y"), "exists", "b exists already (line 5 of the patch)"),
        (("*** Update File: b", "*** Move to: c"), "exists", "c exists already"),
        (("*** Add File: ../out", "+y"), "outside_workspace", "outside of the workspace"),
        (("*** Update File: b", "*** Move to: /etc/b"), "outside_workspace", "outside of"),
        (("*** Delete File: folder",), "is_folder", "is a folder"),
        (("*** Delete File: link",), "not_a_file", "link is a symbolic link"),
        (("*** Add File: folder", "+y"), "is_folder", "is a folder"),
        (("*** Add File: b/under", "+y"), "os_error", "Can't write"),
        (("nonsense",), "invalid_patch", "line 5 of the patch"),
    ],
)
async def test_where_one_part_does_not_fit_nothing_is_changed(
    patched: Patched, lines: tuple[str, ...], kind: str, said: str
) -> None:
    patched.put(a="1\n", b="x\n", c="z\n")
    (patched.root / "folder").mkdir()
    (patched.root / "link").symlink_to("a")
    before = patched.files
    result = await patched.apply("*** Update File: a", "-1", "+2", *lines)
    assert result.error is not None
    assert (result.success, result.error["type"]) == (False, kind), result.output
    assert said in str(result.output)
    assert patched.files == before
    assert patched.events == []


async def test_a_disk_that_gets_full_in_between_leaves_everything_as_it_was(
    patched: Patched, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched.put(a="1\n", b="1\n", c="1\n")
    os.chmod(patched.root / "a", 0o640)
    before, swap = patched.files, os.replace

    def full(source: Any, target: Any, **folders: int) -> None:
        if Path(target).name == "c" and str(source).endswith(".tmp"):
            raise OSError(errno.ENOSPC, "full", str(target))
        swap(source, target, **folders)

    monkeypatch.setattr(os, "replace", full)
    result = await patched.apply(
        *("*** Update File: a", "-1", "+2", "*** Delete File: b"),
        *("*** Add File: n", "+1", "*** Update File: c", "-1", "+2"),
    )
    assert "no space is left on the device. Nothing was changed." in str(result.output)
    assert patched.files == before
    assert (patched.root / "a").stat().st_mode & 0o777 == 0o640


async def test_binary_files_can_be_deleted_but_not_changed(patched: Patched) -> None:
    (patched.root / "a").write_bytes(b"\0\1")
    changed = await patched.apply("*** Update File: a", "@@", "-x", "+y")
    assert changed.error is not None and changed.error["type"] == "binary"
    assert (await patched.apply("*** Delete File: a")).success
    assert patched.files == {}


@pytest.mark.parametrize(
    "arguments",
    [{}, {"input": 3}, {"input": "*** Begin Patch"}, {"patch": "x"}, {"input": "", "patches": []}],
)
async def test_other_arguments_are_answered_with_what_is_expected(
    patched: Patched, arguments: dict[str, Any]
) -> None:
    result = await patched.call(**arguments)
    assert not result.success
    assert "input" in str(result.output) or "*** End Patch" in str(result.output)


NAMES = st.sampled_from(["a", "b", "c", "d/e"])
TEXTS = st.lists(st.sampled_from(["x", "y", "", " z"]), min_size=1, max_size=4)
STEPS = st.tuples(st.sampled_from(["add", "update", "delete", "move"]), NAMES, NAMES, TEXTS)


def _modelled(model: dict[str, list[str]], step: Any) -> list[str] | None:
    """Do a step in the model and return its lines of the patch; None if it can't be done."""
    kind, name, other, content = step
    if kind == "add":
        if name in model:
            return None
        model[name] = content
        return [f"*** Add File: {name}", *(f"+{line}" for line in content)]
    if name not in model:
        return None
    old = model[name]
    if kind == "delete":
        del model[name]
        return [f"*** Delete File: {name}"]
    lines = [f"*** Update File: {name}"]
    if kind == "move":
        if other != name and other in model:
            return None
        del model[name]
        lines.append(f"*** Move to: {other}")
        name = other
    model[name] = content
    return [*lines, "@@", *(f"-{line}" for line in old), *(f"+{line}" for line in content)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.dictionaries(NAMES, TEXTS), steps=st.lists(STEPS, min_size=1, max_size=6))
async def test_any_patch_does_what_a_simple_model_does_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, start: dict[str, list[str]], steps: list[Any]
) -> None:
    patched = Patched(tmp_path_factory.mktemp("model").resolve())
    await tool_apply_patch.mount(patched.coordinator, {})
    for name, content in start.items():
        (patched.root / name).parent.mkdir(exist_ok=True)
        (patched.root / name).write_text("".join(f"{line}\n" for line in content))
    before, model, lines = patched.files, dict(start), []
    fits = True
    for step in steps:
        added = _modelled(model, step)
        if added is None:
            # The patch says it all the same, and so nothing may happen.
            fits = False
            kind, name, _, content = step
            added = (
                [f"*** Add File: {name}", *(f"+{line}" for line in content)]
                if kind == "add"
                else [f"*** Delete File: {name}"]
            )
            if kind == "move" and name in model:
                added = [f"*** Update File: {name}", f"*** Move to: {step[2]}"]
        lines += added
        if not fits:
            break
    result = await patched.apply(*lines)
    assert result.success is fits, (lines, result.output)
    expected = {name: "".join(f"{line}\n" for line in text) for name, text in model.items()}
    assert patched.files == (expected if fits else before)


async def test_a_program_that_is_moved_can_still_be_run(patched: Patched) -> None:
    patched.put(run="one\n")
    (patched.root / "run").chmod(0o750)
    result = await patched.apply(
        *("*** Update File: run", "*** Move to: bin/go", "@@", "-one", "+two"),
        *("*** Update File: bin/go", "*** Move to: bin/run", "@@", "-two", "+three"),
    )
    assert result.success, result.output
    assert patched.files == {"bin/run": "three\n"}
    assert (patched.root / "bin/run").stat().st_mode & 0o777 == 0o750


async def test_where_the_folder_of_the_session_is_gone_none_is_made(tmp_path: Path):
    patched = Patched(tmp_path / "gone")
    await tool_apply_patch.mount(patched.coordinator, {})
    result = await patched.apply("*** Add File: a/new.txt", "+x")
    assert not result.success and "is gone; stop, and ask the user" in str(result.output)
    assert not patched.root.exists()
