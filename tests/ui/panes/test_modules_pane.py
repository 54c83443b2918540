from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.containers import Vertical

from amplifier_tui.host.client import ModuleDetails, ModuleSetting, ToolCard
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    ModuleChangeWaits,
    ModuleDegraded,
    ModuleFailed,
    ModuleLoading,
    ModuleMounted,
    ModuleUnmounted,
    Usage,
    UsageChanged,
)
from amplifier_tui.ui.dialogs.modules.pickers import ModulePicker, SettingPicker
from amplifier_tui.ui.dialogs.questions import AskLine
from amplifier_tui.ui.panes.modules import (
    ModulesPane,
    module_details,
    module_row,
)
from amplifier_tui.ui.state.instruments.modules import ModuleStatus
from amplifier_tui.ui.widgets.messages import CopyRequested
from tests.ui.driving import running
from tests.ui.fake_client import SESSION
from tests.ui.panes.stage import Stage, foot, text
from tests.ui.state.make import make, new_state, tool, tool_ended, traced


def mounted(module_id: str, kind: str, **fields: object) -> ModuleMounted:
    return make(ModuleMounted, module_id=module_id, kind=kind, **fields)


def failed(module_id: str, error: str, **fields: object) -> ModuleFailed:
    return make(ModuleFailed, module_id=module_id, kind="tool", error=error, **fields)


MODULES: list[HostEvent] = [
    mounted("tool-filesystem", "tool", provides=("read",)),
    mounted("tool-bash", "tool", provides=("bash",)),
    mounted("provider-anthropic", "provider", provides=("anthropic",)),
    mounted("loop-streaming", "orchestrator"),
    failed("tool-web", "no network", remedy="Connect, then /mount tool-web", origin="coding"),
    make(ModuleLoading, module_id="hooks-late", kind="hook"),
    make(UsageChanged, session=Usage(), provider="anthropic", model="claude-sonnet-5"),
    traced(1, "llm:response", source="anthropic", data='{"duration_ms": 820}'),
    *(tool(f"r{n}", "read") for n in range(7)),
    tool("b"),
    tool_ended("b", duration_ms=1_400.0),
]


async def test_each_module_is_a_line_with_its_data_at_the_right() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(40, 20)):
        assert text(app.widgets[0]) == [
            "Modules 4 ready · 1 loading · 1 failed",
            "● provider-anthropic   sonnet 5 820 ms",
            "● loop-streaming",
            "● tool-bash                         1×",
            "● tool-filesystem                   7×",
            "✗ tool-web                  no network",
            "◐ hooks-late                   loading",
        ]


async def test_the_least_important_data_goes_first_when_it_is_narrow() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(32, 20)):
        lines = text(app.widgets[0])
        assert lines[0].startswith("Modules  ") and lines[0].endswith("  1 loading · 1 failed")
        assert lines[1] == "● provider-anthropic  sonnet 5"


async def test_a_built_in_module_in_place_of_another_is_amber_and_says_so() -> None:
    event = mounted("tool-todo", "tool", source="built-in", in_place_of="git+https://h/t@main")
    app = Stage(ModulesPane(), events=[event])
    async with app.run_test(size=(50, 12)) as pilot:
        line = module_row(app.state.modules.ordered()[0], 50)
        assert line[0] == ("● ", "warning") and ("built-in instead", "warning") in line
        await pilot.press("enter")
        assert "instead of" in "\n".join(text(app.widgets[0]))


async def test_a_module_whose_tools_have_mistakes_is_amber_and_says_which() -> None:
    wrong = "'bash' takes the place of the tool of tool-bash with that name; rename it"
    event = mounted("tool-todo", "tool", problems=(wrong,))
    app = Stage(ModulesPane(), events=[event])
    async with app.run_test(size=(50, 12)) as pilot:
        line = module_row(app.state.modules.ordered()[0], 50)
        assert line[0] == ("● ", "warning") and ("has mistakes", "warning") in line
        await pilot.press("enter")
        assert "mistake" in "\n".join(text(app.widgets[0]))


async def test_a_module_whose_code_failed_a_turn_is_amber_and_says_where() -> None:
    fault = make(Failed, kind="internal", message="It failed", remedy="See a.py:1.", module="p-a")
    app = Stage(ModulesPane(), events=[mounted("p-a", "provider"), fault])
    async with app.run_test(size=(50, 12)) as pilot:
        for width in (50, 90):
            line = module_row(app.state.modules.ordered()[0], width)
            assert line[0] == ("● ", "warning")
            assert any(piece.strip() == "failed" for piece, _ in line)
        await pilot.press("enter")
        assert "It failed. See a.py:1." in "\n".join(text(app.widgets[0]))


async def test_before_the_first_module_there_is_a_word() -> None:
    app = Stage(ModulesPane())
    async with app.run_test(size=(34, 10)):
        assert text(app.widgets[0]) == ["Modules", "None mounted yet"]


async def test_enter_opens_the_details_of_the_module_under_the_cursor() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("j", "j", "j", "j")
        assert pane.cursor is not None
        assert pane.cursor.module_id == "tool-web"
        await pilot.press("enter")
        lines = text(pane)
        at = lines.index(next(line for line in lines if line.startswith("✗ tool-web")))
        assert [" ".join(line.split()) for line in lines[at + 1 : at + 6]] == [
            "error no network",
            "remedy Connect, then /mount tool-web",
            "id tool-web",
            "kind tool",
            "from coding",
        ]
        assert lines[at + 6].startswith("◐ hooks-late")
        await pilot.press("enter")
        assert pane._open == frozenset()
        assert len(text(pane)) == 7


async def test_the_cursor_stays_inside_the_list() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("k", "k")
        assert pane.cursor is not None
        assert pane.cursor.module_id == "provider-anthropic"
        await pilot.press("G", "j", "j")
        assert pane.cursor.module_id == "hooks-late"
        await pilot.press("g")
        assert pane.cursor.module_id == "provider-anthropic"


async def test_a_click_opens_the_module_that_was_clicked() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        await pilot.click(ModulesPane, offset=(5, 3))
        assert app.query_one(ModulesPane)._open == {"tool-bash"}


async def test_an_empty_pane_names_only_keys_that_do_something() -> None:
    app = Stage(ModulesPane())
    async with app.run_test(size=(80, 10)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.pause()
        assert text(pane)[:2] == ["Modules", "None mounted yet"]
        assert foot(pane) == "a mount   o missing"
        app.feed(mounted("tool-x", "tool"))
        await pilot.pause()
        assert foot(pane).startswith("enter details")


async def test_the_head_stays_when_the_list_scrolls() -> None:
    many = [mounted(f"tool-{n:02}", "tool") for n in range(40)]
    app = Stage(ModulesPane(), events=many)
    async with app.run_test(size=(34, 10)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("G")
        await pilot.pause()
        lines = text(pane)
        assert lines[0].startswith("Modules")
        assert lines[-1] == "● tool-39"
        assert len(lines) == 9
        assert foot(pane) == "enter details   r reload …"
        await pilot.press("g")
        await pilot.pause()
        assert text(pane)[1] == "● tool-00"


async def test_details_say_whose_word_a_module_is_mounted_on() -> None:
    app = Stage(ModulesPane(), events=[mounted("tool-x", "tool", origin="b", owner="project")])
    async with app.run_test(size=(40, 12)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert any(line.split() == ["whose", "the", "project's"] for line in text(pane))


async def test_details_are_scrolled_into_view_below_the_head() -> None:
    many = [mounted(f"tool-{n:02}", "tool", origin="b", source="s") for n in range(12)]
    app = Stage(ModulesPane(), events=many)
    async with app.run_test(size=(34, 10)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("G", "enter")
        await pilot.pause()
        assert [line.split()[0] for line in text(pane)[-4:]] == ["id", "kind", "from", "source"]


async def test_the_details_can_be_copied() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        app.query_one(ModulesPane).focus()
        await pilot.press("G", "k", "y")
        (message,) = app.posted
        assert isinstance(message, CopyRequested)
        assert "Connect, then /mount tool-web" in message.text


async def test_a_module_that_is_unmounted_takes_its_details_along() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("j", "enter")
        app.feed(make(ModuleUnmounted, module_id="loop-streaming", kind="orchestrator"))
        assert pane._open == frozenset()


async def test_where_a_module_is_taken_out_the_next_key_is_for_the_one_that_followed_it() -> None:
    app = Stage(ModulesPane(), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.focus()
        await pilot.press("j", "enter", "u")
        app.feed(make(ModuleUnmounted, module_id="loop-streaming", kind="orchestrator"))
        assert pane.cursor is not None
        assert pane.cursor.key == "tool-bash"
        await pilot.press("G", "u")
        app.feed(make(ModuleUnmounted, module_id="hooks-late", kind="hook"))
        assert pane.cursor.key == "tool-web"


async def test_the_pane_is_as_high_as_its_list() -> None:
    app = Stage(Vertical(ModulesPane()), events=MODULES)
    async with app.run_test(size=(44, 30)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.update_from(app.state)
        await pilot.pause()
        # The keys have a line of their own while they are heard.
        assert pane.size.height == 8
        pane.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert pane.size.height > 8


async def test_the_pane_has_room_for_details_that_wrap_at_any_width() -> None:
    app = Stage(Vertical(ModulesPane()), events=MODULES)
    async with app.run_test(size=(44, 40)) as pilot:
        pane = app.query_one(ModulesPane)
        pane.update_from(app.state)
        pane.focus()
        await pilot.press("j", "j", "j", "j", "enter")
        for width in range(34, 48):
            await pilot.resize_terminal(width, 40)
            await pilot.pause()
            assert pane.size.height == 1 + len(pane.rows) + 1, width


@pytest.mark.parametrize("width", [1, 3, 8, 20, 29, 30, 34, 71, 72, 73, 120, 200])
async def test_hostile_text_is_harmless_at_any_width(width: int) -> None:
    evil = "\x1b[31m[bold]漢字👍🏽\r\n\u202e\x1b]8;;http://x\x07" * 5
    app = Stage(
        ModulesPane(),
        events=[
            mounted(evil, "tool", provides=(evil,), detail=evil, origin=evil, events=(evil,)),
            failed("x" + evil, evil, remedy=evil),
        ],
    )
    async with app.run_test(size=(width, 24)) as pilot:
        pane = app.widgets[0]
        pane.focus()
        await pilot.press("enter", "j", "enter")
        for y in range(pane.size.height):
            line = pane.render_line(y)
            assert line.cell_length == cell_len(line.text) == pane.size.width
            assert not set(line.text) & {"\x1b", "\n", "\r", "\u202e", "\x07"}


async def test_a_refused_module_says_so_and_t_asks_again() -> None:
    async with running() as drive:
        refused = make(
            ModuleFailed,
            module_id="tool-x",
            kind="tool",
            error="you refused its code, git+https://github.com/acme/x",
            refused=True,
            session_id=SESSION,
        )
        await drive.push(refused)
        assert "you refused it" in drive.text()
        assert "1 refused" in drive.text() and "failed" not in drive.text()
        await drive.press("f2", "enter")
        assert "t asks about it once more" in drive.text()
        await drive.press("t")
        assert drive.client.named("ask_trust_again") == [(True,)], "not what was tried since"


DETAILS = ModuleDetails(
    key="tool-bash",
    settings=(
        ModuleSetting(name="timeout", value="9", owner="project", where="b.md:7", editable=True),
        ModuleSetting(name="shell", value="null", owner="program", given=False, editable=True),
    ),
    tools=(
        ToolCard(
            name="bash",
            description="Runs a command.",
            schema='{"properties": {"command": {"type": "string"}}, "required": ["command"]}',
        ),
    ),
)


def test_a_module_of_which_a_part_has_failed_says_how_many_and_which_until_all_work() -> None:
    degraded = make(
        ModuleDegraded, module_id="tool-mcp", kind="tool", failed=("broken: it ended",), of=2
    )
    calls = mounted("tool-mcp", "tool"), tool("c", "mcp__notes__add", module_id="tool-mcp")
    state = new_state(*calls, degraded)
    (module,) = state.modules.ordered()
    assert module_row(module, 34)[0] == ("● ", "warning")
    assert "".join(piece for piece, _ in module_row(module, 34)).endswith("1 of 2 failed 1×")
    assert "1 of 2 failed" in "".join(piece for piece, _ in module_row(module, 100))
    assert any(
        "broken: it ended" in piece for row in module_details(module, 80) for piece, _ in row
    )
    assert (state.modules.count("ready"), state.modules.count("failed")) == (1, 0)
    state.apply([replace(degraded, failed=("broken: it ended", "other: it ended"))])
    # Mounted it is, but nothing of it works.
    assert (state.modules.count("ready"), state.modules.count("failed")) == (0, 1)
    assert module_row(module, 34)[0] == ("✗ ", "error")
    assert "".join(piece for piece, _ in module_row(module, 34)).endswith("2 of 2 failed 1×")
    state.apply([replace(degraded, failed=())])
    assert (state.modules.count("ready"), state.modules.count("failed")) == (1, 0)
    assert module_row(module, 34)[0] == ("● ", "success")
    assert "".join(piece for piece, _ in module_row(module, 34)).endswith("1×")


def test_details_say_what_a_module_is_made_of_and_whose_each_setting_is() -> None:
    module = ModuleStatus("tool-bash", "tool", state="ready", calls=1, total_ms=1_400.0)
    module.uses, module.details, module.reloads = {"bash": 1}, DETAILS, 2
    rows = ["".join(piece for piece, _ in row).strip() for row in module_details(module, 90, 0.5)]
    assert rows[2].startswith("reloaded  2×, the latest at ")
    assert rows[4:] == [
        "time      1.4 s in all, 50% of what the modules took",
        "tool      bash 1×: Runs a command.",
        "takes     command: string",
        "settings  timeout: 9  · the project's (b.md:7)",
        "shell: null  · default",
    ]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_module_is_changed_from_where_it_is_shown(size: tuple[int, int]) -> None:
    async with running(size=size) as driver:
        driver.client.details["tool-bash"] = DETAILS
        await driver.push(*MODULES)
        await driver.press("f2", "j", "j", "enter")
        await driver.until(lambda: "command: string" in driver.text())
        await driver.press("r", "d", "u")
        assert driver.client.named("reload") == [("tool-bash",)]
        assert driver.client.named("switch_module") == [("tool-bash", False)]
        assert driver.client.named("unmount") == [("tool-bash",)]
        await driver.press("e")
        await driver.dialog(SettingPicker)
        await driver.press("enter")
        line = await driver.dialog(AskLine)
        line.query_one("Input").value = "30"
        await driver.press("enter")
        await driver.closed()
        assert driver.client.named("configure") == [("tool-bash", "timeout", "30")]
        await driver.press("a")
        await driver.dialog(AskLine)
        assert "enter  Mount" in driver.text()
        await driver.write("tool-web")
        await driver.press("enter")
        await driver.closed()
        assert driver.client.named("mount") == [("tool-web",)]
        reload = make(
            ModuleFailed, module_id="tool-bash", kind="tool", error="bad (a.py:3)", kept=True
        )
        off = make(ModuleUnmounted, module_id="tool-filesystem", kind="tool", disabled=True)
        await driver.press("enter")
        await driver.push(reload, off)
        assert "reload failed" in driver.text() and "off here" in driver.text()
        await driver.press("escape")
        await driver.write("/reload tool-web")
        await driver.press("enter")
        await driver.write("/enable")
        await driver.press("enter")
        await driver.dialog(ModulePicker)
        await driver.write("filesys")
        await driver.press("enter")
        await driver.closed()
        assert driver.client.named("reload")[-1] == ("tool-web",)
        assert driver.client.named("switch_module")[-1] == ("tool-filesystem", True)


@pytest.mark.parametrize("size", [(80, 24), (160, 36)])
async def test_a_change_that_waits_for_the_turn_stands_in_the_row_and_the_key_takes_it_back(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as driver:
        await driver.push(*MODULES)
        await driver.press("f2", "j", "j", "d")
        waits = make(
            ModuleChangeWaits,
            module_id="tool-bash",
            kind="tool",
            change="switched off",
            at_rest=True,
        )
        await driver.push(waits)
        assert "switched off" in driver.text()
        await driver.press("enter")
        assert "waits     switched off when" in driver.text()
        await driver.press("d")
        assert driver.client.named("switch_module") == [("tool-bash", False), ("tool-bash", True)]
        await driver.push(make(ModuleChangeWaits, module_id="tool-bash", kind="tool"))
        assert "switched off" not in driver.text()


async def test_a_setting_of_which_a_part_is_not_shown_is_asked_for_anew() -> None:
    hidden = '{"url": "https://a", "token": "[REDACTED]"}'
    setting = ModuleSetting(name="server", value=hidden, editable=True, redacted=True)
    async with running() as driver:
        driver.client.details["tool-bash"] = ModuleDetails(key="tool-bash", settings=(setting,))
        await driver.push(*MODULES)
        await driver.write("/configure tool-bash server")
        await driver.press("enter")
        line = await driver.dialog(AskLine)
        assert line.query_one("Input").value == ""
        assert "replaces all of it" in driver.text()
        await driver.press("enter")
        await driver.closed()
        assert driver.client.named("configure") == []


async def test_a_value_that_makes_no_sense_stays_where_it_is_written_and_why_is_said() -> None:
    setting = ModuleSetting(name="priority", value="10", editable=True)
    async with running() as driver:
        driver.client.details["tool-bash"] = ModuleDetails(key="tool-bash", settings=(setting,))
        driver.client.problems = ["`priority` must be an integer"]
        await driver.push(*MODULES)
        await driver.write("/configure tool-bash priority")
        await driver.press("enter")
        await driver.dialog(AskLine)
        await driver.write("0 soon")
        await driver.press("enter")
        await driver.until(lambda: "must be an integer" in driver.text())
        line = await driver.dialog(AskLine)
        assert line.query_one("Input").value == "100 soon"
        assert driver.client.named("configure") == []
        await driver.press(*["backspace"] * 5, "enter")
        await driver.until(lambda: bool(driver.client.named("configure")))
        assert driver.client.named("configure") == [("tool-bash", "priority", "100")]


def test_a_list_leaves_out_how_long_a_call_took_that_took_less_than_a_millisecond() -> None:
    module = ModuleStatus("hooks-a", "hook", state="ready", calls=5, last_ms=0.04)
    row = "".join(piece for piece, _ in module_row(module, 90))
    assert "5×" in row and " ms" not in row
    module.last_ms = 12.0
    assert "12 ms" in "".join(piece for piece, _ in module_row(module, 90))


def test_a_hook_that_takes_long_says_what_waits_for_it() -> None:
    module = ModuleStatus("hooks-slow", "hook", state="ready", calls=3, holds=("tool:pre",))
    for width, said in ((34, "holds tool:pre"), (20, "busy"), (100, "holds tool:pre")):
        row = module_row(module, width)
        assert row[0] == ("● ", "warning") and said in "".join(piece for piece, _ in row)
