"""What the program needs of Textual beyond its documented interface; a new Textual may break it."""

import ast
import inspect
import pkgutil
import textwrap
from functools import cache
from importlib import import_module

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.dom import DOMNode
from textual.driver import Driver
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import TextArea

from amplifier_tui import ui
from amplifier_tui.ui.terminal import guard
from amplifier_tui.ui.terminal.input import key_name, teach_keys
from amplifier_tui.ui.terminal.leave import end_with_report
from tests.ui.driving import running


@pytest.mark.parametrize(
    ("character", "name"), [("?", "question_mark"), ("/", "slash"), ("a", "a")]
)
def test_characters_have_the_names_that_bindings_use(character: str, name: str) -> None:
    assert key_name(character) == name


@pytest.mark.parametrize("sequence", ["\x1b\r", "\x1b\n"])
def test_alt_enter_without_the_kitty_protocol_is_a_new_line(sequence: str) -> None:
    teach_keys()
    found = list(XTermParser().feed(sequence))
    assert [event.key for event in found if isinstance(event, events.Key)] == ["ctrl+j"]


def test_the_driver_makes_its_parser_from_a_name_in_its_module() -> None:
    driver = import_module("textual.drivers.linux_driver")
    assert "XTermParser" in driver.LinuxDriver.run_input_thread.__code__.co_names


async def test_sequences_of_our_own_go_through_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    app: App[None] = App()
    async with app.run_test():
        assert isinstance(app._driver, Driver)
        written: list[str] = []
        monkeypatch.setattr(app._driver, "write", written.append)
        guard.set_title(app, "x")
        assert written == [], "a test has no terminal"
        monkeypatch.setattr(App, "is_headless", False)
        guard.set_title(app, "x")
        monkeypatch.undo()
        assert written == ["\x1b]2;x\x07"]


async def test_a_fault_in_a_handler_ends_with_a_report_and_no_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Faulty(App[None]):
        _fatal_error = end_with_report

        def on_key(self) -> None:
            secret = "hunter2"
            raise ZeroDivisionError(len(secret))

    app = Faulty()
    with pytest.raises(ZeroDivisionError):
        async with app.run_test() as pilot:
            await pilot.press("x")
    assert app.return_code == 1
    said = capsys.readouterr().err
    assert "fault of its own" in said and "hunter2" not in said


async def test_a_handler_of_a_subclass_comes_before_the_text_area_and_can_keep_a_key_from_it() -> (
    None
):
    class Line(TextArea):
        def on_key(self, event: events.Key) -> None:
            event.prevent_default()

        def on_paste(self, event: events.Paste) -> None:
            event.prevent_default()

    class Page(App[None]):
        def compose(self) -> ComposeResult:
            yield Line()

    app = Page()
    async with app.run_test() as pilot:
        line = app.query_one(Line)
        line.focus()
        await pilot.press("a", "enter")
        line.post_message(events.Paste("b"))
        await pilot.pause()
        assert line.text == ""


async def test_a_prompt_that_hears_no_keys_draws_no_cursor() -> None:
    async with running() as drive:
        prompt = drive.app.main.prompt.input
        shown = list(prompt.render_line(0))
        prompt.show_cursor = False
        await drive.settle()
        assert list(prompt.render_line(0)) != shown


class Plain(Widget):
    """Has what Textual gives every class of its kind."""


@cache
def private_names(cls: type) -> set[str]:
    """Return the private names that a class has, or sets on itself in its methods."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    stored = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if ast.unparse(node.value) == "self"
    }
    names = stored | set(vars(cls))
    return {name for name in names if name.startswith("_") and not name.endswith("_")}


def below(cls: type) -> list[type]:
    return [cls, *(found for each in cls.__subclasses__() for found in below(each))]


def ours(kind: type) -> list[type]:
    for found in pkgutil.walk_packages(ui.__path__, "amplifier_tui.ui."):
        import_module(found.name)
    return [cls for cls in below(kind) if cls.__module__.startswith("amplifier_tui.")]


def test_every_widget_is_styled_as_all_of_what_it_is_made_of() -> None:
    # Textual follows the first base of each class alone: what is styled comes first.
    unstyled = {
        (cls.__name__, base.__name__)
        for cls in ours(DOMNode)
        for base in cls.__mro__
        if base.__module__.startswith("amplifier_tui.") and "DEFAULT_CSS" in vars(base)
        if base not in cls._css_bases(cls)
    }
    assert unstyled == set()


def test_no_widget_of_ours_hides_a_private_part_of_textual() -> None:
    hidden = {
        (cls.__name__, name)
        for cls in ours(MessagePump)
        for base in cls.__mro__
        if base.__module__.startswith("textual.")
        for name in private_names(cls) & private_names(base) - set(vars(Plain))
    }
    # It ends in a report: `end_with_report` has a test above, and so has the cursor. A row with
    # joiners is tested with the fields; the screen's with what Textual costs and with writing.
    assert hidden == {
        ("AmplifierApp", "_fatal_error"),
        ("EditArea", "_render_line"),
        ("PromptInput", "_draw_cursor"),
        ("SettledScreen", "_on_timer_update"),
        ("SettledScreen", "_screen_resized"),
    }
