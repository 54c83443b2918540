import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.kernel.session.grant import Grant, granted
from amplifier_tui.modules import tool_search
from amplifier_tui.modules.tool_search import grep_tool
from tests.modules.tool_bash.support import gone
from tests.modules.tool_search.support import Search, kind


async def test_it_is_found_by_its_id_and_mounts_two_tools(tmp_path: Path):
    search = Search(tmp_path)
    mount = await ModuleLoader(search.coordinator).load("tool-search", {})
    await mount(search.coordinator)
    tools = search.coordinator.get("tools")
    assert list(tools) == ["grep", "glob"]
    for tool in tools.values():
        assert tool.input_schema["required"] == ["pattern"] and tool.description


@pytest.mark.parametrize(
    "config",
    [{"timeout": 0}, {"timeout": "long"}, {"max_results": True}, {"denied_read_paths": 3}],
)
async def test_a_mistake_in_the_config_is_told(tmp_path: Path, config: dict[str, Any]):
    with pytest.raises(ValueError, match="tool-search"):
        await tool_search.mount(Search(tmp_path).coordinator, config)


async def test_files_that_match_are_listed_in_their_order(search: Search):
    search.put("b.py", "x = needle\n")
    search.put("a/z.txt")
    search.put("a/empty.txt", "")
    search.put("c.py", "nothing\n")
    assert await search.grep("need.e") == ["a/z.txt", "b.py"]


async def test_lines_come_with_their_number_and_what_is_around_them(search: Search):
    search.put("a.txt", "1\n2\nneedle one\n4\n5\n6\n7\n8\nneedle two\n")
    assert await search.content("needle", **{"-C": 1}) == [
        "a.txt-2-2",
        "a.txt:3:needle one",
        "a.txt-4-4",
        "--",
        "a.txt-8-8",
        "a.txt:9:needle two",
    ]
    assert await search.content("needle", **{"-B": 1, "-A": 0}) == [
        "a.txt-2-2",
        "a.txt:3:needle one",
        "--",
        "a.txt-8-8",
        "a.txt:9:needle two",
    ]


async def test_overlapping_surroundings_are_shown_once(search: Search):
    search.put("a.txt", "needle\nx\nneedle\n")
    assert await search.content("needle", **{"-C": 5}) == [
        "a.txt:1:needle",
        "a.txt-2-x",
        "a.txt:3:needle",
    ]


async def test_counting_and_ignoring_case(search: Search):
    search.put("a.txt", "Needle\nneedle\nNEEDLE needle\n")
    assert await search.grep("needle", output_mode="count") == ["a.txt:2"]
    assert await search.grep("needle", output_mode="count", **{"-i": True}) == ["a.txt:3"]
    assert await search.grep("needle", output_mode="count", case_insensitive="true") == ["a.txt:3"]


async def test_line_ends_of_every_kind_are_no_part_of_a_line(search: Search):
    search.put("a.txt", b"one needle\r\ntwo\r\nneedle")
    assert await search.content("needle$") == ["a.txt:1:one needle", "a.txt:3:needle"]


async def test_a_pattern_matches_lines_unless_it_may_span_them(search: Search):
    search.put("a.txt", "begin\nmiddle\nend\nbegin end\n")
    assert await search.content(r"begin\s+end") == ["a.txt:4:begin end"]
    assert await search.content("begin.*?end", multiline=True) == [
        "a.txt:1:begin",
        "a.txt:2:middle",
        "a.txt:3:end",
        "a.txt:4:begin end",
    ]


async def test_only_files_of_a_kind_or_like_a_pattern(search: Search):
    for path in ("a.py", "src/b.ts", "src/deep/c.tsx", "test/d.py"):
        search.put(path)
    assert await search.grep("needle", type="py") == ["a.py", "test/d.py"]
    assert await search.grep("needle", glob="*.{ts,tsx}") == ["src/b.ts", "src/deep/c.tsx"]
    assert await search.grep("needle", glob="src/*.ts*") == ["src/b.ts"]
    assert await search.grep("needle", include=["a.*", "test/**"]) == ["a.py", "test/d.py"]
    assert kind(await search.call("grep", pattern="x", type="cobol")) == "invalid_arguments"


async def test_one_file_or_folder_can_be_searched(search: Search):
    search.put("a/x.txt", "one needle\n")
    search.put("b/y.txt")
    assert await search.grep("needle", path="a") == ["a/x.txt"]
    assert await search.content("needle", path="a/x.txt") == ["a/x.txt:1:one needle"]
    assert await search.grep("needle", path=str(search.root / "b")) == ["b/y.txt"]


async def test_results_are_capped_and_can_be_read_on(search: Search):
    for number in range(5):
        search.put(f"{number}.txt", "needle\nneedle\n")
    result = await search.call("grep", pattern="needle", head_limit=2)
    assert result.output == (
        "0.txt\n1.txt\n[There is more. Narrow the search, or read on with offset 2]"
    )
    assert await search.grep("needle", head_limit=2, offset=4) == ["4.txt"]
    assert await search.content("needle", head_limit=3, offset=1) == [
        "0.txt:2:needle",
        "1.txt:1:needle",
        "1.txt:2:needle",
    ]
    assert "There is more" not in str(
        (await search.call("grep", pattern="needle", head_limit=5)).output
    )


async def test_a_long_line_is_shown_around_the_match(search: Search):
    search.put("a.txt", "a" * 5_000 + "needle" + "b" * 5_000 + "\n")
    (line,) = await search.content("needle")
    assert len(line) < 500 and "needle" in line
    assert line.startswith("a.txt:1:…") and line.endswith("…")


async def test_a_great_deal_of_output_is_cut(search: Search):
    search.put("a.txt", ("needle " + "x" * 390 + "\n") * 500)
    search.coordinator.get("tools").clear()
    await search.mount(max_results=500)
    result = await search.call("grep", pattern="needle", output_mode="content")
    assert len(str(result.output)) < 45_000
    assert "There is more. Narrow the search" in str(result.output)


async def test_binary_and_huge_files_are_left_out_and_that_is_said(tmp_path: Path):
    search = await Search(tmp_path).mount(max_file_bytes=1_000)
    search.put("a.bin", b"needle\0\1")
    search.put("b.txt", "needle\n" + "x" * 2_000)
    result = await search.call("grep", pattern="needle")
    assert result.output == "[No matches in 0 files; 2 binary or huge files left out.]"


async def test_other_encodings_are_read_as_well_as_can_be(search: Search):
    search.put("a.txt", "needle in UTF-16\n".encode("utf-16"))
    search.put("b.txt", b"needle \xff latin\n")
    search.put("c.txt", b"\xef\xbb\xbfneedle\n")
    assert await search.content("^needle") == [
        "a.txt:1:needle in UTF-16",
        "b.txt:1:needle � latin",
        "c.txt:1:needle",
    ]


async def test_what_can_not_be_read_is_no_error(search: Search):
    search.put("a.txt")
    (search.root / "gone.txt").symlink_to("nowhere")
    os.mkfifo(search.root / "pipe")
    assert await search.grep("needle") == ["a.txt"]


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?P<x", "*"])
async def test_a_pattern_that_is_none_is_told(search: Search, pattern: str):
    result = await search.call("grep", pattern=pattern)
    assert kind(result) == "invalid_pattern" and "Escape" in str(result.output)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"pattern": ""},
        {"pattern": 3},
        {"pattern": "x", "-A": -1},
        {"pattern": "x", "-C": "many"},
        {"pattern": "x", "output_mode": "pretty"},
        {"pattern": "x", "multiline": "perhaps"},
        {"pattern": "x", "glob": 7},
        {"pattern": "x", "glob": "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"},
    ],
)
async def test_arguments_that_make_no_sense_are_told(search: Search, arguments: dict[str, Any]):
    assert kind(await search.call("grep", **arguments)) == "invalid_arguments"


async def test_a_pattern_that_takes_for_ever_is_given_up_file_by_file(
    search: Search, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(grep_tool, "SLOW_S", 0.3)
    search.put("a.txt", "a" * 40 + "b\n")
    search.put("b.txt", "aaa\n")
    result = await search.call("grep", pattern="^(a+)+$")
    assert result.success
    assert str(result.output).startswith("b.txt\n")
    assert "takes too long on a.txt" in str(result.output)


async def test_a_search_that_takes_too_long_is_ended_with_what_it_found(tmp_path: Path):
    # On a busy machine the process that searches takes longer to begin.
    for limit in (1, 4, 16):
        search = await Search(tmp_path).mount(timeout=limit)
        search.put("a.txt", "aaa\n")
        search.put("b.txt", "a" * 40 + "b\n")
        result = await search.call("grep", pattern="^(a+)+$")
        if result.success:
            break
    assert result.success and str(result.output).startswith("a.txt\n")
    assert f"took longer than {limit} s" in str(result.output)
    (tmp_path / "a.txt").unlink()
    assert kind(await search.call("grep", pattern="^(a+)+$")) == "timeout"


async def test_cancelling_ends_the_process(search: Search, monkeypatch: pytest.MonkeyPatch):
    search.put("a.txt", "a" * 40 + "b\n")
    started: list[int] = []
    make = asyncio.create_subprocess_exec

    async def noted(*args: Any, **more: Any) -> asyncio.subprocess.Process:
        process = await make(*args, **more)
        started.append(process.pid)
        running.set()
        return process

    running = asyncio.Event()
    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    task = asyncio.create_task(search.call("grep", pattern="^(a+)+$"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(*started)


async def test_the_loop_goes_on_while_a_pattern_takes_long(search: Search):
    search.put("a.txt", "a" * 40 + "b\n")
    task = asyncio.create_task(search.call("grep", pattern="^(a+)+$"))
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_many_searches_at_once_all_answer(search: Search):
    for number in range(8):
        search.put(f"{number}.txt", f"needle {number}\n")
    found = await asyncio.gather(*(search.grep(f"needle {number}") for number in range(8)))
    assert found == [[f"{number}.txt"] for number in range(8)]


async def test_nothing_of_the_workspace_is_imported(search: Search, tmp_path: Path):
    mark = tmp_path / "ran"
    for name in ("json.py", "re.py", "sitecustomize.py", "amplifier_tui/__init__.py"):
        search.put(name, f"open({str(mark)!r}, 'w')  # needle\n")
    old = Path.cwd()
    os.chdir(search.root)
    try:
        assert len(await search.grep("needle")) == 4
    finally:
        os.chdir(old)
    assert not mark.exists()


async def test_files_of_keys_are_searched_by_their_name_alone(search: Search):
    for path in ("a.txt", ".env", "sub/.env.local", "sub/.aws/credentials", "id_rsa"):
        search.put(path)
    result = await search.call("grep", pattern="needle", include_ignored=True)
    assert str(result.output).split("\n") == [
        "a.txt",
        "[4 files of keys or passwords left out; one is searched as `path`]",
    ]
    assert await search.content("needle", path=".env") == [".env:1:needle"]
    assert sorted(await search.glob("**/*")) == sorted(
        ["a.txt", ".env", "sub/.env.local", "sub/.aws/credentials", "id_rsa"]
    )


async def test_what_the_call_has_to_leave_out_is_neither_shown_nor_counted(search: Search):
    for path in ("a.txt", "secrets/plan.txt", "secrets/deep/b.txt"):
        search.put(path)
    with granted(Grant("mode", left_out=lambda path: "secrets" in path.parts)):
        result = await search.call("grep", pattern="needle", output_mode="content")
        assert str(result.output).split("\n") == [
            "a.txt:1:needle",
            "[1 matching line in 1 file]",
            "[2 files left out by a rule]",
        ]
        assert await search.grep("needle") == ["a.txt"]
        none = await search.call("grep", pattern="needle", path="secrets/plan.txt")
        assert "needle" not in str(none.output) and "1 file left out by a rule" in str(none.output)
    assert len(await search.grep("needle")) == 3
