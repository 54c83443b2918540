import gc
import subprocess
import sys
import weakref

import pytest
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from amplifier_tui.ui.terminal.textual_costs import (
    LazyComponents,
    Overlay,
    SettledScreen,
    fill_strips_late,
    lay_out_once,
    let_strips_go,
)
from tests.waiting import within


@pytest.fixture(autouse=True)
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strip, "divide", Strip.divide)
    let_strips_go()
    let_strips_go()
    # What Textual has it set to, so that it is put back.
    monkeypatch.setattr(Widget._size_updated, "__defaults__", (True,))
    lay_out_once()
    lay_out_once()


class Watched(Strip):
    __slots__ = ("__weakref__",)


def test_a_line_that_is_not_cut_is_gone_with_its_last_reference() -> None:
    gc.disable()
    try:
        strip = Watched([Segment("hello")])
        assert strip.divide([5]) == [strip]
        assert strip.divide([5, 9]) == [strip]
        gone = weakref.ref(strip)
        del strip
        assert gone() is None
    finally:
        gc.enable()


def test_a_drawn_line_has_a_cache_when_it_is_used_and_not_before() -> None:
    fill_strips_late()
    fill_strips_late()
    strip = Strip([Segment("hello")], 5)
    kept = vars(Strip)["_crop_cache"]
    with pytest.raises(AttributeError):
        kept.__get__(strip)
    part = strip.crop(1, 3)
    assert part.text == "el"
    assert strip.crop(1, 3) is part
    assert len(kept.__get__(strip)) == 1
    assert (strip.cell_length, strip.link_ids) == (5, set())
    with pytest.raises(AttributeError):
        strip.no_such_thing  # noqa: B018


def test_lines_are_cut_as_ever() -> None:
    strip = Strip([Segment("hello "), Segment("world")])
    parts = strip.divide([3, 8, 11, 40])
    assert [part.text for part in parts] == ["hel", "lo wo", "rld"]
    assert strip.divide([3, 8, 11, 40]) is parts
    assert strip.divide([]) == []


def test_the_text_area_does_without_tree_sitter_and_others_have_it_afterwards() -> None:
    code = """
import sys
from amplifier_tui.ui.prompt.prompt_input import PromptInput
assert not any(name.split(".")[0] == "tree_sitter" for name in sys.modules)
import tree_sitter
assert tree_sitter.Parser
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# --- layout ----------------------------------------------------------------------------------


async def test_a_dialog_that_opens_lays_nothing_out_behind_it_and_a_new_size_everything() -> None:
    main, dialog = SettledScreen[None](), SettledScreen[None]()
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(main)
        await pilot.pause()
        laid_out: list[object] = []
        for screen in (main, dialog):
            reflow = screen._compositor.reflow

            def watched(parent, size, reflow=reflow):
                laid_out.append(parent)
                return reflow(parent, size)

            screen._compositor.reflow = watched
        await app.push_screen(dialog)
        await pilot.pause()
        opening = len(laid_out)
        assert main not in laid_out and opening <= 2
        await pilot.resize_terminal(90, 30)
        async with within(20):
            while {main, dialog} != set(laid_out[opening:]):
                await pilot.pause()
        assert main.size == dialog.size == (90, 30)


async def test_other_words_are_laid_out_once_and_scrollbars_come_and_go_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = Static("one")
    scrolled = VerticalScroll(words)
    app: App[None] = App()
    async with app.run_test(size=(20, 5)) as pilot:
        await app.mount(scrolled)
        await pilot.pause()
        laid_out: list[object] = []
        reflow = app.screen._compositor.reflow

        def watched(parent: Widget, size: Size) -> object:
            laid_out.append(parent)
            return reflow(parent, size)

        monkeypatch.setattr(app.screen._compositor, "reflow", watched)
        words.update("one\ntwo")
        await pilot.pause()
        await pilot.pause()
        assert (words.size.height, len(laid_out)) == (2, 1)
        words.update("\n".join("abcdefgh"))
        await pilot.pause()
        await pilot.pause()
        assert scrolled.show_vertical_scrollbar and scrolled.max_scroll_y == 3
        words.update("one")
        await pilot.pause()
        await pilot.pause()
        assert not scrolled.show_vertical_scrollbar and scrolled.max_scroll_y == 0


class Low(Overlay[None]):
    """Covers its last three rows."""

    DEFAULT_CSS = """
    Low { background: transparent; align: left bottom; }
    Low Static { background: red; }
    """

    def compose(self) -> ComposeResult:
        yield Static(Text.from_markup("[link=https://example.org]over[/link]\n\n"))


class Behind(App[None]):
    def compose(self) -> ComposeResult:
        yield Log()


class Log(Widget):
    words = "zero"

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(f"{self.words} {y}".ljust(self.size.width), Style(link="x"))])


def rows(app: App[None]) -> list[str]:
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


async def test_a_screen_over_another_one_is_not_painted_while_it_is_laid_out_first() -> None:
    painted: list[Region] = []
    when_it_came: list[int] = []

    class Watched(Low):
        def on_screen_resume(self) -> None:
            self.call_later(lambda: when_it_came.append(len(painted)))

        def render_lines(self, crop: Region) -> list[Strip]:
            painted.append(crop)
            return super().render_lines(crop)

    app = Behind()
    async with app.run_test(size=(20, 8)) as pilot:
        await app.push_screen(Watched())
        await pilot.pause()
        assert (when_it_came, bool(painted)) == ([0], True)


async def test_a_screen_over_another_one_shows_its_lines_where_it_covers_nothing() -> None:
    app = Behind()
    async with app.run_test(size=(20, 8)) as pilot:
        log = app.query_one(Log)
        low = Low()
        await app.push_screen(low)
        await pilot.pause()
        assert rows(app) == ["zero 0", "zero 1", "zero 2", "zero 3", "zero 4", "over", "", ""]
        strips = low._compositor.render_strips()
        assert [segment.style and segment.style.link for segment in strips[0]] == [None]
        log.words = "one"
        log.refresh(Region(0, 1, 20, 2))
        await pilot.pause()
        assert rows(app)[:4] == ["zero 0", "one 1", "one 2", "zero 3"]
        await app.push_screen(Low())
        await pilot.pause()
        log.words = "two"
        log.refresh()
        await pilot.pause()
        assert rows(app)[:6] == ["two 0", "two 1", "two 2", "two 3", "two 4", "over"]
        app.pop_screen()
        await pilot.pause()
        assert rows(app)[4] == "two 4"
        await pilot.resize_terminal(20, 10)
        async with within(20):
            while rows(app)[6:8] != ["two 6", "over"]:
                await pilot.pause()


async def test_a_screen_over_another_one_is_drawn_whole_while_both_take_a_new_size() -> None:
    drawn: list[str] = []

    class Drawn(Behind):
        def _display(self, screen, renderable) -> None:
            if renderable is not None:
                drawn.append(renderable.render_segments(self.console))

    app = Drawn()
    async with app.run_test(size=(20, 8)) as pilot:
        await app.push_screen(Low())
        await pilot.pause()
        for size in ((40, 8), (40, 20), (80, 40), (20, 8)):
            drawn.clear()
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert drawn


@pytest.mark.parametrize("later", [(10, 4), (60, 20)])
async def test_a_screen_over_another_one_is_drawn_whole_before_it_takes_a_new_size(later) -> None:
    app = Behind()
    async with app.run_test(size=(20, 8)) as pilot:
        await app.push_screen(Low())
        await pilot.pause()
        app._size = Size(*later)
        app.screen.forget_behind(range(8))
        frame = app.screen._compositor.render_full_update()
        assert [sum(strip.cell_length for strip in line) for line in frame.strips] == [20] * 8


# --- component classes -----------------------------------------------------------------------

NAMES = {"part--head", "part--body"}
RULES = """
    & > .part--head { color: $primary; }
    &:focus > .part--head { color: $error; text-style: bold; }
    & > .part--body { background: $surface; }
"""


class Eager(Widget, can_focus=True):
    COMPONENT_CLASSES = NAMES
    DEFAULT_CSS = f"Eager {{ {RULES} }}"


class Lazy(LazyComponents, can_focus=True):
    COMPONENTS = NAMES
    DEFAULT_CSS = f"Lazy {{ {RULES} }}"
    drawn = 0

    def render(self) -> str:
        self.drawn += 1
        return ""


class Both(App[None]):
    AUTO_FOCUS = None

    def compose(self) -> ComposeResult:
        yield Eager()
        yield Lazy()

    def heads(self) -> list[Style]:
        return [
            self.query_one(kind).get_component_rich_style("part--head") for kind in (Eager, Lazy)
        ]


async def test_components_look_as_ever_and_only_those_drawn_with_are_styled() -> None:
    app = Both()
    async with app.run_test() as pilot:
        eager, lazy = app.heads()
        assert eager == lazy
        assert lazy.color is not None
        assert set(app.query_one(Lazy)._component_styles) == {"part--head"}
        with pytest.raises(KeyError):
            app.query_one(Lazy).get_component_styles("part--other")
        app.theme = "textual-light"
        await pilot.pause()
        changed, lazy = app.heads()
        assert changed == lazy != eager


async def test_a_component_that_was_drawn_with_follows_the_focus_and_is_drawn_again() -> None:
    app = Both()
    async with app.run_test() as pilot:
        app.query_one(Eager).focus()
        await pilot.pause()
        (_, resting), drawn = app.heads(), app.query_one(Lazy).drawn
        app.query_one(Lazy).focus()
        await pilot.pause()
        (_, focused) = app.heads()
        assert (resting.bold, focused.bold) == (None, True)
        assert app.query_one(Lazy).drawn > drawn
